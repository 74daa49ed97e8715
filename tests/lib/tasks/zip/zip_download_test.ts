import assert from "node:assert/strict";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { FairSlots } from "@/lib/std/concurrency.ts";
import type { Task, TaskStore } from "@/lib/tasks/task.ts";
import { ZipDownloads } from "@/lib/tasks/zip/zip_download.ts";
import { CALLER, MODIFIED, type ObjectServer, planned, startObjectServer, storedTask } from "./object_server.ts";

const MIB = 1024 * 1024;
const OBJECTS: ReadonlyMap<string, Uint8Array<ArrayBuffer>> = new Map([
  ["a", new Uint8Array(2000).fill(1)],
  ["b", new Uint8Array(3 * MIB).fill(2)],
  ["c", new Uint8Array(5 * MIB).fill(3)],
]);

interface Under {
  readonly server: ObjectServer;
  readonly store: TaskStore;
  readonly id: string;
  /** How often the task was prolonged. */
  readonly prolonged: () => number;
  /** @param chunks of the plan, of which one is stored */
  readonly call: (init?: RequestInit, chunks?: number) => Promise<Response>;
}

async function withDownloads(run: (under: Under) => Promise<void>): Promise<void> {
  await using server = startObjectServer();
  for (const [key, bytes] of OBJECTS) server.objects.set(key, bytes);
  const archive = await planned(OBJECTS);
  const { store, id } = await storedTask(archive);
  let prolonged = 0;
  const counted = {
    readBlobs: store.readBlobs.bind(store),
    prolong: (id: string) => {
      prolonged++;
      return store.prolong(id);
    },
  };
  const downloads = new ZipDownloads(server.source.s3, counted, new FairSlots(20));
  const task: Task = {
    id,
    kind: "zip",
    owner: "a",
    tenant: null,
    account: null,
    bucket: "letters",
    state: "ready",
    progress: "{}",
    sealedCaller: null,
    error: null,
    isCanceling: false,
    createdAt: MODIFIED,
    updatedAt: MODIFIED,
    endedAt: MODIFIED,
  };
  const call = (init?: RequestInit, chunks = 1) => {
    const progress = { total: 3, completed: 3, failedKeys: [], chunks, plan: archive.sums };
    const request = new Request("http://localhost/", init);
    const context = { method: request.method, request } as Partial<RequestContext> as RequestContext;
    return downloads.respond({ task, progress, caller: CALLER }, context);
  };
  try {
    await run({ server, call, store, id, prolonged: () => prolonged });
  } finally {
    await store.close();
  }
}

Deno.test("zip download: HEAD has the headers and reads no object", () =>
  withDownloads(async ({ server, call }) => {
    const head = await call({ method: "HEAD" });
    assert.deepEqual([head.status, head.body, server.reads.length], [200, null, 0]);
    const archive = await call();
    assert.deepEqual([...head.headers], [...archive.headers]);
    await archive.body?.cancel();
  }));

Deno.test("zip download: what prevents the first byte is the response, and frees the download", () =>
  withDownloads(async ({ server, call }) => {
    for (let time = 0; time < 5; time++) {
      const waiting = Promise.withResolvers<void>();
      const left = Promise.withResolvers<null>();
      server.fault = () => {
        waiting.resolve();
        return left.promise;
      };
      const client = new AbortController();
      const call499 = call({ signal: client.signal });
      await waiting.promise;
      client.abort();
      await assert.rejects(call499, { status: 499 });
      left.resolve(null);
    }
    server.fault = () => new Response("<Error><Code>InvalidAccessKeyId</Code></Error>", { status: 403 });
    for (let time = 0; time < 5; time++) await assert.rejects(call(), { status: 401 });
  }));

Deno.test("zip download: it prolongs its task when it starts", () =>
  withDownloads(async ({ call, prolonged }) => {
    const response = await call();
    assert.equal(prolonged(), 1);
    await response.body?.cancel();
  }));

Deno.test("zip download: an archive whose plan is damaged or gone is 404", () =>
  withDownloads(async ({ call, store, id }) => {
    await assert.rejects(call({}, 2), { status: 404 });
    await store.writeBlobs(id, new Map([["plan/0", new Uint8Array([1, 2, 3])]]));
    await assert.rejects(call(), { status: 404 });
  }));
