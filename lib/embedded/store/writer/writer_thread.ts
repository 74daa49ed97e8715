/** The thread in which changes are committed, so that the flush of a disk never delays an answer. */
import { DataFolderError } from "@/lib/embedded/data_folder.ts";
import { bindBodies } from "@/lib/embedded/store/body_mark.ts";
import { openIndexForWriting, Statements } from "@/lib/embedded/store/index.ts";
import type { Change, Outcome } from "@/lib/embedded/store/writer/changes.ts";
import { sweepBodies } from "@/lib/embedded/store/writer/sweep.ts";
import { Writer } from "@/lib/embedded/store/writer/writer.ts";
import { ownPort } from "@/lib/embedded/threads.ts";

/** What the thread is told: a folder to open, a group of changes, or to close. */
export type ToWriter = { open: string } | { commit: Change[] } | { close: true };

/** What the thread answers, in the order it was told. */
export type FromWriter = { opened: true } | { failed: string } | { committed: Outcome[] } | { closed: true };

const port = await ownPort();
let writer: Writer | null = null;
let close = () => {};
let tidying: ReturnType<typeof setTimeout> | undefined;

function answer(told: ToWriter): FromWriter {
  if ("commit" in told) return { committed: writer?.commit(told.commit) ?? [] };
  if ("close" in told) {
    clearTimeout(tidying);
    close();
    return { closed: true };
  }
  try {
    const index = openIndexForWriting(told.open);
    bindBodies(told.open, new Statements(index));
    sweepBodies(told.open, index);
    writer = new Writer(told.open, index);
    close = () => index.close();
    return { opened: true };
  } catch (error) {
    if (error instanceof DataFolderError) return { failed: error.message };
    const reason = error instanceof Error ? error.message : String(error);
    return {
      failed:
        `The index ${told.open}/index.db cannot be opened (${reason}): make it readable and writable, restore it from ` +
        `a copy, or set DATA_DIR to another folder.`,
    };
  }
}

/** How often it is looked whether a copy of the bodies is done, whose end lets deleted ones be removed, in ms. */
const HELD_UP_MS = 1000;

/** Goes on removing files between the groups, so that they do not wait for the next change. */
function tidy(): void {
  clearTimeout(tidying);
  if (!writer?.hasGarbage && !writer?.isHeldUp) return;
  tidying = setTimeout(() => {
    writer?.commit([]);
    tidy();
  }, writer.isHeldUp ? HELD_UP_MS : 0);
}

port.onmessage = ({ data }: MessageEvent<ToWriter>) => {
  port.postMessage(answer(data));
  if ("commit" in data) tidy();
};
