import { CreateBucketCommand, ListObjectsV2Command, PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { type Application, gatewayOf, startApplication } from "@/tests/application.ts";
import { mapiAuthorization, startStore } from "@/embedded/tests/store/store_fixture.ts";
import { unzipped } from "@/tests/lib/tasks/zip/strict_zip.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { until } from "@/tests/until.ts";
import { type GatewayClient, hasEnded, logIn, poll } from "./gateway_client.ts";
import { HeldStore, type StoreRequest } from "./held_store.ts";

const MIB = 1024 * 1024;
const BUCKET = "parcels";
const OBJECTS = `/buckets/${BUCKET}/objects`;

/** What a poll of a task returns. */
type Progress = Record<string, unknown>;

/** Puts objects into the bucket. */
async function put(s3: S3Client, entries: readonly (readonly [key: string, body: string | Uint8Array])[]) {
  await forEachConcurrent(entries, 16, async ([Key, Body]) => {
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
  });
}

/** Keys such as `prefix0007`. */
function keysOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => prefix + String(number).padStart(4, "0"));
}

/** Short objects with these keys. */
function small(keys: readonly string[]) {
  return keys.map((key) => [key, "letter"] as const);
}

/** Waits until a task shows something; no poll fails before. */
async function shows(
  client: GatewayClient,
  path: string,
  isShown: (progress: Progress) => boolean,
): Promise<Progress> {
  return await until(path, async () => {
    const response = await poll(client, path);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const progress = JSON.parse(text);
    return isShown(progress) ? progress : null;
  });
}

/** Starts a task; the path of its progress. */
async function begun(client: GatewayClient, kind: string, body?: unknown): Promise<string> {
  const { task_id } = await client.json("POST", `${OBJECTS}/${kind}`, body);
  return `${OBJECTS}/${kind.split("?")[0]}/${task_id}`;
}

/** The query of a request to the store. */
function queryOf({ path }: Pick<StoreRequest, "path">): URLSearchParams {
  return new URL(path, "http://store").searchParams;
}

/** Whether a page of keys is read that is not the first one under this prefix. */
function isLaterPage(request: StoreRequest, prefix: string): boolean {
  const query = queryOf(request);
  return query.get("prefix") === prefix && (query.has("continuation-token") || query.has("start-after"));
}

/** Whether keys under this prefix are counted or listed. A start reads one key, to find whether the bucket exists. */
function isWholePage(request: Pick<StoreRequest, "path">, prefix: string): boolean {
  const query = queryOf(request);
  return query.get("prefix") === prefix && query.get("max-keys") !== "1";
}

/** Reads a body until it ends or breaks off. */
async function received(body: ReadableStream<Uint8Array> | null, chunks: Uint8Array[]): Promise<void> {
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error));
  }
}

/** The sum of the lengths, bytes. */
const length = (chunks: readonly Uint8Array[]) => chunks.reduce((sum, chunk) => sum + chunk.length, 0);

/** A gateway in a process of its own, in front of an S3 server. */
function startGateway(endpoint: string, redisUrl?: string): Promise<Application> {
  return startApplication({ env: { ...gatewayOf(endpoint), ...(redisUrl && { REDIS_URL: redisUrl }) } });
}

interface Scene {
  readonly held: HeldStore;
  readonly s3: S3Client;
  readonly mapi: string;
  readonly applications: readonly Application[];
  readonly clients: readonly GatewayClient[];
}

/** Runs a test with a store that can be held back or cut off, and one gateway, or two over one Redis, in front of it. */
async function withScene(redis: RedisServer | null, run: (scene: Scene) => Promise<void>): Promise<void> {
  await using stack = new AsyncDisposableStack();
  const store = stack.use(await startStore());
  const held = stack.use(await HeldStore.start(store.s3("archive")));
  const s3 = store.client("archive", "curator");
  stack.defer(() => s3.destroy());
  await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
  const applications: Application[] = [];
  const clients: GatewayClient[] = [];
  while (applications.length < (redis ? 2 : 1)) {
    const application = await startGateway(held.url, redis?.url);
    // A test may have ended it already.
    stack.defer(() => application.kill().catch(() => {}));
    applications.push(application);
    clients.push(await logIn(application.site, "archive/curator"));
  }
  const mapi = `${store.mapi("archive")}/mapi/tenants/archive`;
  await run({ held, s3, mapi, applications, clients });
}

