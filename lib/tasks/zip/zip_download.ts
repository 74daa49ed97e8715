import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { clientClosedRequest, notFound, unavailable } from "@/lib/http/errors.ts";
import { contentDisposition } from "@/lib/http/header_values.ts";
import { type RequestContext, SANDBOX_POLICY, Slots } from "@/lib/http/request_context.ts";
import { freesWrittenChunks, guardedStream } from "@/lib/http/upstream.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import type { BodyReader } from "@/lib/std/body_reader.ts";
import type { FairSlots } from "@/lib/std/concurrency.ts";
import type { TaskStore } from "@/lib/tasks/task.ts";
import type { TaskKeys } from "@/lib/tasks/task_keys.ts";
import type { FoundTask } from "@/lib/tasks/task_runner.ts";
import { openEntry, RETRY_MS, SHORT_BYTES } from "./entry_read.ts";
import {
  archiveBytes,
  bytesOf,
  centralRecord,
  chunkName,
  DamagedPlan,
  dataDescriptor,
  endRecords,
  errorLine,
  type LeftOut,
  localHeader,
  plannedEntries,
  type PlannedEntry,
} from "./zip_format.ts";
import { ERRORS_NAME } from "./zip_names.ts";
import type { ZipProgress } from "./zip_task.ts";

/** Downloads of archives at a time: of one owner, and of all in this process. */
const MAX_DOWNLOADS_PER_OWNER = 4;
const MAX_DOWNLOADS = 16;
const RETRY_AFTER_SECONDS = 10;
/** How often an archive that is being sent is prolonged, so that one whose download breaks off late is still there, ms. */
const PROLONG_MS = 60_000;
/** Longest list of keys in a header, bytes: servers and clients accept about 8 KiB of headers. */
const MAX_KEYS_BYTES = 4096;

/** A task that is ready, and with whose keys its objects are read. */
type Download = FoundTask<ZipProgress> & { readonly caller: Caller };

type Body = ReadableStream<Uint8Array<ArrayBuffer>>;

/** Sends archives of this process's tasks. */
export class ZipDownloads {
  readonly #slots = new Slots(MAX_DOWNLOADS, MAX_DOWNLOADS_PER_OWNER);

  /** @param reads of the store at a time, by task */
  constructor(
    private readonly s3: S3,
    private readonly store: Pick<TaskStore, "readBlobs" | "prolong">,
    private readonly reads: FairSlots,
  ) {}

  /**
   * The archive as a response to GET or HEAD.
   *
   * @throws HttpError 503 when too many are sent, 404 when its plan is gone; as the store where its first object cannot
   *   be read
   */
  async respond(download: Download, context: RequestContext): Promise<Response> {
    const headers = headersOf(download);
    if (context.method === "HEAD") return new Response(null, { headers });
    return new Response(await this.#begin(download, context), { headers });
  }

  async #begin(download: Download, context: RequestContext): Promise<Body> {
    const { id, owner } = download.task;
    const leave = this.#slots.enter(owner);
    if (typeof leave !== "function") {
      const detail = leave === "all"
        ? "Too many downloads of archives at a time"
        : `You download ${MAX_DOWNLOADS_PER_OWNER} archives at a time, which is the limit: wait until one is there`;
      throw unavailable(detail, RETRY_AFTER_SECONDS, "archives_full");
    }
    const over = new AbortController();
    const client = context.request.signal;
    const end = () => {
      over.abort();
      leave();
    };
    const chunks = this.#chunks(download, AbortSignal.any([client, over.signal]));
    const freesChunks = freesWrittenChunks(context.info);
    let last: Uint8Array<ArrayBuffer> | null = null;
    let prolongedAt = -Infinity;
    const next = async () => {
      if (freesChunks) last?.buffer.transfer(0);
      if (performance.now() - prolongedAt >= PROLONG_MS) {
        prolongedAt = performance.now();
        // Where it fails, a later chunk prolongs the task.
        this.store.prolong(id).catch(() => {});
      }
      const { value, done } = await chunks.next();
      if (!done) return last = value;
      end();
      return null;
    };
    let first: Uint8Array<ArrayBuffer> | null;
    try {
      // Waited for, so that what prevents the first bytes can still be the response.
      first = await next();
    } catch (error) {
      end();
      if (client.aborted) throw clientClosedRequest(client.reason);
      throw error instanceof DamagedPlan ? notFound("Task") : error;
    }
    const read = () => {
      if (!first) return next();
      const chunk = first;
      first = null;
      return Promise.resolve(chunk);
    };
    return guardedStream({ read, cancel: end }, {
      what: "the download of an archive",
      bounds: this.s3.bounds,
      unread: () => context.info?.breakOff?.(),
    });
  }

