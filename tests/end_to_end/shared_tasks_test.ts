import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { CreateBucketCommand, ListObjectsV2Command, type S3Client } from "@aws-sdk/client-s3";
import { RedisClient } from "@/lib/tasks/redis/redis_client.ts";
import { RedisTaskStore } from "@/lib/tasks/redis/redis_task_store.ts";
import { deploymentOf } from "@/lib/tasks/task_keys.ts";
import { type Application, startApplication } from "@/tests/application.ts";
import { mapiAuthorization, startStore } from "@/tests/embedded/store/store_fixture.ts";
import { unzipped } from "@/tests/lib/tasks/zip/strict_zip.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { until } from "@/tests/until.ts";
import { type GatewayClient, logIn } from "./gateway_client.ts";
import { HeldStore } from "./held_store.ts";
import {
  begun,
  BUCKET,
  hasEnded,
  isLaterPage,
  isWholePage,
  keysOf,
  length,
  OBJECTS,
  poll,
  put,
  received,
  shows,
  small,
} from "./held_tasks.ts";

const MIB = 1024 * 1024;
const PASSWORD = "stackroom-demo";
const SECRET = "a key of this test, long enough to sign with";

interface Replicas extends AsyncDisposable {
  readonly redis: RedisServer;
  readonly held: HeldStore;
  readonly s3: S3Client;
  readonly mapi: string;
  readonly applications: readonly Application[];
  readonly clients: readonly GatewayClient[];
  /** Ends the first process as a power cut would. */
  kill(): Promise<void>;
}

/** Two gateways over one Redis and one store, whose responses can be held back. */
async function startReplicas(): Promise<Replicas> {
  const stack = new AsyncDisposableStack();
  try {
    const redis = stack.use(await RedisServer.start());
    const store = stack.use(await startStore());
    const held = stack.use(await HeldStore.start(store.s3("archive")));
    const s3 = store.client("archive", "curator");
    stack.defer(() => s3.destroy());
    await s3.send(new CreateBucketCommand({ Bucket: BUCKET }));
    const env = {
      ROLES: "gateway",
      EMBEDDED: "off",
      HOST: "127.0.0.1",
      API_SECRET_KEY: SECRET,
      HCP_HOST: "127.0.0.1",
      S3_ENDPOINT_URL: held.url,
      REDIS_URL: redis.url,
    };
    const applications: Application[] = [];
    const clients: GatewayClient[] = [];
    const running = new Set<Application>();
    const kill = async (application: Application) => {
      if (running.delete(application)) await application.kill();
    };
    stack.defer(async () => {
      await Promise.all(applications.map(kill));
    });
    for (let number = 0; number < 2; number++) {
      const application = await startApplication({ env });
      running.add(application);
      applications.push(application);
      clients.push(await logIn(application.site, "archive/curator"));
    }
    const mapi = `${store.mapi("archive")}/mapi/tenants/archive`;
    const dispose = stack.move();
    return {
      redis,
      held,
      s3,
      mapi,
      applications,
      clients,
      kill: () => kill(applications[0]),
      [Symbol.asyncDispose]: () => dispose.disposeAsync(),
    };
  } catch (error) {
    await stack.disposeAsync();
    throw error;
  }
}

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

