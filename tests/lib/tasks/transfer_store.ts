import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { UpstreamError, type UpstreamRequest } from "@/lib/http/upstream.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { CONDITION_TABLES, type ConditionTable } from "@/lib/s3/store_kind.ts";
import { listPage } from "./model_store.ts";

const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const quoted = (etag: string) => etag.replaceAll('"', "&quot;");

/** A request as the store sees it. */
export interface Seen {
  readonly method: string;
  readonly bucket: string;
  readonly key: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
}

interface Stored {
  readonly bytes: string;
  readonly etag: string;
}

/** Buckets in memory behind the interface of the S3 client, with the conditions of copies and deletions. */
export class TransferStore {
  readonly buckets: ReadonlyMap<string, Map<string, Stored>>;
  /** All requests. */
  readonly seen: Seen[] = [];
  /** Called before each request; it may change what is stored, return a response, or throw. */
  before: (request: Seen) => Response | void = () => {};
  /** Called after each request whose response it may lose by throwing. */
  after: (request: Seen) => void = () => {};
  table: ConditionTable = CONDITION_TABLES.embedded;
  /** Whether copies get other ETags than their sources, as those of objects that were uploaded in parts. */
  hasOtherEtags = false;

  constructor(buckets: Readonly<Record<string, readonly string[]>>) {
    this.buckets = new Map(Object.keys(buckets).map((name) => [name, new Map()]));
    for (const [name, keys] of Object.entries(buckets)) for (const key of keys) this.put(name, key, `bytes of ${key}`);
  }

  put(bucket: string, key: string, bytes: string, suffix = ""): string {
    const etag = `"${createHash("md5").update(bytes).digest("hex")}${suffix}"`;
    this.buckets.get(bucket)?.set(key, { bytes, etag });
    return etag;
  }

  /** The keys of a bucket with their bytes. */
  contents(bucket: string): Record<string, string> {
    const entries = [...this.buckets.get(bucket) ?? []].sort(([a], [b]) => order(a, b));
    return Object.fromEntries(entries.map(([key, { bytes }]) => [key, bytes]));
  }

  get s3(): S3 {
    return {
      addresses: { s3: () => Promise.resolve({ endpoint: "http://store", publicEndpoint: "http://store" }) },
      region: "us-east-1",
      upstream: { send: (request) => Promise.resolve().then(() => this.#send(request)) },
      now: () => 0,
      conditions: () => Promise.resolve(this.table),
    };
  }

  #send({ method, target, headers, signal }: UpstreamRequest): Response {
    const aborted = signal;
    if (aborted?.aborted) throw new UpstreamError("aborted", aborted.reason);
    return this.respond(method, target, new Headers(headers));
  }

  /** The response to a request. */
  respond(method: string, target: string, headers: Headers): Response {
    const [path, search] = target.split("?");
    const [, bucket, ...rest] = path.split("/");
    const query = new URLSearchParams(search);
    const request: Seen = {
      method,
      bucket,
      key: decodeURIComponent(rest.join("/")),
      query,
      headers,
    };
    this.seen.push(request);
    const response = this.before(request) ?? this.#respond(request);
    this.after(request);
    return response;
  }

  #respond({ method, bucket, key, query, headers }: Seen): Response {
    const objects = this.buckets.get(bucket);
    if (!objects) return failure(404, "NoSuchBucket");
    if (key === "") {
      return listPage([...objects].map(([key, { bytes, etag }]) => ({ key, size: bytes.length, etag })), query);
    }
    const stored = objects.get(key);
    const ifMatch = headers.get("if-match");
    switch (method) {
      case "HEAD":
        if (!stored) return new Response(null, { status: 404 });
        return new Response(null, { headers: { etag: stored.etag, "content-length": String(stored.bytes.length) } });
      case "DELETE":
        if (ifMatch !== null && !stored) return failure(404, "NoSuchKey");
        if (ifMatch !== null && stored?.etag !== ifMatch) return failure(412, "PreconditionFailed");
        objects.delete(key);
        return new Response(null, { status: 204 });
      default: {
        const [, from, ...name] = (headers.get("x-amz-copy-source") ?? "").split("/");
        const source = this.buckets.get(from)?.get(decodeURIComponent(name.join("/")));
        if (!source) return failure(404, "NoSuchKey");
        const sourceTag = headers.get("x-amz-copy-source-if-match");
        const isRefused = (headers.get("if-none-match") === "*" && stored) ||
          (sourceTag !== null && sourceTag !== source.etag);
        if (isRefused) return failure(412, "PreconditionFailed");
        const etag = this.put(bucket, key, source.bytes, this.hasOtherEtags ? "-1" : "");
        return new Response(`<CopyObjectResult><ETag>${quoted(etag)}</ETag></CopyObjectResult>`);
      }
    }
  }
}

function failure(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, { status });
}
