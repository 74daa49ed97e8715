/** The thread in which changes are committed, so that the flush of a disk never delays a response. */
import type { DatabaseSync } from "node:sqlite";
import { bindBodies } from "@/embedded/store/body_mark.ts";
import type { Change, Outcome } from "@/embedded/store/changes.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { isNoSpace } from "@/embedded/store/store_error.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { ownPort } from "@/embedded/threads.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { Reserve } from "./reserve.ts";
import { sweepBodies } from "./sweep.ts";
import { Writer } from "./writer.ts";

/**
 * Messages to the thread: open a folder, commit a group of changes, check that the disk has room for so many bytes, or
 * close.
 */
export type WriterRequest = { open: string } | { commit: Change[] } | { room: number } | { close: true };

/** Messages from the thread, in the order of the requests. */
export type WriterResponse =
  /** The first number is 1 while deletions have the reserve. */
  | { opened: Int32Array }
  | { failed: string }
  | { committed: Outcome[] }
  | { hasRoom: boolean }
  | { closed: true };

const port = await ownPort();
let writer: Writer | null = null;
let close = () => {};
let tidying: ReturnType<typeof setTimeout> | undefined;

function handle(request: WriterRequest): WriterResponse {
  if ("commit" in request) return { committed: writer?.commit(request.commit) ?? [] };
  if ("room" in request) return { hasRoom: writer?.hasRoom(request.room) ?? false };
  if ("close" in request) {
    clearTimeout(tidying);
    close();
    return { closed: true };
  }
  try {
    const reserveReleased = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
    const reserve = new Reserve(request.open, reserveReleased);
    const index = openWith(reserve, request.open);
    writer = new Writer(request.open, index, reserve, (message) => console.error(`embedded store: ${message}`));
    close = () => index.close();
    return { opened: reserveReleased };
  } catch (error) {
    if (error instanceof DataFolderError) return { failed: error.message };
    const reason = error instanceof Error ? error.message : String(error);
    return {
      failed:
        `The index ${request.open}/index.db cannot be opened (${reason}): make it readable and writable, restore it from ` +
        `a copy, or set DATA_DIR to another folder.`,
    };
  }
}

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
  if (writer?.hasGarbage || writer?.isPinned) {
    tidying = setTimeout(() => {
      writer?.commit([]);
      tidy();
    }, writer.isPinned ? PINNED_RETRY_MS : 0);
  } else if (writer?.hasReleasedReserve) {
    tidying = setTimeout(() => writer?.hasRoom(), REMAKE_RESERVE_MS);
  }
}

port.onmessage = ({ data }: MessageEvent<WriterRequest>) => {
  port.postMessage(handle(data));
  if ("commit" in data) tidy();
};
