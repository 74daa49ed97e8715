import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import {
  type PutRequest,
  type PutResponse,
  type SentPart,
  UploadCalls,
} from "@/lib/pages/uploads/upload_calls_client.ts";
import { type ChosenFile, UploadEngine } from "@/lib/pages/uploads/upload_engine_client.ts";
import type { UploadState } from "@/lib/pages/uploads/upload_items_client.ts";
import type { BatchRecord, FileRecord, UploadJournal } from "@/lib/pages/uploads/upload_journal_client.ts";
import { UploadSteps, webDigest } from "@/lib/pages/uploads/upload_sending_client.ts";
import { compareKeys } from "@/lib/pages/storage/key_names.ts";
import { HeldClock, settled } from "@/tests/lib/pages/browser/held_clock.ts";

/** A request that a test may see, and answer in place of the bucket. */
export interface SeenRequest {
  /** The operation of the gateway, or `put` for a presigned URL. */
  readonly operation: string;
  readonly key: string | null;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly signal: AbortSignal;
}

interface StoredUpload {
  readonly key: string;
  readonly parts: Map<number, { readonly etag: string; readonly body: Uint8Array }>;
}

export type Interception = (request: SeenRequest) => Response | undefined | Promise<Response | undefined>;

const runtimeFetch = globalThis.fetch;

/** A gateway and a store with one bucket in memory, whose responses a test may replace. */
export class FakeBucket {
  readonly objects = new Map<string, Uint8Array>();
  /** Checksums of objects that were put together, by key. */
  readonly sums = new Map<string, string>();
  readonly uploads = new Map<string, StoredUpload>();
  readonly seen: SeenRequest[] = [];
  /** Null: the store has no rules for buckets. */
  cors: unknown[] | null = [];
  /** Whether the page reaches the store itself. */
  isReached = true;
  /** Whether our own server responds. */
  isOnline = true;
  /** Whether pages may read entity tags. */
  exposesTags = true;
  /** Most objects of a page of the listing. */
  pageSize = 1000;
  intercept: Interception = () => undefined;
  #ids = 0;

  readonly calls = new UploadCalls("archive/curator", "b");

  constructor() {
    // The newest bucket is that of the page. Other tests of the process send to whole URLs.
    globalThis.fetch = (input, init) =>
      String(input).startsWith("/") ? this.#gateway(String(input), init) : runtimeFetch(input, init);
  }

  /** The names of the operations that were requested, those of one kind. */
  count(operation: string): number {
    return this.seen.filter((request) => request.operation === operation).length;
  }

  readonly put = async ({ url, headers, body, signal, onProgress }: PutRequest): Promise<PutResponse> => {
    const { searchParams: query } = new URL(url, "http://gateway");
    const isDirect = url.startsWith("http://store/");
    const operation = isDirect ? "put" : operationOf("PUT", url);
    const request = { operation, key: query.get("key"), query, headers: new Headers(headers), signal };
    this.seen.push(request);
    const response = await this.#respond(request, isDirect, body);
    signal.throwIfAborted();
    if (response.ok) onProgress(body.size);
    const readable = isDirect && !this.exposesTags ? null : response.headers.get("etag");
    return {
      status: response.type === "error" ? 0 : response.status,
      text: await response.text(),
      etag: readable,
      retryAfter: response.headers.get("retry-after"),
    };
  };

  /** Puts the object of an upload together. */
  async complete(uploadId: string): Promise<void> {
    const { key, parts } = this.uploads.get(uploadId) ?? { key: "", parts: new Map() };
    const bodies: Uint8Array<ArrayBuffer>[] = [...parts].sort(([a], [b]) => a - b).map(([, { body }]) => body);
    this.objects.set(key, new Uint8Array(await new Blob(bodies).arrayBuffer()));
    const sums = await Promise.all(bodies.map(async (body) => await crypto.subtle.digest("SHA-256", body)));
    const all = new Uint8Array(await new Blob(sums).arrayBuffer());
    this.sums.set(key, `${await sha256(all)}-${bodies.length}`);
    this.uploads.delete(uploadId);
  }