/** Objects that are long enough for an archive of them to break off in its last one. */
const FILMS = keysOf("films/", 3).map((key, number) => [key, new Uint8Array(8 * MIB).fill(number + 1)] as const);

/** Whether it looks up one of the later keys under `stay/`, or reads the last film. */
function isLate({ method, path }: StoreRequest): boolean {
  if (method === "HEAD") return path.includes("/stay/") && Number(path.slice(-4)) >= 40;
  return method === "GET" && path.includes(FILMS[2][0]);
}

/** Checks that an archive has all films. */
function assertFilms(archive: Uint8Array): void {
  const found = unzipped(archive);
  assert.deepEqual([...found.keys()], FILMS.map(([key]) => key));
  for (const [key, film] of FILMS) assert.ok(Buffer.from(film).equals(found.get(key)!), key);
}

/** Waits for the ends of a count, a deletion, and an archive of 81 keys of which one is not there. */
async function assertEnds(
  client: GatewayClient,
  tasks: readonly string[],
  numbers: { readonly counted: number; readonly deleted: number },
): Promise<void> {
  const [counted, deleted, planned] = await Promise.all(tasks.map((task) => shows(client, task, hasEnded)));
  assert.deepEqual([counted.status, counted.files, counted.bytes], ["ready", numbers.counted, numbers.counted * 6]);
  assert.deepEqual(
    [deleted.status, deleted.total, deleted.deleted, deleted.failed, deleted.errors],
    ["done", numbers.deleted, numbers.deleted, 0, []],
  );
  assert.deepEqual(
    [planned.status, planned.completed, planned.failed, planned.failed_keys],
    ["ready", 81, 1, ["not there"]],
  );
}

Deno.test("faults of tasks: the store is away for seconds in the middle of each kind, and nothing is lost", () =>
  withScene(null, async ({ held, s3, applications: [{ site }], clients: [client] }) => {
    const [stay, gone] = [keysOf("stay/", 80), keysOf("gone/", 1100)];
    await put(s3, [...small([...stay, ...gone]), ...FILMS]);
    const archive = await begun(client, "download", { prefix: "films/" });
    const { download_url: link } = await shows(client, archive, ({ status }) => status === "ready");

    /** Which kind of task a request is of. */
    const kindOf = (request: StoreRequest): string => {
      const { method } = request;
      if (method === "POST" || queryOf(request).get("prefix") === "gone/") return "delete";
      if (queryOf(request).get("prefix") === "stay/") return "count";
      return method === "HEAD" ? "look-up" : "download";
    };
    let deletions = 0;
    held.hold((request) => {
      const { method } = request;
      // Done by the store, but its response is lost.
      if (method === "POST" && ++deletions === 2) return "response";
      return isLate(request) || isWholePage(request, "stay/") ? "request" : null;
    });
    const tasks = [
      await begun(client, "s3_stats?prefix=stay/"),
      await begun(client, "delete-task", { prefixes: ["gone/"] }),
      await begun(client, "download", { keys: [...stay, "not there"] }),
    ];
    const downloaded = await fetch(new URL(String(link), site));
    const chunks: Uint8Array[] = [];
    const reading = received(downloaded.body, chunks);
    await shows(client, tasks[2], ({ completed }) => Number(completed) > 0);
    await until("the second page is deleted", () => deletions === 2 ? true : null);
    await until("a part of the archive", () => length(chunks) > 10 * MIB ? true : null);

    const tries = new Map<string, number>();
    held.hold((request) => {
      const kind = kindOf(request);
      tries.set(kind, (tries.get(kind) ?? 0) + 1);
      return "cut";
    });
    held.cut();
    const isTriedAgain = () => tries.has("download") && ["count", "delete"].every((kind) => tries.get(kind)! > 1);
    await until("all are tried again", () => isTriedAgain() && tries.has("look-up") ? true : null);
    held.release();

    await assertEnds(client, tasks, { counted: 80, deleted: 1100 });
    const left = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, Prefix: "gone/" }));
    assert.equal(left.KeyCount, 0);

    // An outage that outlasts the tries, or comes in the middle of an object, breaks the download off.
    await reading;
    const isWhole = length(chunks) === Number(downloaded.headers.get("x-zip-size"));
    const bytes = isWhole ? Buffer.concat(chunks) : await (await fetch(new URL(String(link), site))).bytes();
    assertFilms(bytes);
  }));

