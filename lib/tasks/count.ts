import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway, HttpError, listingStuck } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { type CountPage, readCountPage } from "@/lib/s3/listing.ts";
import { compareText } from "@/lib/std/text.ts";
import type { TaskHandler, TaskType } from "./task_keys.ts";

/** Ranges of keys that are read concurrently. */
const MAX_READERS = 4;
/** A range is not split before so many of its pages were read. */
const MIN_PAGES = 3;
/**
 * Response time of a page, ms, above which concurrent readers shorten a count. A faster store is on the same machine,
 * where readers only compete for processor time.
 */
const SLOW_PAGE_MS = 15;
/** Levels of folders that are looked into for a place where a range can be split. */
const MAX_LEVELS = 8;
const DELIMITER = "/";

const position = z.string().nullable();

/** State of a count, from which any process can continue. */
export const keyCountState = z.object({
  files: z.int(),
  folders: z.int(),
  /** Sum of the sizes; beyond 2^53 it is not exact. */
  bytes: z.number(),
  /** The ranges that are left: the keys behind `after`, up to `end` and with it. A token is tried first. */
  ranges: z.array(z.object({ after: position, end: position, token: position })).max(2 * MAX_READERS),
  /** The store does not list keys in the order of their bytes, or not from any key on: one range, by tokens alone. */
  isSequential: z.boolean(),
});
export type KeyCountState = z.output<typeof keyCountState>;

/** State before the first page. */
export const NOTHING_COUNTED: KeyCountState = {
  files: 0,
  folders: 0,
  bytes: 0,
  ranges: [{ after: null, end: null, token: null }],
  isSequential: false,
};

interface KeyCountOptions {
  readonly s3: S3;
  readonly caller: Caller;
  readonly bucket: string;
  readonly prefix: string;
  /** Keys that have it behind the prefix count as folders; "" for none. */
  readonly delimiter: string;
  /** Response time above which ranges are split, ms; {@link SLOW_PAGE_MS} when absent. */
  readonly slowPageMs?: number;
  /** Reads each page, see `Job.read`. */
  readonly read: <T>(work: () => Promise<T>) => Promise<T>;
  /** Called after each page, and waited for. */
  readonly onPage: (state: KeyCountState) => Promise<void>;
}

/**
 * Counts the keys under a prefix. Without a delimiter, ranges of them are read concurrently: when a reader is free, what
 * is left of a range is split at a folder, found by one listing with a delimiter.
 *
 * @throws HttpError as {@link readCountPage}; what `onPage` throws
 */
export async function countKeys(from: KeyCountState, options: KeyCountOptions): Promise<KeyCountState> {
  try {
    return await new KeyCount(from, options).run();
  } catch (error) {
    if (!(error instanceof UnorderedListing)) throw error;
    return await new KeyCount({ ...NOTHING_COUNTED, isSequential: true }, options).run();
  }
}

/** The store does not list keys in byte order, or ignores `start-after`. */
class UnorderedListing extends Error {
  override readonly name = "UnorderedListing";
}

/**
 * A range of which nothing was read: the pages, how long the store took for them, ms, and after how many pages it is
 * looked at again whether the range can be split.
 */
const UNREAD = { pages: 0, tookMs: 0, splitAt: MIN_PAGES };
type Range = KeyCountState["ranges"][number] & typeof UNREAD;

class KeyCount {
  readonly #abort = new AbortController();
  readonly #caller: Caller;
  readonly #isSequential: boolean;
  readonly #ranges: Set<Range>;
  readonly #done = Promise.withResolvers<void>();
  readonly #sums: Pick<KeyCountState, "files" | "folders" | "bytes">;
  #working = 0;
  #isSplitting = false;
  #error: unknown;

