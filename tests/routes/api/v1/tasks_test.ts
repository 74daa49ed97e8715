import assert from "node:assert/strict";
import { storeIdentities } from "@/lib/auth/store_credentials.ts";
import type { AuditEvent } from "@/lib/http/audit_event.ts";
import { LoginRecords } from "@/lib/operations/audit/login_records.ts";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import type { NewTask } from "@/lib/tasks/task.ts";
import { type Fixture, gatewayTest, NOW, withGateway } from "@/tests/routes/gateway_fixture.ts";

const BOUNDS = { maxPerOwner: 9, maxPerTenant: 9, max: 9 };
const id = (n: number) => `d0d0d0d0-0000-4000-8000-00000000000${n}`;
const ADMINISTRATOR = { username: "curator", roles: { role: ["MONITOR", "ADMINISTRATOR"] } };

function stored(n: number, change: Partial<NewTask>): NewTask {
  return {
    id: id(n),
    kind: "delete",
    owner: `owner ${n}`,
    tenant: "archive",
    account: "reader",
    bucket: "letters",
    progress: '{"secret":"a key of an object"}',
    sealedCaller: new Uint8Array([1]),
    ...change,
  };
}

/** A store whose tasks another process works on: two of a tenant, one of another, and one without names. */
async function othersTasks(): Promise<SqliteTaskStore> {
  let now = NOW;
  const store = new SqliteTaskStore(":memory:", () => now++);
  for (
    const task of [
      stored(1, {}),
      stored(2, { kind: "zip", bucket: "maps", account: "anna" }),
      stored(3, { tenant: "research", account: "researcher" }),
      stored(4, { tenant: null, account: null }),
    ]
  ) await store.create(task, "another", BOUNDS);
  await store.end(id(2), "another", { state: "ready", error: null, progress: "{}", keepsCaller: true });
  return store;
}

async function listed({ call }: Fixture) {
  const response = await call("/api/v1/tasks");
  const { scope, tasks } = await response.json();
  return [response.status, scope, tasks?.map((task: { id: string }) => task.id)];
}

const cancel = async ({ call }: Fixture, n: number) => {
  const response = await call(`/api/v1/tasks/${id(n)}/cancel`, { method: "POST" });
  return [response.status, await response.json()];
};
const NOT_FOUND = [404, { detail: "Task not found" }];

/** The answers of a store's management API. */
const mapi = (account: unknown, groups: unknown = null) => (_: unknown, { target }: { readonly target: string }) => {
  const document = target.includes("/groupAccounts") ? groups : target.includes("/userAccounts/") ? account : null;
  return document === null ? new Response(null, { status: 403 }) : Response.json(document);
};

Deno.test("active tasks: an administrator lists and cancels those of its tenant, without their content, and no others", async () => {
  const events: AuditEvent[] = [];
  const record = (event: AuditEvent) => Promise.resolve(void events.push(event));
  const recorder = { requireRoom() {}, record, note: record };
  const store = await othersTasks();
  const audit = { recorder, logins: new LoginRecords(recorder), reader: null };
  await withGateway({ app: { audit }, tasks: { store } }, async (fixture) => {
    fixture.answer(mapi(ADMINISTRATOR));
    const response = await fixture.call("/api/v1/tasks");
    assert.deepEqual(await response.json(), {
      scope: "tenant",
      tasks: [
        ["delete", "running", "reader", "letters"],
        ["zip", "ready", "anna", "maps"],
      ].map(([kind, state, account, bucket], n) => ({
        id: id(n + 1),
        kind,
        state,
        tenant: "archive",
        account,
        bucket,
        started_at: new Date(NOW + [1, 2][n]).toISOString(),
        own: false,
      })),
    });
    assert.deepEqual(await cancel(fixture, 3), NOT_FOUND);
    assert.deepEqual(await cancel(fixture, 4), NOT_FOUND);
    assert.deepEqual(await cancel(fixture, 1), [200, { id: id(1), state: "canceling" }]);
    assert.deepEqual(await cancel(fixture, 2), [200, { id: id(2), state: "canceled" }]);
    assert.equal(await store.save(id(1), "another", null), "canceling");
    assert.equal(await store.save(id(3), "another", null), "stored");
    assert.equal((await store.get(id(2)))?.sealedCaller, null, "it cannot be downloaded");
    const records = events.filter(({ action }) => action === "task_cancel");
    assert.deepEqual(records.map(({ result, details }) => [result, details]), [
      ["succeeded", { task_id: id(1), task: "delete", bucket: "letters", tenant: "archive", account: "reader" }],
      ["succeeded", { task_id: id(2), task: "zip", bucket: "maps", tenant: "archive", account: "anna" }],
    ]);
    assert.equal((await fixture.call("/api/v1/tasks/x/cancel", { method: "POST" })).status, 404);
  });
});