Deno.test("faults of tasks: a count fails with what it has when its starter's password changes, and says so", () =>
  withScene(null, async ({ held, s3, mapi, applications: [{ site }], clients: [client] }) => {
    await put(s3, small(keysOf("stay/", 1100)));
    held.hold((request) => isLaterPage(request, "stay/") ? "request" : null);
    const count = await begun(client, "s3_stats?prefix=stay/");
    await shows(client, count, ({ files }) => files === 1000);
    const events = await client.call("GET", count, undefined, { accept: "text/event-stream" });
    assert.equal(events.status, 200);
    const changed = await fetch(`${mapi}/userAccounts/curator/changePassword`, {
      method: "POST",
      headers: mapiAuthorization("curator"),
      body: JSON.stringify({ newPassword: "another-1" }),
    });
    assert.equal(changed.status, 200, await changed.text());
    held.release();

    const [, data] = /event: end\ndata: (.*)\n\n$/.exec(await events.text()) ?? [];
    const { status, files, error } = JSON.parse(data);
    assert.deepEqual([status, files], ["failed", 1000]);
    assert.match(error, /They were right when the task was started: log in again and start it again$/);
    const renewed = await logIn(site, "archive/curator", "another-1");
    const theirs = await renewed.call("GET", count);
    assert.deepEqual([theirs.status, await theirs.json()], [404, { detail: "Task not found" }]);
    const again = await shows(renewed, await begun(renewed, "s3_stats?prefix=stay/"), hasEnded);
    assert.deepEqual([again.status, again.files], ["ready", 1100]);
  }));
async function listed(s3: S3Client): Promise<string[]> {
  const keys: string[] = [];
  let ContinuationToken: string | undefined;
  do {
    const page = await s3.send(new ListObjectsV2Command({ Bucket: BUCKET, ContinuationToken }));
    for (const { Key } of page.Contents ?? []) keys.push(Key!);
    ContinuationToken = page.NextContinuationToken;
  } while (ContinuationToken);
  return keys;
}

Deno.test("shared tasks: another process takes over the tasks of a killed one, and nothing is lost or counted twice", {
  ignore: REDIS_PROGRAM === null,
}, async () => {
  await using redis = await RedisServer.start();
  await withScene(redis, async ({ held, s3, applications: [killed, left], clients: [one, other] }) => {
    const [stay, gone] = [keysOf("stay/", 1100), keysOf("gone/", 1100)];
    const besides = ["gone", "gone.txt", "gonf/0000"];
    await put(s3, [...small([...stay, ...gone, ...besides]), ...FILMS]);

    const archive = await begun(one, "download", { prefix: "films/" });
    const { download_url: link } = await shows(other, archive, ({ status }) => status === "ready");
    let deletions = 0;
    held.hold((request) => {
      const { method, path } = request;
      const isLastDeletion = method === "POST" && path.includes("?delete") && ++deletions === 3;
      return isLastDeletion || isLate(request) || isLaterPage(request, "stay/") ? "response" : null;
    });
    const count = await begun(one, "s3_stats?prefix=stay/");
    const deletion = await begun(one, "delete-task", { prefixes: ["gone/"], keys: ["gone/0001", "never there"] });
    const lookups = await begun(one, "download", { keys: [...stay.slice(0, 80), "not there"] });
    const broken = await fetch(new URL(String(link), killed.site));
    const chunks: Uint8Array[] = [];
    const reading = received(broken.body, chunks);

    await shows(other, count, ({ status, files }) => status === "counting" && files === 1000);
    await shows(other, deletion, ({ status, deleted }) => status === "processing" && deleted === 1001);
    await shows(other, lookups, ({ status, completed }) => status === "processing" && Number(completed) > 0);
    await until("the last page is deleted", () => deletions === 3 ? true : null);
    await until("a part of the archive", () => length(chunks) > 10 * MIB ? true : null);
    for (const { site } of [killed, left]) {
      const reader = await logIn(site, "archive/reader");
      for (const task of [archive, count, deletion, lookups]) {
        assert.equal((await poll(reader, task)).status, 404, task);
      }
    }
    await killed.kill();
    await reading;
    held.release();

    assert.ok(length(chunks) < Number(broken.headers.get("x-zip-size")));
    const bytes = await (await fetch(new URL(String(link), left.site))).bytes();
    assert.equal(bytes.length, Number(broken.headers.get("x-zip-size")));
    assertFilms(bytes);

    await assertEnds(other, [count, deletion, lookups], { counted: 1100, deleted: 1101 });
    assert.deepEqual(await listed(s3), [...FILMS.map(([key]) => key), ...besides, ...stay].sort());
  });
});