  async *#chunks({ task, progress, caller }: Download, signal: AbortSignal) {
    const { id, bucket, createdAt } = task;
    const names = Array.from({ length: progress.chunks }, (_, number) => chunkName(number));
    const blobs = await this.store.readBlobs(id, names);
    const plan = blobs.filter((blob) => blob !== null);
    if (plan.length < blobs.length) throw notFound("Task");
    const enter = () => this.reads.enter(id, signal);
    const source = { s3: this.s3, caller, bucket, retryMs: RETRY_MS, enter, signal };
    const entries = () => plannedEntries(plan);
    yield* joined(archiveChunks({ entries, open: (entry) => openEntry(source, entry), createdAt }));
  }
}

function headersOf({ task: { bucket }, progress: { plan, failedKeys } }: Download): Headers {
  const headers = new Headers({
    "content-type": "application/zip",
    "content-disposition": contentDisposition("attachment", `${bucket}-objects.zip`),
    "x-zip-size": String(archiveBytes(plan)),
    "x-zip-failed": String(plan.missing),
    "cache-control": "private, no-cache",
    "content-security-policy": SANDBOX_POLICY,
    "x-content-type-options": "nosniff",
  });
  const keys = keysHeader(failedKeys);
  if (keys !== "") headers.set("x-zip-failed-keys", keys);
  return headers;
}

/** The keys that fit into a header, percent-encoded where they would be ambiguous. */
function keysHeader(keys: readonly string[]): string {
  let text = "";
  for (const key of keys) {
    const encoded = key.toWellFormed().replace(/[^\x21-\x7e]+|[%,]/gu, encodeURIComponent);
    if (text.length + encoded.length + 1 > MAX_KEYS_BYTES) break;
    text += (text === "" ? "" : ",") + encoded;
  }
  return text;
}

/**
 * A ticket for the download of one archive without other credentials: when it expires, and an HMAC over that and the id
 * of the task.
 *
 * @param expiresAt ms since 1970
 */
export function issueTicket(task: string, expiresAt: number, keys: TaskKeys): string {
  const expires = Math.floor(expiresAt).toString(36);
  return `${expires}.${signature(task, expires, keys)}`;
}

/** Whether a ticket is for a task, and still valid. */
export function checkTicket(ticket: string, task: string, now: number, keys: TaskKeys): "valid" | "expired" | "wrong" {
  const [expires, given, ...rest] = ticket.split(".");
  if (given === undefined || rest.length > 0) return "wrong";
  const expected = Buffer.from(signature(task, expires, keys));
  const bytes = Buffer.from(given);
  if (bytes.length !== expected.length || !timingSafeEqual(bytes, expected)) return "wrong";
  return parseInt(expires, 36) > now ? "valid" : "expired";
}

function signature(task: string, expires: string, { ticket }: TaskKeys): string {
  return createHmac("sha256", ticket).update(`${task} ${expires}`).digest("base64url");
}

/** Shorter chunks are joined, bytes. */
const JOINED_BYTES = 64 * 1024;
/** Short objects are read ahead: so many at a time, and this much besides the last of them, bytes. */
const MAX_AHEAD = 16;
const AHEAD_BYTES = 6 * 1024 * 1024;

type Chunk = Uint8Array<ArrayBuffer>;

interface ArchiveContents {
  /** All entries in their order; called again for the lists at the end. */
  readonly entries: () => Iterable<PlannedEntry>;
  /** Opens an object, or says why it is left out. */
  readonly open: (entry: PlannedEntry) => Promise<BodyReader | LeftOut>;
  /** ms since 1970 */
  readonly createdAt: number;
}