Deno.test("active tasks: a group with the role makes its members administrators", async () => {
  const groups = (
    username: string[],
    role: string[],
  ) => [{ groupname: "g" }, { members: { username }, roles: { role } }];
  await withGateway({ tasks: { store: await othersTasks() } }, async (fixture) => {
    fixture.answer(mapi({ username: "curator" }, groups(["Curator"], ["ADMINISTRATOR"])));
    assert.deepEqual(await listed(fixture), [200, "tenant", [id(1), id(2)]]);
    for (const [members, role] of [[["reader"], "ADMINISTRATOR"], [["curator"], "SECURITY"]] as const) {
      fixture.answer(mapi({ username: "curator" }, groups([...members], [role])));
      assert.deepEqual(await listed(fixture), [200, "own", []]);
    }
  });
});

Deno.test("active tasks: other roles, and whom the store does not know, find no foreign task", async () =>
  withGateway({ tasks: { store: await othersTasks() } }, async (fixture) => {
    for (const role of [["SECURITY", "MONITOR", "COMPLIANCE"], [], ["administrator"]]) {
      fixture.answer(mapi({ username: "curator", roles: { role } }, []));
      assert.deepEqual(await listed(fixture), [200, "own", []]);
      for (const n of [1, 2, 3, 4]) assert.deepEqual(await cancel(fixture, n), NOT_FOUND);
    }
    fixture.answer(() => new Response("no", { status: 503 }));
    assert.ok(Number((await listed(fixture))[0]) >= 502, "who administers is not known");
    assert.ok(Number((await cancel(fixture, 1))[0]) >= 502);
  }));

Deno.test("active tasks: the system level has all, and a generic store no administrators", async () => {
  const identify = storeIdentities("native");
  const store = await othersTasks();
  await withGateway(
    { tasks: { store }, identify: async (claims) => ({ ...await identify(claims), tenant: null }) },
    async (fixture) => {
      fixture.answer(mapi(ADMINISTRATOR));
      assert.deepEqual(await listed(fixture), [200, "all", [1, 2, 3, 4].map(id)]);
      assert.deepEqual(await cancel(fixture, 4), [200, { id: id(4), state: "canceling" }]);
      fixture.answer(mapi({ username: "curator", roles: { role: ["MONITOR", "COMPLIANCE"] } }));
      assert.deepEqual(await cancel(fixture, 3), NOT_FOUND);
    },
  );
  await withGateway({ tasks: { store: await othersTasks() }, gateway: { backend: "generic" } }, async (fixture) => {
    fixture.answer(mapi(ADMINISTRATOR));
    assert.deepEqual(await listed(fixture), [200, "own", []]);
    assert.deepEqual(await cancel(fixture, 1), NOT_FOUND);
  });
});

gatewayTest("active tasks: an owner lists and cancels its own", async (fixture) => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const page = "<ListBucketResult><IsTruncated>false</IsTruncated></ListBucketResult>";
  fixture.answer(async (request, seen) => {
    if (seen.target.startsWith("/mapi")) return mapi({ username: "curator" })(request, seen);
    if (!seen.target.includes("max-keys=1&")) await promise;
    return new Response(page);
  });
  const started = await fixture.call("/api/v1/buckets/letters/objects/s3_stats", { method: "POST" });
  const { task_id } = await started.json();
  const { scope, tasks } = await (await fixture.call("/api/v1/tasks")).json();
  assert.deepEqual([scope, tasks.length, tasks[0].id, tasks[0].own, tasks[0].account], [
    "own",
    1,
    task_id,
    true,
    "curator",
  ]);
  const canceled = await fixture.call(`/api/v1/tasks/${task_id}/cancel`, { method: "POST" });
  assert.deepEqual((await canceled.json()).id, task_id);
  resolve();
  assert.deepEqual(await listed(fixture), [200, "own", []]);
  const poll = await fixture.call(`/api/v1/buckets/letters/objects/s3_stats/${task_id}`);
  assert.equal((await poll.json()).error, "The task was cancelled");
});