  async #respond(request: SeenRequest, isDirect: boolean, body: Blob | ArrayBuffer): Promise<Response> {
    const { operation, query, headers } = request;
    if (!this.isOnline || (isDirect && !this.isReached)) return Response.error();
    const replaced = await this.intercept(request);
    if (replaced) return replaced;
    const bytes = new Uint8Array(body instanceof Blob ? await body.arrayBuffer() : body);
    const uploadId = query.get("upload_id");
    if (uploadId !== null) {
      const upload = this.uploads.get(uploadId);
      if (!upload) return s3Error(404, "NoSuchUpload");
      const etag = `"${await sha256(bytes)}"`;
      upload.parts.set(Number(query.get("part_number")), { etag, body: bytes });
      return operation === "put" ? new Response(null, { headers: { etag } }) : Response.json({ etag });
    }
    const key = request.key ?? "";
    if (headers.get("if-none-match") === "*" && this.objects.has(key)) return s3Error(412, "PreconditionFailed");
    this.objects.set(key, bytes);
    return new Response("{}");
  }

  async #gateway(url: string, init: RequestInit = {}): Promise<Response> {
    if (!this.isOnline) throw new TypeError("no network");
    if (url === "/healthz") return new Response();
    const { searchParams: query } = new URL(url, "http://gateway");
    const operation = operationOf(init.method, url);
    const key = query.get("key");
    const { signal } = init;
    const request = { operation, key, query, headers: new Headers(init.headers), signal: signal as AbortSignal };
    this.seen.push(request);
    const replaced = await this.intercept(request);
    if (replaced?.type === "error") throw new TypeError("no network");
    if (replaced) return replaced;
    const body = typeof init.body === "string" ? JSON.parse(init.body) : {};
    const upload = this.uploads.get(query.get("upload_id") ?? body.upload_id);
    const name = key ?? "";
    switch (operation) {
      case "list_objects": {
        const after = query.get("start_after") ?? "";
        const keys = [...this.objects.keys()].filter((key) => key.startsWith(query.get("prefix") ?? ""))
          .filter((key) => compareKeys(key, after) > 0).sort(compareKeys);
        const objects = keys.slice(0, this.pageSize).map((Key) => ({ Key, Size: this.objects.get(Key)?.length }));
        return Response.json({ objects, is_truncated: keys.length > this.pageSize });
      }
      case "head_object": {
        const found = this.objects.get(name);
        if (!found) return Response.json({ detail: "Not Found" }, { status: 404 });
        return new Response(null, {
          headers: {
            "content-length": String(found.length),
            "x-amz-checksum-sha256": this.sums.get(name) ?? await sha256(found),
          },
        });
      }
      case "presign_objects":
        return Response.json({
          urls: body.objects.map((object: Record<string, string>) => ({
            key: object.key,
            url: `http://store/?${new URLSearchParams({ key: object.key })}`,
            headers: object.checksum_sha256 ? { "x-amz-checksum-sha256": object.checksum_sha256 } : undefined,
          })),
        });
      case "create_multipart_upload": {
        const upload_id = `upload-${++this.#ids}`;
        this.uploads.set(upload_id, { key: name, parts: new Map() });
        return Response.json({ upload_id }, { status: 201 });
      }
      case "presign_parts":
        return Response.json({
          urls: body.part_numbers.map((number: number) => ({
            part_number: number,
            url: `http://store/?${new URLSearchParams({
              key: name,
              upload_id: body.upload_id,
              part_number: String(number),
            })}`,
          })),
        });
      case "list_parts": {
        if (!upload) return Response.json({ detail: "no such upload" }, { status: 404 });
        const parts = [...upload.parts].map(([PartNumber, { etag, body }]) => ({
          PartNumber,
          ETag: etag,
          Size: body.length,
        }));
        return Response.json({ parts, is_truncated: false, next_part_number_marker: null });
      }
      case "complete_multipart_upload": {
        if (!upload) return Response.json({ detail: "no such upload" }, { status: 404 });
        if (request.headers.get("if-none-match") === "*" && this.objects.has(name)) {
          return Response.json({ detail: "exists" }, { status: 412 });
        }
        for (const { PartNumber, ETag } of body.parts) {
          if (upload.parts.get(PartNumber)?.etag !== ETag) throw new Error(`part ${PartNumber} has another ETag`);
        }
        await this.complete(body.upload_id);
        return Response.json({});
      }
      case "abort_multipart_upload":
        return Response.json({}, { status: this.uploads.delete(body.upload_id) ? 200 : 404 });
      case "get_bucket_cors":
        if (this.cors === null) return Response.json({ detail: "not implemented" }, { status: 501 });
        return Response.json({ cors_rules: this.cors });
      case "put_bucket_cors":
        this.cors = body.CORSRules;
        this.isReached = true;
        return Response.json({});
      default:
        throw new Error(`no operation ${operation}`);
    }
  }
}

