import { Buffer } from "node:buffer";
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { freesWrittenChunks, guardedStream } from "@/lib/http/upstream.ts";
import { clientClosedRequest, notFound, unavailable } from "@/lib/http/errors.ts";
import { contentDisposition } from "@/lib/http/header_values.ts";
import { type RequestContext, SANDBOX_POLICY, Slots } from "@/lib/http/request_context.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import type { FairSlots } from "@/lib/std/concurrency.ts";
import type { TaskStore } from "@/lib/tasks/task.ts";
import type { TaskKeys } from "@/lib/tasks/task_keys.ts";
import type { FoundTask } from "@/lib/tasks/task_runner.ts";
import { openEntry, RETRY_MS } from "./entry_read.ts";
import { archiveBytes, chunkName, DamagedPlan, plannedEntries } from "./zip_plan.ts";
import { archiveChunks, joined } from "./zip_stream.ts";
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
