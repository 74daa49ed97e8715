import { Buffer } from "node:buffer";
import { dirname } from "node:path";
import { syncFolderAsync, unlessMissingAsync, writeAll } from "@/lib/std/files.ts";
import { type DurableSink, readAt } from "./audit_trail.ts";

const LINE_FEED = Buffer.from("\n");

/**
 * Appends records to a file, a line each, and flushes it. A file that was moved or removed, as rotation does, is created
 * anew before the next record.
 */
export function fileSink(path: string): DurableSink {
  let current: { readonly file: Deno.FsFile; readonly inode: number | null } | null = null;

  function close(): void {
    current?.file.close();
    current = null;
  }

  async function opened(): Promise<Deno.FsFile> {
    if (current && current.inode === await inodeOf(path)) return current.file;
    close();
    const file = await Deno.open(path, { create: true, append: true, read: true, mode: 0o600 });
    const { ino, size } = await file.stat();
    current = { file, inode: ino };
    // A loss of power may have cut off the last line.
    if (size > 0 && (await readAt(file, size - 1, size))[0] !== LINE_FEED[0]) await file.write(LINE_FEED);
    await syncFolderAsync(dirname(path));
    return file;
  }

  return {
    name: "file",
    async append(records) {
      const file = await opened();
      const { size } = await file.stat();
      const bytes = Buffer.from(records.map(({ line }) => `${line}\n`).join(""));
      try {
        await writeAll(file, bytes);
        await file.syncData();
      } catch (error) {
        // The next record would be appended to half a line.
        await file.truncate(size).catch(() => {});
        close();
        throw error;
      }
    },
    close,
  };
}

/** Writes records to standard output, a line each. */
export const standardOutput: DurableSink = {
  name: "stdout",
  async append(records) {
    for (const { line } of records) await writeAll(Deno.stdout, Buffer.from(`${line}\n`));
  },
};

/** Null where there is no such file. */
async function inodeOf(path: string): Promise<number | null> {
  return await unlessMissingAsync(async () => (await Deno.stat(path)).ino);
}