/** The ids of the operations that uploads use. */
const OPERATIONS: Readonly<Record<string, string>> = {
  "GET objects": "list_objects",
  "HEAD objects/:key": "head_object",
  "PUT objects/:key": "put_object",
  "POST objects/presign": "presign_objects",
  "POST multipart/:key": "create_multipart_upload",
  "POST multipart/:key/presign": "presign_parts",
  "PUT multipart/:key": "upload_part",
  "GET multipart/:key/parts": "list_parts",
  "POST multipart/:key/complete": "complete_multipart_upload",
  "POST multipart/:key/abort": "abort_multipart_upload",
  "GET uploads": "list_uploads",
  "GET cors": "get_bucket_cors",
  "PUT cors": "put_bucket_cors",
};

function operationOf(method: string | undefined, url: string): string {
  const [path] = url.slice("/storage/api/buckets/:bucket/".length).split("?", 1);
  return OPERATIONS[`${method} ${path}`] ?? `${method} ${url}`;
}

/** An error of the store. */
export function s3Error(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code><Message>${code}!</Message></Error>`, { status });
}

async function sha256(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes.slice());
  return btoa(String.fromCharCode(...new Uint8Array(digest)));
}

/** A journal that outlives engines, as the browser's outlives pages. */
export class MemoryJournal implements UploadJournal {
  readonly records = new Map<string, FileRecord>();
  readonly sent = new Map<string, Map<number, SentPart>>();
  readonly begun = new Map<string, BatchRecord>();

  files(bucket: string, prefix: string): Promise<FileRecord[]> {
    return Promise.resolve(
      [...this.records.values()].filter((one) => one.bucket === bucket && one.key.startsWith(prefix)),
    );
  }

  putFile(record: FileRecord): Promise<void> {
    this.records.set(`${record.bucket}/${record.key}`, record);
    return Promise.resolve();
  }

  parts(uploadId: string): Promise<ReadonlyMap<number, SentPart>> {
    return Promise.resolve(this.sent.get(uploadId) ?? new Map());
  }

  putPart(uploadId: string, number: number, part: SentPart): Promise<void> {
    this.sent.set(uploadId, (this.sent.get(uploadId) ?? new Map()).set(number, part));
    return Promise.resolve();
  }

  forget({ bucket, key }: { readonly bucket: string; readonly key: string }): Promise<void> {
    const record = this.records.get(`${bucket}/${key}`);
    if (record?.upload) this.sent.delete(record.upload.uploadId);
    this.records.delete(`${bucket}/${key}`);
    return Promise.resolve();
  }

  batches(): Promise<BatchRecord[]> {
    return Promise.resolve([...this.begun.values()]);
  }

  putBatch(record: BatchRecord): Promise<void> {
    this.begun.set(`${record.bucket}/${record.prefix}`, record);
    return Promise.resolve();
  }

  async forgetBatch(bucket: string, prefix: string, keys: ReadonlySet<string> | null): Promise<void> {
    const own = (await this.files(bucket, prefix)).filter((record) => record.prefix === prefix);
    const over = own.filter(({ key }) => keys === null || keys.has(key));
    for (const record of over) await this.forget(record);
    if (over.length === own.length) this.begun.delete(`${bucket}/${prefix}`);
  }
}

const MIB = 1024 * 1024;

/** A page: an engine that sends to a bucket, and what happened to it. */
export class Page {
  readonly clock = new HeldClock();
  readonly engine: UploadEngine;
  /** Continues once something has changed. */
  #changed = Promise.withResolvers<void>();

  /** @param claimed uploads in parts that pages have, where those do not end with this page's beginning */
  constructor(
    readonly bucket = new FakeBucket(),
    readonly journal = new MemoryJournal(),
    claimed = new Set<string>(),
    prefix = "scans/",
  ) {
    this.engine = new UploadEngine({
      folder: { bucket: "b", prefix },
      calls: bucket.calls,
      sending: () =>
        Promise.resolve({
          put: bucket.put,
          digest: webDigest(crypto.subtle, 64 * MIB),
          steps: (context) => new UploadSteps(context),
        }),
      journal,
      claim: (uploadId) => {
        const isFree = !claimed.has(uploadId);
        claimed.add(uploadId);
        return Promise.resolve(isFree);
      },
      clock: this.clock,
      random: () => 1,
      origin: "https://stackroom.example.org",
      onChange: () => {
        this.#changed.resolve();
        this.#changed = Promise.withResolvers();
      },
    });
  }

  states(): UploadState[] {
    return this.engine.list.items.map(({ state }) => state);
  }

  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await this.#changed.promise;
    await settled();
  }

  /** Waits until every file has a state that it does not leave by itself. */
  async atRest(): Promise<void> {
    await this.until(() => !this.engine.isBusy || this.engine.halted !== null);
  }

  /** Sends files until every one has a state that it does not leave by itself. */
  async send(files: readonly ChosenFile[]): Promise<UploadState[]> {
    await this.engine.add(files);
    await this.atRest();
    return this.states();
  }

  /** The same while time passes, since failures are followed by waits. */
  async sendPatiently(files: readonly ChosenFile[]): Promise<UploadState[]> {
    await this.engine.add(files);
    await this.pass(() => !this.engine.isBusy);
    return this.states();
  }

  /** Lets time pass until a condition holds, since failures are followed by waits. */
  async pass(holds: () => boolean): Promise<void> {
    for (let seconds = 0; !holds(); seconds++) {
      assert.ok(seconds < 1000, `never: ${this.states()}`);
      await this.clock.pass(1);
      await settled();
    }
  }
}

export function file(path: string, content: string | Uint8Array<ArrayBuffer>): ChosenFile {
  return { path, file: new File([content], path.slice(path.lastIndexOf("/") + 1), { lastModified: 1 }) };
}

/** Bytes that differ from part to part. @param length a multiple of four */
function bytes(length: number): Uint8Array<ArrayBuffer> {
  const words = new Uint32Array(length / 4);
  for (let index = 0; index < words.length; index++) words[index] = index * 7;
  return new Uint8Array(words.buffer);
}

export const large = bytes(40 * MIB);
/** Sent by one PUT, and straight to the store. */
export const medium = bytes(MIB);
/** The PUT of a whole file; the probe has the URL of a part. */
export const isWhole = ({ operation, key, query }: SeenRequest, name: string) =>
  /^put(?:_object)?$/.test(operation) && key === name && !query.has("upload_id");
export const isPart = ({ operation, query }: SeenRequest, number: number) =>
  operation === "put" && query.get("part_number") === String(number) && query.get("upload_id") !== "not-an-upload";

/** Compared by Buffer, since deepEqual takes seconds for so many bytes. */
export function assertLarge({ objects }: FakeBucket, key = "scans/large.bin"): void {
  assert.ok(Buffer.from(large).equals(objects.get(key) ?? new Uint8Array()), "the object is the file");
}

/** A store that does not know the condition that nothing is overwritten. */
export const withoutCondition: Interception = ({ headers }) =>
  headers.has("if-none-match") ? s3Error(501, "NotImplemented") : undefined;

/** The same, for a login that may not list either. */
export const withoutListingAndCondition: Interception = (request) =>
  request.operation === "list_objects" ? Response.json({ detail: "no" }, { status: 403 }) : withoutCondition(request);

/** Sends a large file until two of its three parts have arrived, and no further. */
export async function interrupt(page: Page): Promise<void> {
  const { bucket, engine } = page;
  const held = Promise.withResolvers<void>();
  bucket.intercept = (request) => {
    if (!isPart(request, 2)) return undefined;
    held.resolve();
    return new Promise(() => {});
  };
  await engine.add([file("large.bin", large)]);
  await held.promise;
  await page.until(() => engine.list.items[0].upload?.parts.size === 2);
  bucket.intercept = () => undefined;
}
