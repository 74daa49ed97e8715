import { createHash, randomUUID } from "node:crypto";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import { parseByteRange } from "@/lib/std/header_encoding.ts";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import type { ObjectSource } from "@/lib/tasks/zip/entry_read.ts";
import { closedChunk, EMPTY_PLAN, isOpen, objectsIn, PlanBuilder, type PlanSums } from "@/lib/tasks/zip/zip_format.ts";

export const MODIFIED = Date.UTC(2026, 10, 20, 7, 31, 17);

export const CALLER: Caller = {
  username: "curator",
  tenant: "archive",
  s3: { accessKey: "key", secretKey: "secret" },
  mapiAuthorization: null,
  named: true,
};

/** An S3 server of one bucket with faults. */
export interface ObjectServer extends AsyncDisposable {
  readonly source: ObjectSource;
  readonly objects: Map<string, Uint8Array<ArrayBuffer>>;
  /** Keys of reads as they came. */
  readonly reads: string[];
  /** What is returned instead of an object, or of the bucket for an empty key; null for nothing else. */
  fault: (key: string) => Response | null | Promise<Response | null>;
}

const etags = new WeakMap<Uint8Array, string>();

export function etagOf(bytes: Uint8Array): string {
  let etag = etags.get(bytes);
  if (!etag) etags.set(bytes, etag = `"${createHash("md5").update(bytes).digest("hex")}"`);
  return etag;
}

export function startObjectServer(): ObjectServer {
  const objects = new Map<string, Uint8Array<ArrayBuffer>>();
  const reads: string[] = [];
  const http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    // As it came: `new URL` folds dot segments.
    const path = request.url.split("/letters/")[1];
    if (!path) return await server.fault("") ?? new Response(null);
    const key = decodeURIComponent(path);
    const range = request.headers.get("range");
    reads.push(key);
    const fault = await server.fault(key);
    if (fault) return fault;
    const bytes = objects.get(key);
    if (!bytes) return s3Error(404, "NoSuchKey");
    const etag = etagOf(bytes);
    const condition = request.headers.get("if-match");
    if (condition !== null && condition !== etag) return s3Error(412, "PreconditionFailed");
    const headers = { etag, "last-modified": new Date(MODIFIED).toUTCString() };
    const selected = parseByteRange(range, bytes.length);
    if (selected === "unsatisfiable") return s3Error(416, "InvalidRange");
    if (!selected) return new Response(bytes, { headers });
    const { first, last } = selected;
    return new Response(bytes.slice(first, last + 1), {
      status: 206,
      headers: { ...headers, "content-range": `bytes ${first}-${last}/${bytes.length}` },
    });
  });
  const address = { endpoint: `http://127.0.0.1:${http.addr.port}`, publicEndpoint: "" };
  const server: ObjectServer = {
    source: {
      s3: {
        addresses: { s3: () => Promise.resolve(address) },
        region: "us-east-1",
        upstream: upstreamClient({ verifyTls: true, timeoutMs: 10_000 }),
        now: Date.now,
      },
      caller: CALLER,
      bucket: "letters",
      retryMs: [1, 1],
      enter: () => Promise.resolve(() => {}),
      signal: new AbortController().signal,
    },
    objects,
    reads,
    fault: () => null,
    [Symbol.asyncDispose]: () => http.shutdown(),
  };
  return server;
}

export function s3Error(status: number, code: string): Response {
  return new Response(`<Error><Code>${code}</Code><Message>${code}</Message></Error>`, { status });
}

/** A body that breaks off behind so many bytes. */
export function cutShort(bytes: Uint8Array<ArrayBuffer>, after: number, headers: Record<string, string>): Response {
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (isSent) return controller.error(new Error("cut"));
      isSent = true;
      controller.enqueue(bytes.slice(0, after));
    },
  }, { highWaterMark: 0 });
  return new Response(body, { headers });
}

export interface PlannedArchive {
  readonly sums: PlanSums;
  /** Chunks of the plan by their names. */
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/** The complete plan of an archive of these objects, and of absent ones. */
export async function planned(
  objects: ReadonlyMap<string, Uint8Array>,
  absent: readonly string[] = [],
): Promise<PlannedArchive> {
  const builder = new PlanBuilder();
  for (const [key, bytes] of objects) {
    builder.add(key, { size: bytes.length, etag: etagOf(bytes), modifiedMs: MODIFIED });
  }
  for (const key of absent) builder.add(key);
  let sums = EMPTY_PLAN;
  const blobs = new Map<string, Uint8Array>();
  for (const [name, draft] of await builder.blobs()) {
    const objects = objectsIn(draft);
    for (const object of objects.filter(isOpen)) object.missing = "gone";
    const closed = closedChunk(objects, sums);
    blobs.set(name, closed.blob);
    sums = closed.sums;
  }
  return { sums, blobs };
}

/** A store with the task of an archive. */
export async function storedTask({ blobs }: PlannedArchive): Promise<{ store: SqliteTaskStore; id: string }> {
  const store = new SqliteTaskStore(":memory:", Date.now);
  const id = randomUUID();
  await store.create(
    {
      id,
      kind: "zip",
      owner: "a",
      tenant: null,
      account: null,
      bucket: "letters",
      progress: "{}",
      sealedCaller: new Uint8Array(1),
    },
    "h",
    { maxPerOwner: 9, maxPerTenant: 9, max: 9 },
    blobs,
  );
  return { store, id };
}