Deno.test({
  name: "shared tasks: another process takes over the tasks of a killed one, and nothing is lost or counted twice",
  ignore: REDIS_PROGRAM === null,
  async fn() {
    await using replicas = await startReplicas();
    const { held, s3, applications: [killed, left], clients: [one, other] } = replicas;
    const [stay, gone] = [keysOf("stay/", 1100), keysOf("gone/", 1100)];
    const films = keysOf("films/", 3).map((key, number) => [key, new Uint8Array(8 * MIB).fill(number + 1)] as const);
    const besides = ["gone", "gone.txt", "gonf/0000"];
    await put(s3, [...small([...stay, ...gone, ...besides]), ...films]);

    const archive = await begun(one, "download", { prefix: "films/" });
    const { download_url: link } = await shows(other, archive, ({ status }) => status === "ready");
    let deletions = 0;
    held.hold((request) => {
      const { method, path } = request;
      const isLastDeletion = method === "POST" && path.includes("?delete") && ++deletions === 3;
      const isLateLookup = method === "HEAD" && path.includes("/stay/") && Number(path.slice(-4)) >= 40;
      const isLastFilm = method === "GET" && path.includes(films[2][0]);
      return isLastDeletion || isLateLookup || isLastFilm || isLaterPage(request, "stay/") ? "response" : null;
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
    await replicas.kill();
    await reading;
    held.release();

    assert.ok(length(chunks) < Number(broken.headers.get("x-zip-size")));
    const bytes = await (await fetch(new URL(String(link), left.site))).bytes();
    assert.equal(bytes.length, Number(broken.headers.get("x-zip-size")));
    const found = unzipped(bytes);
    assert.deepEqual([...found.keys()], films.map(([key]) => key));
    for (const [key, film] of films) assert.ok(Buffer.from(film).equals(found.get(key)!), key);

    const [counted, deleted, planned] = await Promise.all([
      shows(other, count, hasEnded),
      shows(other, deletion, hasEnded),
      shows(other, lookups, hasEnded),
    ]);
    assert.deepEqual([counted.status, counted.files, counted.bytes], ["ready", 1100, 1100 * 6]);
    assert.deepEqual(
      [deleted.status, deleted.total, deleted.deleted, deleted.failed, deleted.errors],
      ["done", 1101, 1101, 0, []],
    );
    assert.deepEqual(
      [planned.status, planned.completed, planned.failed, planned.failed_keys],
      ["ready", 81, 1, ["not there"]],
    );
    assert.deepEqual(await listed(s3), [...films.map(([key]) => key), ...besides, ...stay].sort());
  },
});

Deno.test({
  name: "shared tasks: polls are 503 without Redis, and tasks go on when it is back",
  ignore: REDIS_PROGRAM === null,
  async fn() {
    await using replicas = await startReplicas();
    const { redis, held, s3, clients } = replicas;
    const [one, other] = clients;
    const [stay, gone] = [keysOf("stay/", 20), keysOf("gone/", 20)];
    await put(s3, small([...stay, ...gone]));
    held.hold(({ method, path }) => {
      if (isWholePage({ path }, "stay/")) return "request";
      return method === "POST" && path.includes("?delete") ? "response" : null;
    });
    const tasks = [await begun(one, "s3_stats?prefix=stay/"), await begun(one, "delete-task", { prefixes: ["gone/"] })];
    await shows(other, tasks[0], ({ status }) => status === "counting");
    await shows(other, tasks[1], ({ total }) => total === 20);
    await until("both are held", () => held.held === 2 ? true : null);

    await redis.kill();
    for (const client of clients) {
      for (const task of tasks) {
        const response = await poll(client, task);
        assert.deepEqual([response.status, typeof (await response.json()).detail], [503, "string"]);
        assert.match(response.headers.get("retry-after") ?? "", /^[1-9]\d*$/);
      }
      const start = await client.call("POST", `${OBJECTS}/s3_stats`);
      assert.equal(start.status, 503, await start.text());
    }
    held.release();
    await redis.start();

    for (const client of clients) {
      const isBack = async () => {
        const response = await poll(client, tasks[0]);
        const text = await response.text();
        if (response.status === 503) return null;
        assert.equal(response.status, 200, text);
        return true;
      };
      await until("Redis is reached again", isBack);
      const [counted, deleted] = await Promise.all(tasks.map((task) => shows(client, task, hasEnded)));
      assert.deepEqual([counted.status, counted.files, counted.bytes], ["ready", 20, 20 * 6]);
      assert.deepEqual([deleted.status, deleted.total, deleted.deleted, deleted.failed], ["done", 20, 20, 0]);
    }
    assert.deepEqual(await listed(s3), stay);
  },
});

Deno.test({
  name: "shared tasks: each process shows a task to its owner alone, and it fails when the owner's password changes",
  ignore: REDIS_PROGRAM === null,
  async fn() {
    await using replicas = await startReplicas();
    const { redis, held, s3, mapi, applications, clients: [one, other] } = replicas;
    await put(s3, small(keysOf("stay/", 20)));
    const done = await begun(one, "s3_stats?prefix=stay/");
    assert.deepEqual((await shows(other, done, hasEnded)).files, 20);

    held.hold((request) => isWholePage(request, "stay/") || request.path.includes("?delete") ? "request" : null);
    const tasks = [
      await begun(one, "s3_stats?prefix=stay/"),
      await begun(other, "delete-task", { keys: ["stay/0000"] }),
    ];
    await until("both are held", () => held.held === 2 ? true : null);
    for (const task of tasks) await shows(other, task, ({ ended_at }) => ended_at === null);
    const expectNone = async (username: string, password: string) => {
      for (const { site } of applications) {
        const client = await logIn(site, username, password);
        for (const task of [done, ...tasks]) {
          const response = await poll(client, task);
          assert.deepEqual([response.status, await response.json()], [404, { detail: "Task not found" }], task);
        }
      }
    };
    await expectNone("archive/reader", PASSWORD);

    const changed = await fetch(`${mapi}/userAccounts/curator/changePassword`, {
      method: "POST",
      headers: mapiAuthorization("curator"),
      body: JSON.stringify({ newPassword: "another-1" }),
    });
    assert.equal(changed.status, 200, await changed.text());
    held.release();
    const client = new RedisClient({ url: redis.url, caCerts: [], warn() {} });
    const deployment = deploymentOf(new TextEncoder().encode(SECRET));
    const store = new RedisTaskStore(client, { deployment, warn() {} });
    try {
      for (const path of tasks) {
        const task = await until("the end of a task", async () => {
          const task = await store.get(path.split("/").at(-1)!);
          return task?.state === "running" ? null : task;
        });
        assert.equal(task.state, "failed");
        assert.match(task.error ?? "", /^.*(log in again|may have changed since the task was started).*$/);
        assert.equal(task.sealedCaller, null);
      }
    } finally {
      await store.close();
    }
    await expectNone("archive/curator", "another-1");
  },
});
