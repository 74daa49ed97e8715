import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { BodySource } from "@/lib/http/body_source.ts";
import { clientClosedRequest, HttpError, unavailable } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { MIN_PART_BYTES, type OpenUpload, sendPart, type SentPart } from "@/lib/s3/multipart.ts";
import type { UploadBody } from "@/lib/s3/objects.ts";
import { BudgetExhausted, ByteBudget } from "./byte_budget.ts";
import { GatheredPart } from "./gathered_part.ts";
import { Blocks, PartMemory } from "./part_memory.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

/** How a body of unknown length is gathered. */
export interface BufferedSizes {
  /** Memory of a body that may turn out to be small, bytes. */
  readonly firstBytes: number;
  /** Length of the part with this number (from 1), bytes. */
  readonly partBytes: (number: number) => number;
  /** Memory that all uploads of this process share, bytes. */
  readonly budget: ByteBudget;
  /** What that memory is made of. */
  readonly blocks: Blocks;
  /** How long an upload waits for its share, ms. */
  readonly patienceMs: number;
}

/** Parts of 5 MiB, twice as long after every thousand, 128 MiB at most: 10,000 of them hold 776 GiB. */
const SMALLEST_PART_BYTES = MIN_PART_BYTES;
const LARGEST_PART_BYTES = 128 * MIB;
const PARTS_OF_A_SIZE = 1000;

/** What is written at a time, and the memory that is kept between uploads: that of eight short ones. */
const BLOCK_BYTES = 256 * KIB;
const KEPT_BYTES = 8 * SMALLEST_PART_BYTES;

export const BUFFERED_SIZES: BufferedSizes = {
  firstBytes: BLOCK_BYTES,
  partBytes: (number) =>
    Math.min(SMALLEST_PART_BYTES * 2 ** Math.floor((number - 1) / PARTS_OF_A_SIZE), LARGEST_PART_BYTES),
  budget: new ByteBudget(256 * MIB),
  blocks: new Blocks(BLOCK_BYTES, KEPT_BYTES),
  patienceMs: 30_000,
};

/** How a body is written, once it is known whether it fits into one part. */
interface Writers<T> {
  readonly whole: (body: UploadBody) => Promise<T>;
  readonly inParts: (send: (open: OpenUpload) => Promise<SentPart[]>) => Promise<T>;
}

/**
 * Writes a body of unknown length: whole when it ends within the first part, else in parts. An upload holds the memory of
 * one part: the next one is gathered where the one before has been sent. All uploads together hold the budget at most.
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
  const memory = uploadMemory(buffered, caller.signal);
  const first = new GatheredPart(memory);
  try {
    await memory.reserve(buffered.firstBytes);
    let ended = await first.fill(source, buffered.firstBytes);
    if (!ended) {
      await memory.reserve(buffered.partBytes(1));
      ended = await first.fill(source, buffered.partBytes(1));
    }
    if (ended) return await writers.whole(first.body());
    return await writers.inParts((open) => sendAll({ s3, caller, source, sizes, memory, open, first }));
  } finally {
    first.drop();
    first.over();
    memory.release();
  }
}

/** Memory of one upload. Reserving some throws HttpError 503 when none becomes free, 499 when the client goes first. */
export function uploadMemory(buffered: BufferedSizes, signal?: AbortSignal): PartMemory {
  return new PartMemory(buffered.blocks, (bytes) => share(buffered, bytes, signal));
}

interface Sending {
  readonly s3: S3;
  readonly caller: Caller;
  readonly source: BodySource;
  readonly sizes: { readonly maxParts: number; readonly buffered: BufferedSizes };
  readonly memory: PartMemory;
  readonly open: OpenUpload;
  /** The first part, full. */
  readonly first: GatheredPart;
}

async function sendAll({ s3, caller, source, sizes, memory, open, first }: Sending): Promise<SentPart[]> {
  const parts: SentPart[] = [];
  const stop = new AbortController();
  const signal = caller.signal ? AbortSignal.any([caller.signal, stop.signal]) : stop.signal;
  let refused: unknown;
  const send = async (number: number, part: GatheredPart) => {
    try {
      parts.push(await sendPart(s3, { ...caller, signal }, open, number, part.body()));
    } catch (error) {
      refused = error;
      // Whoever waits for the client's next bytes, or for memory, learns of it at once.
      source.stop();
      memory.fail(error);
      throw error;
    } finally {
      part.over();
    }
  };
  let sending = send(1, first);
  sending.catch(() => {});
  try {
    for (let number = 2, ended = false; !ended; number++) {
      const part = new GatheredPart(memory);
      const size = number > sizes.maxParts ? 1 : sizes.buffered.partBytes(number);
      try {
        await memory.reserve(size);
        ended = await part.fill(source, size);
        await sending;
        if (part.lengthBytes === 0) break;
        if (number > sizes.maxParts) throw tooLong(sizes);
      } catch (error) {
        part.drop();
        throw error;
      }
      sending = send(number, part);
      sending.catch(() => {});
    }
    await sending;
    return parts;
  } catch (error) {
    const cause = refused ?? error;
    stop.abort();
    // A part that is still on its way would outlive the abort of the upload.
    await sending.catch(() => {});
    throw cause;
  }
}

function tooLong({ maxParts, buffered }: Sending["sizes"]): HttpError {
  let total = 0;
  for (let number = 1; number <= maxParts; number++) total += buffered.partBytes(number);
  return new HttpError(413, `A body without a Content-Length may have at most ${total} bytes`);
}

async function share({ budget, patienceMs }: BufferedSizes, bytes: number, signal?: AbortSignal) {
  try {
    return await budget.take(bytes, patienceMs, signal);
  } catch (error) {
    if (error instanceof BudgetExhausted) throw unavailable("Too many uploads without a Content-Length", 1);
    throw clientClosedRequest(error);
  }
}
