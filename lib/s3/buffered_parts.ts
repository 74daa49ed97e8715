import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { BodySource } from "@/lib/http/body_source.ts";
import { clientClosedRequest, HttpError, unavailable } from "@/lib/http/errors.ts";
import { BudgetExhausted, ByteBudget } from "./byte_budget.ts";
import type { S3 } from "./client.ts";
import { type OpenUpload, sendPart, type SentPart } from "./multipart.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** What of a part is handed on at a time, bytes. */
const PIECE_BYTES = 256 * KIB;

/** How a body of unknown length is gathered. */
export interface BufferedSizes {
  /** Memory of a body that may turn out to be small, bytes. */
  readonly firstBytes: number;
  /** Length of the part with this number (from 1), bytes. */
  readonly partBytes: (number: number) => number;
  /** Memory that all uploads of this process share, bytes. */
  readonly budget: ByteBudget;
  /** How long an upload waits for its share, ms. */
  readonly patienceMs: number;
}

/** Parts of 8 MiB, twice as long after every thousand, 64 MiB at most: 10,000 of them hold 492 GiB. */
const SMALLEST_PART_BYTES = 8 * MIB;
const LARGEST_PART_BYTES = 64 * MIB;
const PARTS_OF_A_SIZE = 1000;

export const BUFFERED_SIZES: BufferedSizes = {
  firstBytes: 256 * KIB,
  partBytes: (number) =>
    Math.min(SMALLEST_PART_BYTES * 2 ** Math.floor((number - 1) / PARTS_OF_A_SIZE), LARGEST_PART_BYTES),
  budget: new ByteBudget(256 * MIB),
  patienceMs: 30_000,
};

/** How a body is written, once it is known whether it fits into one part. */
export interface Writers<T> {
  readonly whole: (bytes: Uint8Array<ArrayBuffer>) => Promise<T>;
  readonly inParts: (send: (open: OpenUpload) => Promise<SentPart[]>) => Promise<T>;
}

/**
 * Writes a body of unknown length: whole when it ends within the first part, else in parts, of which one is sent while
 * the next one is gathered. An upload holds two parts at most, all uploads together no more than the budget.
 *
 * @throws HttpError 413 for a body that does not fit into all parts, 503 when no memory becomes free
 */
export async function bufferedParts<T>(
  s3: S3,
  caller: Caller,
  source: BodySource,
  sizes: { readonly maxParts: number; readonly buffered: BufferedSizes },
  writers: Writers<T>,
): Promise<T> {
  const { buffered } = sizes;
  const take = (bytes: number) => share(buffered, bytes, caller.signal);
  const begun = await PartBuffer.of(buffered.firstBytes, take);
  let first = begun;
  try {
    if (await begun.fill(source)) return await writers.whole(begun.bytes);
    first = await begun.grownTo(buffered.partBytes(1), take);
    if (await first.fill(source)) return await writers.whole(first.bytes);
    return await writers.inParts((open) => sendAll({ s3, caller, source, sizes, take, open, first }));
  } finally {
    begun.free();
    first.free();
  }
}

interface Sending {
  readonly s3: S3;
  readonly caller: Caller;
  readonly source: BodySource;
  readonly sizes: { readonly maxParts: number; readonly buffered: BufferedSizes };
  readonly take: Take;
  readonly open: OpenUpload;
  /** The first part, full. */
  readonly first: PartBuffer;
}

