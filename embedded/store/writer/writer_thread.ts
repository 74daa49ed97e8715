/** The thread in which changes are committed, so that the flush of a disk never delays a response. */
import type { DatabaseSync } from "node:sqlite";
import { bindBodies, sweepBodies } from "@/embedded/store/body_folder.ts";
import { Reserve } from "@/embedded/store/disk_space.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { isNoSpace } from "@/embedded/store/store_error.ts";
import { callsOver, ownPort } from "@/embedded/threads.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import type { Change, Outcome } from "./reported_changes.ts";
import { Writer } from "./writer.ts";

/** The calls that this thread serves; `open` comes first. */
export type WriterCalls = typeof CALLS;

const CALLS = {
  /** Opens a folder. The first number of the result is 1 while deletions have the reserve. */
  open(folder: string): Int32Array {
    try {
      const reserveReleased = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
      const reserve = new Reserve(folder, reserveReleased);
      index = openWith(reserve, folder);
      const warn = (message: string) => console.error(`embedded store: ${message}`);
      writer = new Writer(folder, index, { reserve, warn });
      return reserveReleased;
    } catch (error) {
      if (error instanceof DataFolderError) throw error;
      const reason = error instanceof Error ? error.message : String(error);
      throw new DataFolderError(
        `The index ${folder}/index.db cannot be opened (${reason}): make it readable and writable, restore it from a ` +
          "copy, or set DATA_DIR to another folder.",
      );
    }
  },
  commit(changes: readonly Change[]): Outcome[] {
    const outcomes = writer.commit(changes);
    tidy();
    return outcomes;
  },
  /** Whether the disk has room for so many bytes. */
  hasRoom: (bytes: number) => writer.hasRoom(bytes),
  close(): void {
    clearTimeout(tidying);
    index.close();
  },
};

let index: DatabaseSync;
let writer: Writer;
let tidying: ReturnType<typeof setTimeout> | undefined;

/** How often the pin of a copy of the bodies is checked, whose end allows removals, in ms. */
const PINNED_RETRY_MS = 1000;

/** How long after a deletion that used the reserve it is created again, in ms: another deletion may follow. */
const REMAKE_RESERVE_MS = 100;

/**
 * Opens the index of a folder and tidies the bodies; where the disk is full, with room of the reserve, which the next
 * probe creates again.
 */
function openWith(reserve: Reserve, folder: string): DatabaseSync {
  for (;;) {
    try {
      return openTidied(folder);
    } catch (error) {
      if (!isNoSpace(error) || !reserve.release()) throw error;
    }
  }
}

function openTidied(folder: string): DatabaseSync {
  const index = openIndexForWriting(folder);
  try {
    bindBodies(folder, new Statements(index));
    sweepBodies(folder, index);
    return index;
  } catch (error) {
    index.close();
    throw error;
  }
}

/**
 * Goes on removing files between the groups, so that they do not wait for the next change, then creates the reserve
 * again.
 */
function tidy(): void {
  clearTimeout(tidying);
  if (writer.hasGarbage || writer.isPinned) {
    tidying = setTimeout(() => {
      writer.commit([]);
      tidy();
    }, writer.isPinned ? PINNED_RETRY_MS : 0);
  } else if (writer.hasReleasedReserve) {
    tidying = setTimeout(() => writer.hasRoom(), REMAKE_RESERVE_MS);
  }
}

callsOver(await ownPort(), CALLS);
