import { Buffer } from "node:buffer";
import { dirname } from "node:path";
import { exists, syncFolderAsync, unlessMissingAsync, writeAll } from "@/lib/std/files.ts";
import type { DurableSink, SealedRecord } from "./audit_trail.ts";
import { readAt } from "./chain.ts";

const LINE_FEED = Buffer.from("\n");

/**
 * Appends records to a file, a line each, and flushes it. A file that was moved or removed, as rotation does, is created
 * anew before the next record.
 */
export class FileSink implements DurableSink {
  readonly name = "file";
  #file: Deno.FsFile | null = null;
  #inode: number | null = null;

  constructor(private readonly path: string) {}

  /**
   * A sink for a file, which is created where it is missing.
   *
   * @throws what keeps records from being appended to it: a device or a pipe has no end to append to
   */
  static open(path: string): FileSink {
    if (exists(path) && !Deno.statSync(path).isFile) throw new Error("it is no regular file");
    Deno.openSync(path, { create: true, append: true, mode: 0o600 }).close();
    return new FileSink(path);
  }

  async append(records: readonly SealedRecord[]): Promise<void> {
    const file = await this.#opened();
    const { size } = await file.stat();
    const bytes = Buffer.from(records.map(({ line }) => `${line}\n`).join(""));
    try {
      await writeAll(file, bytes);
      await file.syncData();
    } catch (error) {
      // Half a line would be taken for the beginning of the next one.
      await file.truncate(size).catch(() => {});
      this.#close();
      throw error;
    }
  }

  close(): Promise<void> {
    this.#close();
    return Promise.resolve();
  }

  #close(): void {
    this.#file?.close();
    this.#file = null;
  }

  async #opened(): Promise<Deno.FsFile> {
    if (this.#file && this.#inode === await inodeOf(this.path)) return this.#file;
    this.#close();
    const file = await Deno.open(this.path, { create: true, append: true, read: true, mode: 0o600 });
    const { ino, size } = await file.stat();
    this.#inode = ino;
    this.#file = file;
    // A loss of power may have cut the last line off.
    if (size > 0 && (await readAt(file, size - 1, size))[0] !== LINE_FEED[0]) await file.write(LINE_FEED);
    await syncFolderAsync(dirname(this.path));
    return file;
  }
}

/** Writes records to standard output, a line each. */
export const standardOutput: DurableSink = {
  name: "stdout",
  async append(records) {
    for (const { line } of records) await writeAll(Deno.stdout, Buffer.from(`${line}\n`));
  },
  close: () => Promise.resolve(),
};

/** Null where there is no such file. */
async function inodeOf(path: string): Promise<number | null> {
  return await unlessMissingAsync(async () => (await Deno.stat(path)).ino);
}
