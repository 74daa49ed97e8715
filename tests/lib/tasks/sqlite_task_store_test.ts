import assert from "node:assert/strict";
import { SqliteTaskStore } from "@/lib/tasks/sqlite_task_store.ts";
import { LEASE_MS, RENEW_MS } from "@/lib/tasks/task.ts";
import { testTaskStore } from "./task_store_contract.ts";

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

const BOUNDS = { maxPerOwner: 10, max: 10 };
const TASK = {
  id: "d0d0d0d0-0000-4000-8000-000000000000",
  kind: "delete",
  owner: "alva",
  bucket: "letters",
  progress: "{}",
  sealedCaller: new Uint8Array([1]),
} as const;

Deno.test("tasks in SQLite: a process that starts takes over what an earlier one left at once", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const earlier = new SqliteTaskStore(`${folder}/tasks.db`, Date.now);
    await earlier.create(TASK, "earlier", BOUNDS);
    await earlier.close();
    const store = new SqliteTaskStore(`${folder}/tasks.db`, Date.now);
    assert.deepEqual((await store.claim("later", 10)).map(({ id }) => id), [TASK.id]);
    await store.close();
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("leases: two renewals can fail before one expires", () => {
  assert.ok(3 * RENEW_MS < LEASE_MS);
});
