import type { Caller } from "@/lib/auth/store_credentials.ts";
import { SANDBOX_POLICY } from "@/lib/http/default_headers.ts";
import { HttpError, notFound, unavailable } from "@/lib/http/errors.ts";
import { BrokenStream, guardedStream } from "@/lib/http/guarded_stream.ts";
import { contentDisposition } from "@/lib/http/header_values.ts";
import { InFlight } from "@/lib/http/in_flight.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { parseByteRange } from "@/lib/std/byte_range.ts";
import type { BodyReader } from "@/lib/std/body_reader.ts";
import type { FairSlots } from "@/lib/std/fair_slots.ts";
import type { Task } from "@/lib/tasks/task.ts";
import type { TaskStore } from "@/lib/tasks/task_store.ts";
import { type ObjectSource, RETRY_MS } from "./entry_read.ts";
import { OpenArchives, type ReadyTask, type ZipArchive } from "./zip_archive.ts";
import { ArchiveChanged, type ArchiveRange, completeBefore, ZipStream } from "./zip_stream.ts";
import { DamagedPlan } from "./zip_plan.ts";
import { MAX_FAILED_KEYS, type ZipProgress } from "./zip_task.ts";

/** Downloads of archives at a time: of one owner, and of all in this process. */
const MAX_DOWNLOADS_PER_OWNER = 4;
const MAX_DOWNLOADS = 16;
const RETRY_AFTER_SECONDS = 10;
/** How often an archive that is being sent is prolonged, so that a download that breaks off late can go on, ms. */
const PROLONG_MS = 60_000;
/** Longest list of keys in a header, bytes: servers and clients accept about 8 KiB of headers. */
const MAX_KEYS_BYTES = 4096;
/** How often an archive is started again because its objects change before its first byte. */
const MAX_GENERATIONS = 3;

/** A task that is ready, and with whose keys its objects are read. */
interface Download {
  readonly task: Task;
  readonly progress: ZipProgress;
  readonly caller: Caller;
}

/** Sends archives of this process's tasks, whole or from an offset on. */
export class ZipDownloads {
  readonly #s3: S3;
  readonly #store: Pick<TaskStore, "prolong">;
  readonly #reads: FairSlots;
  readonly #archives: OpenArchives;
  readonly #owners = new InFlight(MAX_DOWNLOADS_PER_OWNER);
  readonly #all = new InFlight(MAX_DOWNLOADS);

  /** @param reads of the store at a time, by task */
  constructor(s3: S3, store: Pick<TaskStore, "readBlobs" | "writeBlobs" | "prolong">, reads: FairSlots) {
    this.#s3 = s3;
    this.#reads = reads;
    this.#store = store;
    this.#archives = new OpenArchives(store);
  }

  /**
   * The archive as a response to GET or HEAD, or the range of it that is requested. Where a range cannot be sent without
   * doubt, the whole archive is.
   *
   * @throws HttpError 503 when too many are sent, 404 when it has expired, 416; as the store where its first object
   *   cannot be read
   */
  async respond({ task, progress, caller }: Download, context: RequestContext): Promise<Response> {
    const leave = this.#enter(task.owner);
    const ready = { id: task.id, bucket: task.bucket, createdAt: task.createdAt, head: progress.plan };
    const enter = (signal: AbortSignal) => this.#reads.enter(task.id, signal);
    const source = { s3: this.#s3, caller, bucket: task.bucket, retryMs: RETRY_MS, enter };
    let isRespondedTo = false;
    try {
      const sent = await this.#send(ready, source, context, leave);
      isRespondedTo = sent.body !== null;
      return sent;
    } finally {
      if (!isRespondedTo) leave();
    }
  }

  /** @throws HttpError 503 */
  #enter(owner: string): () => void {
    const leaveAll = this.#all.enter();
    if (!leaveAll) throw unavailable("Too many downloads of archives at a time", RETRY_AFTER_SECONDS, "archives_full");
    const leaveOwner = this.#owners.enter(owner);
    if (!leaveOwner) {
      leaveAll();
      throw unavailable(
        `You download ${MAX_DOWNLOADS_PER_OWNER} archives at a time, which is the limit: wait until one is there`,
        RETRY_AFTER_SECONDS,
        "archives_full",
      );
    }
    return () => {
      leaveAll();
      leaveOwner();
    };
  }

