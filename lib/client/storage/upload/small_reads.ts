import { MAX_BATCH_BYTES, MAX_BATCH_FILES } from "@/lib/presentation/storage/file_batch.ts";
import { gather, takeBatch } from "./gather.ts";

interface WaitingRead {
  readonly file: Blob;
  /** Its length, bytes. */
  readonly bytes: number;
  readonly resolve: (body: ArrayBuffer) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Reads small files into memory, those that are wanted at about the same time as one: a browser spends five times as much
 * on reading each by itself.
 */
export class SmallReads {
  #waiting: WaitingRead[] = [];
  readonly #readSoon = gather(() => {
    while (this.#waiting.length > 0) {
      void readTogether(takeBatch(this.#waiting, { files: MAX_BATCH_FILES, bytes: MAX_BATCH_BYTES }));
    }
  });

  /** The bytes of a file. @throws what the browser throws for a file that cannot be read */
  read(file: Blob, bytes: number): Promise<ArrayBuffer> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ file, bytes, resolve, reject });
      this.#readSoon();
    });
  }
}

async function readTogether(reads: readonly WaitingRead[]): Promise<void> {
  const expected = reads.reduce((sum, { bytes }) => sum + bytes, 0);
  const all = reads.length === 1 ? null : await new Blob(reads.map(({ file }) => file)).arrayBuffer().catch(() => null);
  if (all?.byteLength !== expected) {
    // Where one of them has changed, or cannot be read, it says so by itself.
    for (const { file, resolve, reject } of reads) file.arrayBuffer().then(resolve, reject);
    return;
  }
  let at = 0;
  for (const { bytes, resolve } of reads) resolve(all.slice(at, at += bytes));
}
