import assert from "node:assert/strict";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { FairSlots } from "@/lib/std/fair_slots.ts";
import type { Task } from "@/lib/tasks/task.ts";
import type { TaskStore } from "@/lib/tasks/task_store.ts";
import type { ReadyTask } from "@/lib/tasks/zip/zip_archive.ts";
import { ZipDownloads } from "@/lib/tasks/zip/zip_download.ts";
import { CALLER, type ObjectServer, plannedTask, startObjectServer } from "./object_server.ts";

const MIB = 1024 * 1024;
const OBJECTS: ReadonlyMap<string, Uint8Array<ArrayBuffer>> = new Map([
  ["a", new Uint8Array(2000).fill(1)],
  ["b", new Uint8Array(3 * MIB).fill(2)],
  ["c", new Uint8Array(5 * MIB).fill(3)],
]);

interface Under {
  readonly server: ObjectServer;
  readonly store: TaskStore;
  readonly task: ReadyTask;
  /** How often the task was prolonged. */
  readonly prolonged: () => number;
  readonly call: (headers?: Record<string, string>, method?: string) => Promise<Response>;
}

async function withDownloads(run: (under: Under) => Promise<void>): Promise<void> {
  await using server = startObjectServer();
  for (const [key, bytes] of OBJECTS) server.objects.set(key, bytes);
  const { store, task } = await plannedTask(OBJECTS);
  let prolonged = 0;
  const counted = {
    readBlobs: store.readBlobs.bind(store),
    writeBlobs: store.writeBlobs.bind(store),
    prolong: (id: string) => {
      prolonged++;
      return store.prolong(id);
    },
  };
  const downloads = new ZipDownloads(server.source.s3, counted, new FairSlots(20));
  const stored: Task = {
    ...task,
    kind: "zip",
    owner: "a",
    tenant: null,
    account: null,
    state: "ready",
    progress: "{}",
    sealedCaller: null,
    error: null,
    isCanceling: false,
    updatedAt: task.createdAt,
    endedAt: task.createdAt,
  };
  const progress = { total: 3, completed: 3, failed: 0, failedKeys: [], chunks: 1, plan: task.head };
  const call = (headers = {}, method = "GET") => {
    const request = new Request("http://localhost/", { method, headers });
    const context = { method, request } as Partial<RequestContext> as RequestContext;
    return downloads.respond({ task: stored, progress, caller: CALLER }, context);
  };
  try {
    await run({ server, call, store, task, prolonged: () => prolonged });
  } finally {
    await store.close();
  }
}

/** Reads so many bytes of a response, then leaves. @returns how many it has */
async function begin({ body }: Response, enough: number): Promise<number> {
  const reader = body?.getReader();
  let length = 0;
  while (reader && length < enough) length += (await reader.read()).value?.length ?? 0;
  await reader?.cancel();
  return length;
}

Deno.test("zip download: a client that comes back is sent no bytes of an archive without the object it broke off in", async () => {
  await withDownloads(async ({ server, call }) => {
    const first = await call();
    const etag = first.headers.get("etag") ?? "";
    const length = await begin(first, MIB);
    server.objects.delete("b");
    const other = await call();
    assert.equal(other.status, 200);
    assert.notEqual(other.headers.get("etag"), etag);
    assert.ok((await other.bytes()).length < 6 * MIB);
    const resumed = await call({ range: `bytes=${length}-`, "if-range": etag });
    assert.equal(resumed.status, 200);
    await resumed.body?.cancel();
    // Without a validator its bytes may be of the generation before.
    const guessed = await call({ range: `bytes=${length}-` });
    assert.equal(guessed.status, 200);
    await guessed.body?.cancel();
  });
});

Deno.test("zip download: a range of an archive whose first object is gone before anything was sent is a range", async () => {
  await withDownloads(async ({ server, call }) => {
    server.objects.delete("a");
    const range = await call({ range: "bytes=4000000-" });
    assert.equal(range.status, 206);
    const rest = await range.bytes();
    const whole = await call();
    assert.equal(whole.headers.get("etag"), range.headers.get("etag"));
    assert.deepEqual(rest, (await whole.bytes()).subarray(4_000_000));
  });
});

Deno.test("zip download: a range behind an object that was sent and has changed is the whole archive", async () => {
  await withDownloads(async ({ server, call }) => {
    const length = await begin(await call(), MIB);
    server.objects.set("b", new Uint8Array(3 * MIB).fill(9));
    const range = await call({ range: `bytes=${length + 3 * MIB}-` });
    assert.equal(range.status, 200);
    await range.body?.cancel();
  });
});

Deno.test("zip download: HEAD is of the whole archive and reads no object", async () => {
  await withDownloads(async ({ server, call }) => {
    for (const range of ["bytes=4000000-", "bytes=99999999-"]) {
      const head = await call({ range }, "HEAD");
      assert.deepEqual([head.status, head.headers.get("content-range"), server.reads.length], [200, null, 0]);
    }
  });
});

Deno.test("zip download: it prolongs its task when it starts", async () => {
  await withDownloads(async ({ call, prolonged }) => {
    const response = await call();
    assert.equal(prolonged(), 1);
    await response.body?.cancel();
  });
});

Deno.test("zip download: an archive whose plan is damaged is 404", async () => {
  await withDownloads(async ({ call, store, task }) => {
    await store.writeBlobs(task.id, new Map([["plan/0", new Uint8Array([1, 2, 3])]]));
    await assert.rejects(call(), { status: 404 });
    await assert.rejects(call({ range: "bytes=5-" }), { status: 404 });
  });
});
