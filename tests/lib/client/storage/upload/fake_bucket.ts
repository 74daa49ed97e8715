import {
  type AddressOf,
  type PutRequest,
  type PutResponse,
  type SentPart,
  UploadCalls,
} from "@/lib/client/storage/upload/upload_calls.ts";
import type { BatchRecord, FileRecord, UploadJournal } from "@/lib/client/storage/upload/upload_journal.ts";
import { compareKeys } from "@/lib/presentation/storage/upload_names.ts";

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

  readonly calls = new UploadCalls(addressOf, (input, init) => this.#gateway(String(input), init));

  /** The names of the operations that were requested, those of one kind. */
  count(operation: string): number {
    return this.seen.filter((request) => request.operation === operation).length;
  }

  readonly put = async ({ url, headers, body, signal, onProgress }: PutRequest): Promise<PutResponse> => {
    const { pathname, searchParams: query } = new URL(url);
    const isDirect = url.startsWith("http://store/");
    const operation = isDirect ? "put" : pathname.slice(1);
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
    const { pathname, searchParams: query } = new URL(url);
    const operation = pathname.slice(1);
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

const addressOf: AddressOf = (operation, place, query) =>
  `http://gateway/${operation}?${new URLSearchParams({ ...place, ...query })}`;

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
