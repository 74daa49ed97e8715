import { createHash } from "node:crypto";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { upstreamClient } from "@/lib/http/upstream.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { FixityFigures, type FixityProgress, newFixity } from "@/lib/tasks/fixity/fixity.ts";
import { fixityHandler } from "@/lib/tasks/fixity/fixity_task.ts";
import { readRows, type ReportRow } from "@/lib/tasks/fixity/report.ts";
import { PROCESS_CLOCK, type TaskClock } from "@/lib/tasks/task_keys.ts";
import { listPage } from "@/tests/lib/tasks/model_store.ts";
import { CALLER, s3Error } from "@/tests/lib/tasks/zip/object_server.ts";

type Bytes = Uint8Array<ArrayBuffer>;

interface StoredObject {
  readonly bytes: Bytes;
  /** In quotes. */
  readonly etag: string;
  readonly headers: Record<string, string>;
}

/** An S3 server of one bucket, which is asked for anything before it responds. */
export interface FixityStore extends AsyncDisposable {
  readonly s3: S3;
  readonly objects: Map<string, StoredObject>;
  /** Requests for objects, such as `GET a.txt`. */
  readonly requests: string[];
  /** What is returned instead of an object; null for the object. */
  fault: (method: string, key: string) => Response | null | Promise<Response | null>;
  /** What is returned instead of a page of a listing; null for the page. */
  listing: (query: URLSearchParams) => Response | null;
  /** @param etag without its quotes; the MD5 when absent */
  put(key: string, content: string | Bytes, etag?: string, headers?: Record<string, string>): void;
}

export const md5 = (content: string | Bytes) => createHash("md5").update(content).digest("hex");
export const sha256 = (content: string | Bytes) => createHash("sha256").update(content).digest("hex");

export function startFixityStore(): FixityStore {
  const objects = new Map<string, StoredObject>();
  const requests: string[] = [];
  const http = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen() {} }, async (request) => {
    const [path, query = ""] = request.url.split("/letters")[1]?.split("?") ?? [];
    if (path === undefined) return new Response(null);
    if (path === "" || path === "/") {
      const asked = new URLSearchParams(query);
      const listed = [...objects].map(([key, { bytes, etag }]) => ({ key, size: bytes.length, etag }));
      return store.listing(asked) ?? listPage(listed, asked);
    }
    const key = decodeURIComponent(path.slice(1));
    requests.push(`${request.method} ${key}`);
    const body = request.method === "PUT" ? new Uint8Array(await request.arrayBuffer()) : null;
    const fault = await store.fault(request.method, key);
    if (fault) return fault;
    const found = objects.get(key);
    if (body) {
      if (found && request.headers.get("if-none-match") === "*") return s3Error(412, "PreconditionFailed");
      store.put(key, body);
      return new Response(null, { headers: { etag: `"${md5(body)}"` } });
    }
    if (!found) return s3Error(404, "NoSuchKey");
    const { bytes, etag, headers } = found;
    const condition = request.headers.get("if-match");
    if (condition !== null && condition !== etag) return s3Error(412, "PreconditionFailed");
    const all = { etag, "content-length": String(bytes.length), ...headers };
    return new Response(request.method === "HEAD" ? null : bytes, { headers: all });
  });
  const address = { endpoint: `http://127.0.0.1:${http.addr.port}`, publicEndpoint: "" };
  const store: FixityStore = {
    s3: {
      addresses: { s3: () => Promise.resolve(address) },
      region: "us-east-1",
      upstream: upstreamClient({ verifyTls: true, timeoutMs: 10_000 }),
      now: Date.now,
    },
    objects,
    requests,
    fault: () => null,
    listing: () => null,
    put(key, content, etag, headers = {}) {
      const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
      objects.set(key, { bytes, etag: `"${etag ?? md5(bytes)}"`, headers });
    },
    [Symbol.asyncDispose]: () => http.shutdown(),
  };
  return store;
}

/** What a check asks for that has no manifest. */
export const REQUEST: FixityProgress["request"] = {
  prefix: "",
  rate: null,
  allVersions: false,
  full: true,
  etags: "compare",
  reportTo: null,
  baseline: null,
  schedule: null,
};

interface RunOptions {
  readonly clock?: TaskClock;
  /** Bytes per second of the process. */
  readonly rate?: number;
  readonly signal?: AbortSignal;
  readonly progress?: FixityProgress;
  readonly comparison?: FixityProgress["comparison"];
  /** Receives each progress from which a check could go on. */
  readonly checkpoints?: FixityProgress[];
  /** Of the task, which outlive a run. */
  readonly blobs?: Map<string, Uint8Array<ArrayBuffer>>;
  readonly windowKeys?: number;
  /** As that of a job; the slot is never given up when absent. */
  readonly yieldTurn?: () => Promise<boolean>;
}

/** Runs a check as a process does. @returns its progress at the end, and its rows */
export async function runFixity(
  { s3 }: FixityStore,
  request: Partial<FixityProgress["request"]> = {},
  options: RunOptions = {},
): Promise<{ progress: FixityProgress; rows: ReportRow[] }> {
  const signal = options.signal ?? new AbortController().signal;
  const { blobs = new Map<string, Uint8Array<ArrayBuffer>>(), checkpoints } = options;
  const handler = fixityHandler({
    s3,
    rate: options.rate ?? null,
    clock: options.clock ?? PROCESS_CLOCK,
    retryMs: [1, 1],
    figures: new FixityFigures(),
    windowKeys: options.windowKeys,
  });
  const readBlobs = (names: readonly string[]) => Promise.resolve(names.map((name) => blobs.get(name) ?? null));
  const progress = await handler.run({
    id: "6f0e0000-0000-4000-8000-000000000000",
    bucket: "letters",
    caller: { ...CALLER, signal } satisfies Caller,
    progress: options.progress ?? newFixity({
      request: { ...REQUEST, ...request },
      comparison: options.comparison ?? null,
      baseline: null,
      startedAt: Date.now(),
    }),
    signal,
    leaseSignal: signal,
    read: (work) => work(),
    yieldTurn: options.yieldTurn ?? (() => Promise.resolve(false)),
    checkpoint(progress, how) {
      if (how !== "partial") checkpoints?.push(structuredClone(progress));
      return Promise.resolve(signal.throwIfAborted());
    },
    readBlobs,
    writeBlobs: (more) => {
      for (const [name, blob] of more) blobs.set(name, new Uint8Array(blob));
      return Promise.resolve();
    },
  });
  const rows: ReportRow[] = [];
  for await (const chunk of readRows(progress.rows, readBlobs)) rows.push(...chunk);
  return { progress, rows };
}
