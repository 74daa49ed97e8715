import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { downloadPath, folderPath } from "@/lib/pages/storage/storage_paths.ts";
import { sleep } from "@/lib/std/timing.ts";
import { unzipped } from "@/tests/lib/tasks/zip/strict_zip.ts";
import { REDIS_PROGRAM } from "@/tests/redis_server.ts";
import { sharedByFile } from "@/tests/shared_by_file.ts";
import { until } from "@/tests/until.ts";
import {
  type GatewayClient,
  hasEnded,
  logIn,
  madeDigest,
  poll,
  putMade,
  streamDigest,
} from "@/tests/end_to_end/gateway_client.ts";
import { StorageBrowser } from "@/tests/end_to_end/storage_browser.ts";
import { ROLES } from "@/tests/end_to_end/upstreams.ts";
import { type Replica, type ReplicatedApplication, startReplicated } from "./replicated_application.ts";

/** So many requests of each kind are answered in each phase. */
const ENOUGH = 3;
/** Longer than the test: a second signal ends it. */
const STOP_DELAY = "600";
/** More than the time within which two signals count as one. */
const SAME_SIGNAL_MS = 1100;

const shared = sharedByFile(async () => {
  const application = await startReplicated({
    roleEnv: { STOP_DELAY, MAX_TASKS: "10000", MAX_TASKS_PER_USER: "10000" },
  });
  return { application, traffic: await ReplicaTraffic.start(application.site) };
}, ({ application }) => application.kill());

/** Whether so many requests of each kind were answered since this is called. */
function enoughOf({ answered }: ReplicaTraffic): () => boolean {
  const before = new Map(answered);
  return () => [...answered].every(([kind, count]) => count >= (before.get(kind) ?? 0) + ENOUGH);
}

Deno.test("replicas: one of each role is killed in the middle, no answered request is lost, and the others go on", {
  ignore: REDIS_PROGRAM === null,
}, async () => {
  const { application, traffic } = await shared();
  const victims = ROLES.map((role) => application.replicas(role)[0]);
  let killedAtMs = Infinity;
  let isEnough = () => false;
  const before = enoughOf(traffic);
  const killed = until("requests of each kind", () => before() || null).then(async () => {
    await Promise.all(victims.map(async ({ role, origin, process }) => {
      await application.pool(role).nextSent(origin);
      await process.kill();
    }));
    killedAtMs = performance.now();
    isEnough = enoughOf(traffic);
  });
  await traffic.run(() => isEnough(), killed);
  const late = traffic.unanswered.filter(({ sentAtMs }) => sentAtMs > killedAtMs);
  assert.deepEqual(late, [], "what was sent after the end of the replicas");
  await traffic.check();

  const replaced: Replica[] = [];
  for (const victim of victims) replaced.push(await application.replace(victim));
  await goesOn(application, traffic, replaced);
});

Deno.test("replicas: a restart of each, one after the other, leaves no request unanswered", {
  ignore: REDIS_PROGRAM === null,
}, async () => {
  const { application, traffic } = await shared();
  const unanswered = traffic.unanswered.length;
  let isDone = false;
  const restarts = (async () => {
    for (const n of [0, 1]) {
      const leaving = ROLES.map((role) => application.replicas(role)[n]);
      await Promise.all(leaving.map((replica) => leave(application, replica)));
      for (const replica of leaving) await application.replace(replica);
    }
  })().finally(() => isDone = true);
  await traffic.run(() => isDone, restarts);
  assert.deepEqual(traffic.unanswered.slice(unanswered), []);
  await goesOn(application, traffic, ROLES.flatMap((role) => application.replicas(role)));
});

/** Ends a replica as an orchestrator does: it begins to leave, and ends when it gets no requests any more. */
async function leave(application: ReplicatedApplication, { role, origin, process }: Replica): Promise<void> {
  const pool = application.pool(role);
  Deno.kill(process.pid, "SIGTERM");
  await until(`${origin} says that it leaves`, async () => !(await pool.isServing(origin)) || null);
  await until(`${origin} has no requests`, () => pool.inFlight(origin) === 0 || null);
  // A signal within a second of the first one would count as the same.
  await sleep(SAME_SIGNAL_MS);
  assert.equal((await process.stop()).code, 0);
}