/** The bytes of an archive as they are read. @throws what `open` throws, and errors in the middle of an object */
export async function* archiveChunks({ entries, open, createdAt }: ArchiveContents): AsyncGenerator<Chunk> {
  const crcs: number[] = [];
  const leftOut = new Map<number, LeftOut>();
  let offset = 0;
  for await (const { entry, body } of openedAhead(entries(), open)) {
    if (typeof body === "string") {
      leftOut.set(entry.index, body);
      continue;
    }
    let crc = 0;
    let missing = entry.size;
    try {
      yield localHeader(entry);
      for (let chunk; (chunk = await body.read());) {
        crc = crc32(chunk, crc);
        missing -= chunk.length;
        if (missing < 0) break;
        yield chunk;
      }
    } finally {
      body.cancel();
    }
    if (missing !== 0) throw new Error(`'${entry.key}' is not as long as it was`);
    yield dataDescriptor(entry.size, crc);
    crcs[entry.index] = crc;
    offset += bytesOf(entry);
  }

  const list = { name: Buffer.from(ERRORS_NAME), size: 0, modifiedMs: createdAt };
  const listOffset = offset;
  let listCrc = 0;
  if (leftOut.size > 0) {
    for (const line of errorLines(entries(), leftOut)) list.size += line.length;
    yield localHeader(list);
    for (const line of errorLines(entries(), leftOut)) {
      listCrc = crc32(line, listCrc);
      yield line;
    }
    yield dataDescriptor(list.size, listCrc);
    offset += bytesOf(list);
  }

  const end = { entries: 0, centralOffset: offset, centralBytes: 0 };
  offset = 0;
  const counted = (record: Chunk) => {
    end.entries++;
    end.centralBytes += record.length;
    return record;
  };
  for (const entry of entries()) {
    if (leftOut.has(entry.index)) continue;
    yield counted(centralRecord(entry, crcs[entry.index], offset));
    offset += bytesOf(entry);
  }
  if (leftOut.size > 0) yield counted(centralRecord(list, listCrc, listOffset));
  yield endRecords(end);
}

/** Joins short chunks, since each that is sent costs more than its bytes. */
export async function* joined(chunks: AsyncIterable<Chunk>): AsyncGenerator<Chunk> {
  let buffer = new Uint8Array(JOINED_BYTES);
  let length = 0;
  for await (const chunk of chunks) {
    if (length > 0 && length + chunk.length > JOINED_BYTES) {
      yield buffer.subarray(0, length);
      buffer = new Uint8Array(JOINED_BYTES);
      length = 0;
    }
    if (chunk.length > JOINED_BYTES) yield chunk;
    else {
      buffer.set(chunk, length);
      length += chunk.length;
    }
  }
  yield buffer.subarray(0, length);
}

function* errorLines(entries: Iterable<PlannedEntry>, leftOut: ReadonlyMap<number, LeftOut>): Generator<Chunk> {
  for (const { index, key } of entries) {
    const reason = leftOut.get(index);
    if (reason) yield Buffer.from(errorLine(key, reason));
  }
}

/** Opens entries in their turns, and short ones ahead, so that small objects need not be waited for one by one. */
async function* openedAhead(
  entries: Iterable<PlannedEntry>,
  open: ArchiveContents["open"],
): AsyncGenerator<{ readonly entry: PlannedEntry; readonly body: BodyReader | LeftOut }> {
  const rest = entries[Symbol.iterator]();
  const ahead: { readonly entry: PlannedEntry; readonly opened: Promise<BodyReader | LeftOut> | null }[] = [];
  let bytes = 0;
  for (;;) {
    while (ahead.length < MAX_AHEAD && bytes < AHEAD_BYTES) {
      const { value: entry, done } = rest.next();
      if (done) break;
      const isAhead = entry.missing === null && entry.size <= SHORT_BYTES;
      const opened = isAhead ? open(entry) : null;
      // Thrown in its turn.
      opened?.catch(() => {});
      if (isAhead) bytes += entry.size;
      ahead.push({ entry, opened });
    }
    const next = ahead.shift();
    if (!next) return;
    const { entry, opened } = next;
    if (opened) bytes -= entry.size;
    yield { entry, body: entry.missing ?? await (opened ?? open(entry)) };
  }
}