  constructor(from: KeyCountState, private readonly options: KeyCountOptions) {
    this.#sums = { files: from.files, folders: from.folders, bytes: from.bytes };
    this.#isSequential = from.isSequential;
    this.#ranges = new Set(from.ranges.map((range) => ({ ...range, ...UNREAD })));
    const { signal } = options.caller;
    this.#caller = {
      ...options.caller,
      signal: signal ? AbortSignal.any([signal, this.#abort.signal]) : this.#abort.signal,
    };
  }

  /** Resolves when nothing is under way, however it ended. */
  async run(): Promise<KeyCountState> {
    if (this.#ranges.size === 0) return this.#state();
    for (const range of this.#ranges) this.#begin(this.#read(range));
    await this.#done.promise;
    if (this.#error !== undefined) throw this.#error;
    return this.#state();
  }

  #begin(work: Promise<void>): void {
    this.#working++;
    work.catch((error) => {
      this.#error ??= error;
      this.#abort.abort(error);
    }).finally(() => {
      if (--this.#working === 0) this.#done.resolve();
    });
  }

  #state(): KeyCountState {
    return {
      ...this.#sums,
      ranges: [...this.#ranges].map(({ after, end, token }) => ({ after, end, token })),
      isSequential: this.#isSequential,
    };
  }

  async #read(range: Range): Promise<void> {
    while (this.#ranges.has(range)) {
      const from = range.after;
      const page = await this.options.read(() => this.#page(range));
      this.#check(range, page, from);
      this.#add(range, page);
      await this.options.onPage(this.#state());
      if (this.#ranges.has(range)) this.#maySplit(range);
    }
  }

  async #page(range: Range): Promise<CountPage> {
    const { s3, bucket, prefix, delimiter } = this.options;
    const { after: startAfter, token } = range;
    const begun = performance.now();
    try {
      return await readCountPage(s3, this.#caller, bucket, { prefix, delimiter, continuationToken: token, startAfter });
    } catch (error) {
      // Tokens of some stores are not valid for long.
      const isRefused = token !== null && error instanceof HttpError && error.status === 400;
      if (!isRefused) throw error;
      if (this.#isSequential) throw badGateway(`bucket '${bucket}': the store's listing cannot be resumed`, error);
      range.token = null;
      return await readCountPage(s3, this.#caller, bucket, { prefix, delimiter, startAfter });
    } finally {
      range.tookMs += performance.now() - begun;
    }
  }

  /** @throws {UnorderedListing} where a page cannot be the next one of its range */
  #check(range: Range, page: CountPage, from: string | null): void {
    const { bucket, delimiter } = this.options;
    const repeats = page.token === null ? page.last === null || page.last === from : page.token === range.token;
    const isStuck = page.isTruncated && repeats;
    if (isStuck) throw listingStuck(bucket);
    if (this.#isSequential || page.first === null || from === null) return;
    // With a delimiter, the page after a folder may repeat that folder.
    const isBehind = compareText(page.first, from) > 0 || (delimiter !== "" && page.first === from);
    if (!isBehind) throw new UnorderedListing();
  }

  /** Counts a page and moves its range, in one go: the two must always be of the same moment. */
  #add(range: Range, page: CountPage): void {
    const { after, end } = range;
    const isBeyond = !this.#isSequential && page.last !== null && end !== null && compareText(page.last, end) > 0;
    const repeats = this.options.delimiter !== "" && after !== null && page.first === after;
    const counted = isBeyond || repeats ? page.within(after, end) : page;
    this.#sums.files += counted.keys;
    this.#sums.folders += counted.prefixes.length;
    this.#sums.bytes += counted.bytes;
    range.pages++;
    range.token = page.token;
    range.after = page.last ?? after;
    if (!page.isTruncated || isBeyond) this.#ranges.delete(range);
  }

  #maySplit(range: Range): void {
    const isFull = this.#ranges.size >= MAX_READERS || this.#isSplitting;
    if (isFull || this.#isSequential || this.options.delimiter !== "" || range.pages < range.splitAt) return;
    if (range.tookMs / range.pages < (this.options.slowPageMs ?? SLOW_PAGE_MS)) return;
    this.#isSplitting = true;
    this.#begin(this.#split(range).finally(() => this.#isSplitting = false));
  }

  /** Gives the end of a range to a further reader. */
  async #split(range: Range): Promise<void> {
    const at = await this.#splitPoint(range).catch(() => null);
    // The range was read on meanwhile.
    const isInside = at !== null && this.#ranges.has(range) && !this.#abort.signal.aborted &&
      (range.after === null || compareText(at, range.after) > 0);
    if (!isInside) {
      range.splitAt = 2 * range.pages;
      return;
    }
    const rest: Range = { after: at, end: range.end, token: null, ...UNREAD };
    range.end = at;
    this.#ranges.add(rest);
    this.#begin(this.#read(rest));
  }

  /** A folder in the middle of what is left of a range; null where there is none. */
  async #splitPoint({ after, end }: Range): Promise<string | null> {
    const { s3, bucket, read } = this.options;
    let { prefix } = this.options;
    for (let level = 0; level < MAX_LEVELS; level++) {
      const options = { prefix, delimiter: DELIMITER, startAfter: after };
      const page = await read(() => readCountPage(s3, this.#caller, bucket, options));
      const inside = page.prefixes.filter((folder) =>
        (after === null || compareText(folder, after) > 0) && (end === null || compareText(folder, end) < 0)
      );
      // There may be far more keys after this page than on it.
      const isOpen = page.isTruncated && (end === null || page.last === null || compareText(page.last, end) < 0);
      if (inside.length > 0) return isOpen ? inside[inside.length - 1] : inside[inside.length >> 1];
      const enclosing = page.prefixes.find((folder) => after?.startsWith(folder));
      if (enclosing === undefined) return null;
      prefix = enclosing;
    }
    return null;
  }
}

/** The delimiter is "" for none. */
const countProgress = z.object({ prefix: z.string(), delimiter: z.string(), count: keyCountState });
type CountProgress = z.output<typeof countProgress>;

export const COUNT: TaskType<CountProgress> = { kind: "count", progress: countProgress };

/** Initial progress of a count. */
export function newCount(prefix: string, delimiter: string): CountProgress {
  return { prefix, delimiter, count: NOTHING_COUNTED };
}

/** Counts the keys under a prefix. */
export function countHandler(s3: S3): TaskHandler<CountProgress> {
  return {
    ...COUNT,
    async run({ caller, bucket, progress, read, checkpoint }) {
      const { count, ...scope } = progress;
      const onPage = (count: KeyCountState) => checkpoint({ ...scope, count });
      return { ...scope, count: await countKeys(count, { s3, caller, bucket, ...scope, read, onPage }) };
    },
  };
}