/** Requests of each kind are answered, also by these replicas, and what was acknowledged is there. */
async function goesOn(
  application: ReplicatedApplication,
  traffic: ReplicaTraffic,
  replicas: readonly Replica[],
): Promise<void> {
  const unanswered = traffic.unanswered.length;
  let areUsed = false;
  Promise.all(replicas.map(({ role, origin }) => application.pool(role).nextSent(origin))).then(() => areUsed = true);
  const isEnough = enoughOf(traffic);
  await traffic.run(() => areUsed && isEnough());
  assert.deepEqual(traffic.unanswered.slice(unanswered), []);
  await traffic.check();
}

const ACCOUNT = "archive/curator";
const BUCKET = "traffic";
const OBJECTS = `/buckets/${BUCKET}/objects`;
const WORKERS = 4;
/** Leaves the processors to the processes that start meanwhile, ms. */
const PAUSE_MS = 20;
/** More than a machine under load needs for what is waited for; a run that takes longer fails. */
const MAX_RUN_MS = 300_000;
/** So many of the requests without an answer are named where a run fails. */
const NAMED = 5;
/** Less than are stored of an account once they have ended. */
const MAX_TASKS = 30;
const LONG_BYTES = 2 * 1024 * 1024;
const LONG_DIGEST = madeDigest(LONG_BYTES, 1);
const CHUNKS = 8;
const CHUNK = "x".repeat(32 * 1024);
const FIXED = ["fixed/a", "fixed/b", "fixed/c"];

/** What is written under a key. */
function textOf(key: string): string {
  return `${key} `.repeat(500) + (key.startsWith("chunked/") ? CHUNK.repeat(CHUNKS) : "");
}

/** A request that was not answered: 502, 503, or a connection that was cut. All else that is not expected is an error. */
class Unanswered extends Error {
  override readonly name = "Unanswered";
}

interface Task {
  readonly path: string;
  /** Looks at its end. */
  readonly check: (progress: Record<string, unknown>) => void | Promise<void>;
}

/** Addresses that are read again and again. */
interface Links {
  readonly archive: string;
  readonly result: string;
}

/** Requests of every kind, of clients that know what was acknowledged to them. */
export class ReplicaTraffic {
  readonly #client: GatewayClient;
  readonly #browser: StorageBrowser;
  readonly #site: string;
  readonly #links: Links;
  /** Keys of objects whose writing was acknowledged, and of those whose deletion was. */
  readonly #written = new Set<string>();
  readonly #deleted = new Set<string>();
  readonly #tasks: Task[] = [];
  readonly #kinds: Readonly<Record<string, () => Promise<void>>>;
  readonly #answered: Map<string, number>;
  readonly #unanswered: { readonly kind: string; readonly sentAtMs: number; readonly why: string }[] = [];
  #number = 0;

  private constructor(site: string, client: GatewayClient, browser: StorageBrowser, links: Links) {
    this.#site = site;
    this.#client = client;
    this.#browser = browser;
    this.#links = links;
    this.#kinds = this.#kindsOf(client);
    this.#answered = new Map(Object.keys(this.#kinds).map((kind) => [kind, 0]));
  }

  /** Logs in everywhere, and writes what is read again and again. */
  static async start(site: string): Promise<ReplicaTraffic> {
    const client = await logIn(site, ACCOUNT);
    await client.json("POST", "/buckets", { bucket: BUCKET });
    for (const key of FIXED) await client.json("PUT", `${OBJECTS}/${key}`, key);
    const headers = { authorization: client.authorization };
    assert.equal((await putMade(`${client.base}${OBJECTS}/long`, headers, LONG_BYTES, 1)).status, 200);
    const browser = new StorageBrowser(site);
    assert.equal(await browser.logIn(ACCOUNT), "/");
    const list = await (await browser.fetch("/api/v1/jobs")).json();
    const { namespace, name } = list.find(({ counts }: { counts: { done: number } }) => counts.done > 0);
    const { volumes } = await (await browser.fetch(`/api/v1/jobs/${namespace}/${name}`)).json();
    const { logUrl } = volumes.find(({ state }: { state: string }) => state === "done");
    // Files of what was over at the start are written behind it.
    await until(logUrl, async () => (await browser.fetch(logUrl)).ok || null);
    const archive = await ended(client, await begun(client, "download", { prefix: "fixed/" }));
    const links = { archive: new URL(String(archive.download_url), site).href, result: logUrl };
    return new ReplicaTraffic(site, client, browser, links);
  }

  /** How many requests of each kind were answered, by the kind. */
  get answered(): ReadonlyMap<string, number> {
    return this.#answered;
  }