  async #send(task: ReadyTask, source: ObjectSource, context: RequestContext, leave: () => void): Promise<Response> {
    for (let generation = 0; generation < MAX_GENERATIONS; generation++) {
      const opened = await this.#archives.open(task);
      if (!opened) throw notFound("Task");
      const { archive, close } = opened;
      let isSent = false;
      try {
        // Range is defined for GET alone (RFC 9110, section 14.2).
        const range = context.method === "HEAD" ? null : await selectedRange(archive, source, context);
        if (range === "unsatisfiable") {
          const { totalBytes } = archive.layout();
          throw new HttpError(416, "The range lies outside of the archive", {
            headers: { "Content-Range": `bytes */${totalBytes}` },
          });
        }
        if (context.method === "HEAD") return archiveResponse(archive, null, null);
        const stream = new ZipStream(archive, source, range ?? WHOLE, context.info?.completed !== undefined);
        const body = this.#body(archive, stream, context, () => {
          close();
          leave();
        });
        this.#prolong(task.id);
        await stream.start(context.request.signal);
        isSent = true;
        return archiveResponse(archive, range, body);
      } catch (error) {
        if (error instanceof DamagedPlan) throw notFound("Task");
        if (!(error instanceof ArchiveChanged)) throw error;
        // An object that was sent already is gone, so the archive would be another one now.
        await this.#archives.renew(archive);
      } finally {
        if (!isSent) close();
      }
    }
    throw unavailable("The objects of the archive change again and again", RETRY_AFTER_SECONDS);
  }

  /** Where it fails, a later chunk prolongs the task. */
  #prolong(task: string): void {
    this.#store.prolong(task).catch(() => {});
  }

  /** @param ended called once when nothing more is sent */
  #body(
    archive: ZipArchive,
    stream: ZipStream,
    context: RequestContext,
    ended: () => void,
  ): ReadableStream<Uint8Array<ArrayBuffer>> {
    let prolongedAt = performance.now();
    const prolong = () => {
      if (performance.now() - prolongedAt < PROLONG_MS) return;
      prolongedAt = performance.now();
      this.#prolong(archive.task.id);
    };
    const reader: BodyReader = {
      async read() {
        prolong();
        const chunk = await stream.read();
        if (chunk === null) ended();
        return chunk;
      },
      cancel() {
        stream.cancel();
        ended();
      },
    };
    return guardedStream(reader, {
      broken: (error) => {
        if (error instanceof ArchiveChanged) this.#archives.renew(archive).catch(() => {});
        return new BrokenStream("BrokenArchive", "the download of an archive broke off");
      },
      bounds: this.#s3.bounds,
      unread: () => context.info?.breakOff?.(),
    });
  }
}

const WHOLE: ArchiveRange = { first: 0, last: null };

/**
 * The range that a request selects; null for the whole archive. That is sent as well where the validator is another one,
 * and where it is not certain that the bytes before the range were those that the client has: those of a client that
 * names no validator may be of an earlier generation.
 *
 * @throws ArchiveChanged, HttpError
 */
async function selectedRange(
  archive: ZipArchive,
  source: ObjectSource,
  { request: { headers, signal } }: RequestContext,
): Promise<ArchiveRange | "unsatisfiable" | null> {
  const header = headers.get("range");
  const validator = headers.get("if-range");
  if (header === null || (validator === null ? archive.journal.generation > 0 : validator !== archive.etag)) {
    return null;
  }
  // The length may still change, so what counts from the end needs all entries.
  const isSuffix = /=-/.test(header);
  for (let completed: number | null = null;;) {
    const { totalBytes } = archive.layout();
    const selected = parseByteRange(header, totalBytes);
    if (selected === null || selected === "unsatisfiable") return selected;
    const { entry } = archive.locate(isSuffix ? Infinity : selected.first);
    if (entry === completed) {
      return { first: selected.first, last: selected.last === totalBytes - 1 ? null : selected.last };
    }
    if (!await completeBefore(archive, source, entry, signal)) return null;
    // What was left out meanwhile moves the range to a later entry.
    completed = entry;
  }
}

function archiveResponse(
  archive: ZipArchive,
  range: ArchiveRange | null,
  body: ReadableStream<Uint8Array<ArrayBuffer>> | null,
): Response {
  const { totalBytes } = archive.layout();
  const headers: Record<string, string> = {
    "content-type": "application/zip",
    "content-disposition": contentDisposition("attachment", `${archive.task.bucket}-objects.zip`),
    "accept-ranges": "bytes",
    etag: archive.etag,
    "x-zip-size": String(totalBytes),
    "x-zip-failed": String(archive.failed),
    "cache-control": "private, no-cache",
    "content-security-policy": SANDBOX_POLICY,
    "x-content-type-options": "nosniff",
  };
  const keys = keysHeader(archive.failedKeys(MAX_FAILED_KEYS));
  if (keys !== "") headers["x-zip-failed-keys"] = keys;
  if (range) {
    const { first, last } = range;
    headers["content-range"] = `bytes ${first}-${last ?? totalBytes - 1}/${archive.isDecided ? totalBytes : "*"}`;
  }
  return new Response(body, { status: range ? 206 : 200, headers });
}

/** As many of the keys as a header holds, percent-encoded where that is needed to tell them apart. */
function keysHeader(keys: readonly string[]): string {
  let text = "";
  for (const key of keys) {
    const encoded = key.toWellFormed().replace(/[^\x21-\x7e]+|[%,]/gu, encodeURIComponent);
    if (text.length + encoded.length + 1 > MAX_KEYS_BYTES) break;
    text += (text === "" ? "" : ",") + encoded;
  }
  return text;
}