async function sendAll({ s3, caller, source, sizes, take, open, first }: Sending): Promise<SentPart[]> {
  const parts: SentPart[] = [];
  const stop = new AbortController();
  const signal = caller.signal ? AbortSignal.any([caller.signal, stop.signal]) : stop.signal;
  let refused: unknown;
  /** The memory of the part before, used again: what is dropped is collected late. */
  let spare: PartBuffer | null = null;
  const send = async (number: number, part: PartBuffer) => {
    try {
      const body = { body: part.stream(), madeHere: true, lengthBytes: part.bytes.length };
      parts.push(await sendPart(s3, { ...caller, signal }, open, number, body));
    } catch (error) {
      refused = error;
      // Whoever waits for the client's next bytes learns of it at once.
      source.stop();
      throw error;
    } finally {
      spare?.free();
      spare = part;
    }
  };
  const next = async (number: number) => {
    const size = number > sizes.maxParts ? 1 : sizes.buffered.partBytes(number);
    const kept = spare;
    spare = null;
    if (kept?.size === size) return kept.emptied();
    kept?.free();
    return await PartBuffer.of(size, take);
  };
  let sending = send(1, first);
  sending.catch(() => {});
  let part: PartBuffer | null = null;
  try {
    for (let number = 2, ended = false; !ended; number++) {
      part = await next(number);
      ended = await part.fill(source);
      await sending;
      if (part.bytes.length === 0) break;
      if (number > sizes.maxParts) throw tooLong(sizes);
      sending = send(number, part);
      sending.catch(() => {});
      part = null;
    }
    await sending;
    return parts;
  } catch (error) {
    const cause = refused ?? error;
    stop.abort();
    // A part that is still on its way would outlive the abort of the upload.
    await sending.catch(() => {});
    throw cause;
  } finally {
    part?.free();
    release(spare);
  }
}

/** Apart, since the compiler does not see that a closure has assigned it. */
function release(buffer: PartBuffer | null): void {
  buffer?.free();
}

function tooLong({ maxParts, buffered }: Sending["sizes"]): HttpError {
  let total = 0;
  for (let number = 1; number <= maxParts; number++) total += buffered.partBytes(number);
  return new HttpError(413, `A body without a Content-Length may have at most ${total} bytes`);
}

type Take = (bytes: number) => Promise<() => void>;

async function share({ budget, patienceMs }: BufferedSizes, bytes: number, signal?: AbortSignal) {
  try {
    return await budget.take(bytes, patienceMs, signal);
  } catch (error) {
    if (error instanceof BudgetExhausted) throw unavailable("Too many uploads without a Content-Length", 1);
    throw clientClosedRequest(error);
  }
}

/** Memory for one part. */
class PartBuffer {
  readonly #memory: Uint8Array<ArrayBuffer>;
  readonly #giveBack: () => void;
  #length = 0;

  private constructor(memory: Uint8Array<ArrayBuffer>, giveBack: () => void) {
    this.#memory = memory;
    this.#giveBack = giveBack;
  }

  static async of(size: number, take: Take): Promise<PartBuffer> {
    const giveBack = await take(size);
    return new PartBuffer(new Uint8Array(size), giveBack);
  }

  get bytes(): Uint8Array<ArrayBuffer> {
    return this.#memory.subarray(0, this.#length);
  }

  get size(): number {
    return this.#memory.length;
  }

  /** What it holds, piece by piece: handed over whole, a copy of it would be made. */
  stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { bytes } = this;
    let at = 0;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull(controller) {
        controller.enqueue(bytes.subarray(at, at += PIECE_BYTES));
        if (at >= bytes.length) controller.close();
      },
    }, { highWaterMark: 0 });
  }

  emptied(): this {
    this.#length = 0;
    return this;
  }

  /** Reads until it is full (false) or the source has ended (true). */
  async fill(source: BodySource): Promise<boolean> {
    while (this.#length < this.#memory.length) {
      const bytes = await source.read(this.#memory.length - this.#length);
      if (bytes === null) return true;
      this.#memory.set(bytes, this.#length);
      this.#length += bytes.length;
    }
    return false;
  }

  /** A longer one that begins with what this one holds, which is free then. */
  async grownTo(size: number, take: Take): Promise<PartBuffer> {
    const longer = await PartBuffer.of(size, take);
    longer.#memory.set(this.bytes);
    longer.#length = this.#length;
    this.free();
    return longer;
  }

  free(): void {
    this.#giveBack();
  }
}