  /** Those that were not, with the moment by `performance.now` at which they were begun. */
  get unanswered(): readonly { readonly kind: string; readonly sentAtMs: number; readonly why: string }[] {
    return this.#unanswered;
  }

  /**
   * Sends requests of all kinds in turns, a few at a time, until `isEnough`.
   *
   * @param beside what happens meanwhile: the run ends with it where it fails
   * @throws {AssertionError} where it is not enough within `MAX_RUN_MS`, or a response is wrong
   */
  async run(isEnough: () => boolean, beside: Promise<void> = Promise.resolve()): Promise<void> {
    const kinds = Object.entries(this.#kinds);
    let next = 0;
    const ended = new AbortController();
    const workers = Array.from({ length: WORKERS }, async () => {
      while (!isEnough() && !ended.signal.aborted) {
        await this.#attempt(...kinds[next++ % kinds.length]);
        await sleep(PAUSE_MS);
      }
    });
    const tooLong = sleep(MAX_RUN_MS, ended.signal).then(() => {
      if (!ended.signal.aborted) assert.fail(`not enough within ${MAX_RUN_MS} ms: ${this.#counts()}`);
    });
    try {
      // A request may wait without end: the deadline does not wait for it.
      await Promise.race([Promise.all([...workers, beside]), tooLong]);
    } finally {
      ended.abort();
    }
  }

  /** Waits for the end of all tasks, and looks at everything that was acknowledged. */
  async check(): Promise<void> {
    for (const { path, check } of this.#tasks.splice(0)) await check(await ended(this.#client, path));
    const keys = new Set(await this.#listed(""));
    for (const key of this.#written) assert.ok(keys.has(key), `${key} was acknowledged and is lost`);
    for (const key of this.#deleted) assert.ok(!keys.has(key), `${key} was deleted and is there`);
    for (const key of keys) {
      if (!/^(?:put|page|chunked)\//.test(key)) continue;
      const response = await this.#client.call("GET", `${OBJECTS}/${key}`);
      assert.ok(await response.text() === textOf(key), `${key} is not whole`);
    }
  }

  /** How many of each kind were answered, and why the last others were not. */
  #counts(): string {
    const last = this.#unanswered.slice(-NAMED);
    return JSON.stringify({ answered: Object.fromEntries(this.#answered), unanswered: this.#unanswered.length, last });
  }

  #kindsOf(client: GatewayClient): Record<string, () => Promise<void>> {
    return {
      token: async () => {
        const form = new URLSearchParams({ username: ACCOUNT, password: "stackroom-demo" });
        await answered(fetch(`${client.base}/auth/token`, { method: "POST", body: form }));
      },
      put: () => this.#write("put", (key, text) => client.call("PUT", `${OBJECTS}/${key}`, text)),
      chunked: () =>
        this.#write("chunked", (key, text) => {
          const chunks = text.match(/.{1,32768}/g) ?? [];
          const body = ReadableStream.from(chunks).pipeThrough(new TextEncoderStream());
          const headers = { authorization: client.authorization };
          return fetch(`${client.base}${OBJECTS}/${key}`, { method: "PUT", headers, body });
        }),
      "put by page": () =>
        this.#write("page", (key, body) => {
          return this.#browser.fetch(downloadPath({ account: ACCOUNT, bucket: BUCKET, key }), { method: "PUT", body });
        }),
      head: async () => {
        const response = await answered(client.call("HEAD", `${OBJECTS}/long`));
        assert.equal(response.headers.get("content-length"), String(LONG_BYTES));
      },
      get: async () => {
        const { body } = await answered(client.call("GET", `${OBJECTS}/long`));
        assert.equal((await streamDigest(body)).digest, LONG_DIGEST);
      },
      list: async () => {
        const before = [...this.#written.keys()].filter((key) => key.startsWith("chunked/"));
        const keys = new Set(await this.#listed("chunked/"));
        assert.deepEqual(before.filter((key) => !keys.has(key)), []);
      },
      delete: async () => {
        const key = `deleted/${this.#number++}`;
        await answered(client.call("PUT", `${OBJECTS}/${key}`, key));
        await answered(client.call("DELETE", `${OBJECTS}/${key}`));
        this.#deleted.add(key);
        assert.equal((await answered(client.call("GET", `${OBJECTS}/${key}`), 404)).status, 404);
      },
      "deletion task": () =>
        this.#task(async () => {
          const prefix = `task-${this.#number++}/`;
          const keys = [`${prefix}a`, `${prefix}b`, `${prefix}c`];
          for (const key of keys) await answered(client.call("PUT", `${OBJECTS}/${key}`, key));
          const path = await begun(client, "delete-task", { prefixes: [prefix] });
          for (const key of keys) this.#deleted.add(key);
          return {
            path,
            check: ({ status, total, deleted, failed }) =>
              assert.deepEqual([status, total, deleted, failed], ["done", 3, 3, 0], path),
          };
        }),
      "count task": () =>
        this.#task(async () => {
          const path = await begun(client, "s3_stats?prefix=fixed/");
          return {
            path,
            check: ({ status, files }) => assert.deepEqual([status, files], ["ready", FIXED.length], path),
          };
        }),
      "archive task": () =>
        this.#task(async () => {
          const path = await begun(client, "download", { prefix: "fixed/" });
          return {
            path,
            check: ({ status, completed }) => assert.deepEqual([status, completed], ["ready", FIXED.length], path),
          };
        }),
      archive: async () => {
        const response = await answered(fetch(this.#links.archive));
        assert.deepEqual([...unzipped(Buffer.from(await response.bytes())).keys()], FIXED);
      },
      "storage page": async () => {
        const path = folderPath({ account: ACCOUNT, bucket: BUCKET, prefix: "fixed/" });
        assert.match(await (await answered(this.#browser.fetch(path))).text(), /<bdi>a<\/bdi>/);
      },
      "campaign page": async () => {
        assert.match(await (await answered(this.#browser.fetch("/"))).text(), /<main/);
        await answered(this.#browser.fetch("/api/v1/jobs"));
      },
      result: async () => {
        const { user } = await (await answered(this.#browser.fetch("/results/_session"))).json();
        assert.equal(user, "curator");
        assert.ok((await (await answered(this.#browser.fetch(this.#links.result))).text()).length > 0);
      },
    };
  }

  async #attempt(kind: string, send: () => Promise<void>): Promise<void> {
    const sentAtMs = performance.now();
    try {
      await send();
      this.#answered.set(kind, this.#answered.get(kind)! + 1);
    } catch (error) {
      // What `fetch` throws where a connection is cut.
      if (!(error instanceof Unanswered || error instanceof TypeError)) throw error;
      this.#unanswered.push({ kind, sentAtMs, why: error.message });
    }
  }

  /** Starts a task; where there are enough, one of them is polled instead. */
  async #task(start: () => Promise<Task>): Promise<void> {
    if (this.#tasks.length < MAX_TASKS) this.#tasks.push(await start());
    else await (await answered(poll(this.#client, this.#tasks[this.#number++ % MAX_TASKS].path))).json();
  }

  async #write(folder: string, send: (key: string, text: string) => Promise<Response>): Promise<void> {
    const key = `${folder}/${this.#number++}`;
    await answered(send(key, textOf(key)));
    this.#written.add(key);
  }

  async #listed(prefix: string): Promise<string[]> {
    const keys: string[] = [];
    let token: unknown = null;
    do {
      const query = new URLSearchParams({ prefix, ...(token !== null && { continuation_token: String(token) }) });
      const page = await (await answered(this.#client.call("GET", `${OBJECTS}?${query}`))).json();
      for (const { Key } of page.objects) keys.push(Key);
      token = page.next_continuation_token;
    } while (token !== null);
    return keys;
  }
}

/** The response, whose body is still to be read. @throws {Unanswered} */
async function answered(sent: Promise<Response>, expected = 200): Promise<Response> {
  const response = await sent;
  if (response.status === expected) return response;
  const text = await response.text();
  if (response.status === 502 || response.status === 503) throw new Unanswered(`${response.status} ${text}`);
  assert.equal(response.status, expected, `${response.url}: ${text}`);
  return response;
}

/** Starts a task; the path of its progress. */
async function begun(client: GatewayClient, kind: string, body?: unknown): Promise<string> {
  const response = await answered(client.call("POST", `${OBJECTS}/${kind}`, body), 202);
  return `${OBJECTS}/${kind.split("?")[0]}/${(await response.json()).task_id}`;
}

/** Waits for the end of a task. */
async function ended(client: GatewayClient, path: string): Promise<Record<string, unknown>> {
  return await until(`the end of ${path}`, async () => {
    const progress = await (await answered(poll(client, path))).json();
    return hasEnded(progress) ? progress : null;
  });
}
