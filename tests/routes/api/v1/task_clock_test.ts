import assert from "node:assert/strict";
import { SqliteTaskStore } from "@/lib/tasks/sqlite_task_store.ts";
import { FakeClock, settle } from "@/tests/lib/tasks/fake_clock.ts";
import { type FakeAnswer, type Fixture, NOW, withGateway } from "@/tests/routes/gateway_fixture.ts";

const PATH = "/api/v1/buckets/letters/objects";
const HOUR_MS = 3_600_000;

type Progress = Record<string, unknown>;

function page(keys: readonly string[], token: string | null = null): Response {
  const entries = keys.map((key) => `<Contents><Key>${key}</Key><Size>2</Size></Contents>`);
  const next = token === null ? "" : `<NextContinuationToken>${token}</NextContinuationToken>`;
  return new Response(
    `<ListBucketResult><IsTruncated>${token !== null}</IsTruncated>${next}${entries.join("")}</ListBucketResult>`,
  );
}

/** A store that holds a task of each kind in its middle until it is released. */
class MiddleStore {
  readonly #released = Promise.withResolvers<void>();
  /** Requests that were held. */
  readonly held: string[] = [];
  /** Multi-deletes, and keys that were looked up. */
  deletes = 0;
  looked = 0;

  release(): void {
    this.#released.resolve();
  }

  readonly answer: FakeAnswer = async ({ method }, { target }) => {
    const query = new URL(target, "http://store").searchParams;
    if (method === "POST") {
      this.deletes++;
      await this.#hold("delete");
      return new Response("<DeleteResult/>");
    }
    if (method === "HEAD") {
      if (!target.startsWith("/letters/")) return new Response(null);
      this.looked++;
      await this.#hold("look-up");
      return new Response(null, { headers: { etag: '"e"', "content-length": "2" } });
    }
    if (query.get("prefix") === "gone/") return page(query.has("start-after") ? [] : ["gone/1", "gone/2"]);
    if (!query.has("continuation-token") && !query.has("start-after")) return page(["stay/1", "stay/2"], "next");
    await this.#hold("count");
    return page(["stay/3"]);
  };

  async #hold(what: string): Promise<void> {
    this.held.push(what);
    await this.#released.promise;
  }
}

/** Starts a task of each kind; their paths. */
async function startAll({ call }: Fixture): Promise<string[]> {
  const start = async (kind: string, body?: unknown) => {
    const init = { method: "POST", body: body === undefined ? undefined : JSON.stringify(body) };
    const response = await call(`${PATH}/${kind}`, init);
    assert.equal(response.status, 202, await response.clone().text());
    return `${PATH}/${kind.split("?")[0]}/${(await response.json()).task_id}`;
  };
  return [
    await start("s3_stats?prefix=stay/"),
    await start("delete-task", { prefixes: ["gone/"] }),
    await start("download", { keys: ["a", "b"] }),
  ];
}

async function poll({ call }: Fixture, path: string): Promise<Progress> {
  const response = await call(path, { headers: { accept: "application/json" } });
  assert.equal(response.status, 200, path);
  return await response.json();
}

const pollAll = (fixture: Fixture, paths: readonly string[]) => Promise.all(paths.map((path) => poll(fixture, path)));

/** The progress of all tasks when they have ended. */
async function ended(fixture: Fixture, paths: readonly string[]): Promise<Progress[]> {
  for (;;) {
    const all = await pollAll(fixture, paths);
    if (all.every(({ ended_at }) => ended_at !== null)) return all;
  }
}

function assertExact([count, deletion, archive]: readonly Progress[]): void {
  assert.deepEqual([count.status, count.files, count.bytes], ["ready", 3, 6]);
  assert.deepEqual([deletion.status, deletion.total, deletion.deleted, deletion.failed], ["done", 2, 2, 0]);
  assert.deepEqual([archive.status, archive.completed, archive.failed], ["ready", 2, 0]);
}

async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await settle();
}

for (const [where, stepMs] of [["forwards", 2 * HOUR_MS], ["backwards", -2 * HOUR_MS]] as const) {
  Deno.test(`tasks: a restart with a clock two hours ${where} goes on with them`, async () => {
    const folder = await Deno.makeTempDir({ prefix: "stackroom-test-" });
    const open = (offset: number) => {
      const clock = new FakeClock();
      return { clock, store: new SqliteTaskStore(`${folder}/tasks.db`, () => NOW + clock.now() + offset) };
    };
    try {
      let paths: string[] = [];
      const first = new MiddleStore();
      await withGateway({ tasks: open(0) }, async (fixture) => {
        fixture.answer(first.answer);
        paths = await startAll(fixture);
        await until(() => first.held.length === 4);
        // The process stops while the store is at work, whose responses may come too late.
        setTimeout(() => first.release(), 0);
      });
      const second = new MiddleStore();
      second.release();
      const then = open(stepMs);
      await withGateway({ tasks: then, answer: second.answer }, async (fixture) => {
        await then.clock.advance(60_000);
        assertExact(await ended(fixture, paths));
      });
    } finally {
      await Deno.remove(folder, { recursive: true });
    }
  });
}
