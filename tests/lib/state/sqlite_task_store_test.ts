import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { HttpError } from "@/lib/http/errors.ts";
import { openTaskFile, SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import { LEASE_MS, RENEW_MS } from "@/lib/tasks/task.ts";
import { assertNoCredentials, bytesBelow, storeCallers } from "@/tests/lib/tasks/stored_credentials.ts";
import { newTask, testTaskStore } from "./task_store_contract.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

testTaskStore("tasks in SQLite", () => {
  let now = 1_700_000_000_000;
  const store = new SqliteTaskStore(":memory:", () => now);
  return Promise.resolve({
    store,
    advance(ms: number) {
      now += ms;
      return Promise.resolve();
    },
  });
});

const BOUNDS = { maxPerOwner: 10, maxPerTenant: 10, max: 10 };
const TASK = newTask({ id: "d0d0d0d0-0000-4000-8000-000000000000", kind: "delete" });

const HOUR_MS = 3_600_000;

Deno.test("tasks in SQLite: a process that starts takes over what an earlier one left at once, whatever its clock says", async () => {
  for (const stepMs of [0, 2 * HOUR_MS, -2 * HOUR_MS]) {
    await inFolder(async (path) => {
      const earlier = new SqliteTaskStore(path, Date.now);
      await earlier.create(TASK, "earlier", BOUNDS);
      await earlier.close();
      const store = new SqliteTaskStore(path, () => Date.now() + stepMs);
      await store.sweep();
      assert.deepEqual((await store.claim("later", 10)).map(({ id }) => id), [TASK.id], `${stepMs} ms`);
      assert.equal(await store.save(TASK.id, "later", '{"files":1}'), "stored");
      await store.close();
    });
  }
});

/** The layout of version 2, before tasks had a tenant. */
const LAYOUT_2 = `
CREATE TABLE tasks (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, bucket TEXT NOT NULL, state TEXT NOT NULL,
  canceling INTEGER NOT NULL, error TEXT, progress TEXT NOT NULL, caller BLOB, created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL, ended_ms INTEGER, expires_ms INTEGER NOT NULL, holder TEXT, lease_ms INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE blobs (
  task TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (task, name)
) WITHOUT ROWID;
CREATE TRIGGER delete_blobs AFTER DELETE ON tasks BEGIN DELETE FROM blobs WHERE task = old.id; END;
PRAGMA user_version = 2;
`;

Deno.test("file of tasks: the tasks and reports of a file of the version before stay, and new ones have a tenant", () =>
  inFolder(async (path, warnings) => {
    const earlier = new DatabaseSync(path);
    earlier.exec(LAYOUT_2);
    const now = Date.now();
    const insert = earlier.prepare("INSERT INTO tasks VALUES (?,?,?,?,?,0,NULL,?,?,?,?,?,?,'gone',?)");
    insert.run(
      TASK.id,
      "fixity",
      "alva",
      "letters",
      "running",
      "{}",
      new Uint8Array([1]),
      now,
      now,
      null,
      now + 1e9,
      now + 9e4,
    );
    insert.run(
      "report",
      "fixity",
      "alva",
      "letters",
      "ready",
      '{"n":1}',
      null,
      now - 9,
      now - 9,
      now - 9,
      now + 1e9,
      0,
    );
    earlier.prepare("INSERT INTO blobs VALUES ('report', 'rows', ?)").run(new Uint8Array([7]));
    earlier.close();
    for (let starts = 0; starts < 2; starts++) {
      const store = open(path, warnings);
      const report = await store.get("report");
      assert.deepEqual([report?.progress, report?.tenant], ['{"n":1}', null]);
      assert.deepEqual(await store.readBlobs("report", ["rows"]), [new Uint8Array([7])]);
      assert.deepEqual((await store.claim("later", 1)).map(({ id, tenant }) => [id, tenant]), [[TASK.id, null]]);
      await store.create({ ...TASK, id: `new${starts}` }, "a", BOUNDS);
      assert.equal((await store.summaries("archive")).length, starts + 1);
      await store.close();
    }
    assert.deepEqual(warnings, []);
  }));

Deno.test("file of tasks: the operator's command lists and cancels beside the process that works on them", () =>
  inFolder(async (path, warnings) => {
    const store = open(path, warnings);
    await store.create(TASK, "a", BOUNDS);
    const beside = new SqliteTaskStore(path, Date.now, { isBeside: true });
    assert.deepEqual((await beside.summaries(null)).map(({ id, isLeased }) => [id, isLeased]), [[TASK.id, true]]);
    await beside.cancel(TASK.id);
    await beside.close();
    assert.equal(await store.save(TASK.id, "a", null), "canceling", "its lease stays");
    await store.close();
    const earlier = new DatabaseSync(path);
    earlier.exec("PRAGMA user_version = 2");
    earlier.close();
    assert.throws(() => new SqliteTaskStore(path, Date.now, { isBeside: true }), /layout 2 is not 3/);
  }));

/** Runs a test in a folder of its own; `warnings` are the lines for the operator. */
async function inFolder(run: (path: string, warnings: string[]) => Promise<void>): Promise<void> {
  const folder = await Deno.makeTempDir();
  using _removal = removeAtEnd(folder);
  await run(`${folder}/tasks.db`, []);
}

const open = (path: string, warnings: string[]) => openTaskFile(path, Date.now, (line) => warnings.push(line));

for (
  const [what, bytes] of [
    ["is not a file of SQLite", new TextEncoder().encode("x".repeat(5000))],
    ["was cut off", null],
  ] as const
) {
  Deno.test(`file of tasks: one that ${what} is renamed, and a new one begun`, () =>
    inFolder(async (path, warnings) => {
      const earlier = open(path, warnings);
      await earlier.create(TASK, "earlier", BOUNDS, new Map([["0", new Uint8Array(100_000)]]));
      await earlier.close();
      if (bytes) await Deno.writeFile(path, bytes);
      else await Deno.truncate(path, (await Deno.stat(path)).size - 20_000);
      const damaged = await Deno.readFile(path);
      const store = open(path, warnings);
      assert.equal(await store.get(TASK.id), null);
      assert.equal(await store.create(TASK, "a", BOUNDS), "created");
      await store.close();
      assert.deepEqual(await Deno.readFile(`${path}.damaged`), damaged);
      assert.equal(warnings.length, 1);
      assert.match(warnings[0], /was damaged: it is .*tasks\.db\.damaged now/);
    }));
}

Deno.test("file of tasks: it and what SQLite puts beside it can be read by its owner only", () =>
  inFolder(async (path, warnings) => {
    const umask = Deno.umask(0);
    try {
      const store = open(path, warnings);
      await store.create(TASK, "a", BOUNDS);
      const folder = path.slice(0, path.lastIndexOf("/"));
      const modes = Array.from(
        Deno.readDirSync(folder),
        ({ name }) => Deno.statSync(`${folder}/${name}`).mode! & 0o777,
      );
      assert.ok(modes.length > 0);
      assert.deepEqual(new Set(modes), new Set([0o600]));
      await store.close();
    } finally {
      Deno.umask(umask);
    }
  }));

Deno.test("file of tasks: nothing of a caller's credentials can be read in it or beside it", () =>
  inFolder(async (path, warnings) => {
    const folder = path.slice(0, path.lastIndexOf("/"));
    const store = open(path, warnings);
    await storeCallers(store);
    const whileOpen = await bytesBelow(folder);
    await store.close();
    for (const shown of [whileOpen, await bytesBelow(folder)]) {
      assert.ok(shown.includes("letters"), "what is not secret can be found");
      assertNoCredentials(shown);
    }
  }));

Deno.test("file of tasks: one that cannot be there ends the start with a line that names it", () =>
  inFolder(async (path, warnings) => {
    await Deno.mkdir(path);
    assert.throws(() => open(path, warnings), /^DataFolderError: The file .*tasks\.db cannot be used/);
  }));

Deno.test("file of tasks: a full disk is 507, and leaves what is stored as it was", () =>
  inFolder(async (path) => {
    const store = new SqliteTaskStore(path, Date.now, { maxPages: 40 });
    await store.create(TASK, "a", BOUNDS);
    const large = new Map([["0", new Uint8Array(1_000_000)]]);
    for (
      const write of [() => store.writeBlobs(TASK.id, large), () => store.save(TASK.id, "a", " ".repeat(1_000_000))]
    ) {
      await assert.rejects(write, (error) => error instanceof HttpError && error.status === 507);
    }
    assert.equal(await store.save(TASK.id, "a", '{"files":1}'), "stored");
    assert.deepEqual(await store.readBlobs(TASK.id, ["0"]), [null]);
    await store.close();
  }));

Deno.test("file of tasks: faults that show while it is used are 500 with a sentence", () =>
  inFolder(async (path) => {
    const store = new SqliteTaskStore(path, Date.now);
    await store.create(TASK, "a", BOUNDS, new Map([["0", new Uint8Array(20_000_000)]]));
    const file = await Deno.open(path, { write: true });
    await file.seek(1_000_000, Deno.SeekMode.Start);
    await file.write(new Uint8Array(1_000_000).fill(255));
    file.close();
    await assert.rejects(store.readBlobs(TASK.id, ["0"]), (error) => {
      assert.ok(error instanceof HttpError);
      assert.deepEqual([error.status, error.detail], [500, error.message]);
      assert.match(error.message, /damaged: a restart/);
      return true;
    });
    await store.close();
  }));

Deno.test("leases: two renewals can fail before one expires", () => {
  assert.ok(3 * RENEW_MS < LEASE_MS);
});
