import { CoreV1Api, KubeConfig, PatchStrategy, setHeaderOptions } from "@kubernetes/client-node";
import fc from "fast-check";
import assert from "node:assert/strict";
import type { EmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import type { ManagedFields } from "@/embedded/cluster/kube_objects.ts";
import { applyFields, type OwnedContent } from "@/embedded/cluster/managed_fields.ts";
import { START, withSampleCluster } from "./sample_cluster.ts";

const NAMESPACE = "batch-default";
const APPLY = "application/apply-patch+yaml";

interface Answer {
  readonly status: number;
  readonly message: string;
  readonly reason: string;
  readonly details: { readonly causes?: readonly { reason: string; message: string; field: string }[] };
  readonly metadata: {
    readonly uid: string;
    readonly resourceVersion: string;
    readonly labels?: Record<string, string>;
    readonly managedFields?: readonly ManagedFields[];
  };
  readonly data?: Record<string, string>;
}

async function withMaps(
  use: (
    send: (method: string, path: string, body: unknown, type?: string) => Promise<Answer>,
    cluster: EmbeddedCluster,
  ) => Promise<void>,
): Promise<void> {
  await withSampleCluster((cluster) =>
    use(async (method, path, body, type = APPLY) => {
      const answer = await fetch(`${cluster.url}/api/v1/namespaces/${NAMESPACE}/configmaps/${path}`, {
        method,
        body: JSON.stringify(body),
        headers: { "content-type": type, "user-agent": "tester/1.0" },
      });
      return { ...await answer.json(), status: answer.status };
    }, cluster)
  );
}

function testMaps(name: string, ...given: Parameters<typeof withMaps>): void {
  Deno.test(name, () => withMaps(...given));
}

function map(data: Record<string, string>, metadata: Record<string, unknown> = {}) {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "m", ...metadata }, data };
}

function owned({ metadata }: Answer): Record<string, unknown> {
  return Object.fromEntries(
    (metadata.managedFields ?? []).map(({ manager, operation, fieldsV1 }) => [`${manager} ${operation}`, fieldsV1]),
  );
}

testMaps("apply: makes what is not there, and leaves alone what is the same", async (send) => {
  const made = await send("PATCH", "m?fieldManager=a", map({ k: "v" }, { labels: { l: "1" } }));
  assert.equal(made.status, 201);
  assert.deepEqual(owned(made), {
    "a Apply": { "f:data": { "f:k": {} }, "f:metadata": { "f:labels": { "f:l": {} } } },
  });
  const again = await send("PATCH", "m?fieldManager=a", map({ k: "v" }, { labels: { l: "1" } }));
  assert.equal(again.status, 200);
  assert.equal(again.metadata.resourceVersion, made.metadata.resourceVersion);
});

testMaps("apply: another's field with another value is a conflict, and force takes it", async (send) => {
  const made = await send("PATCH", "m?fieldManager=a", map({ k: "v", l: "w" }));
  const refused = await send("PATCH", "m?fieldManager=b", map({ k: "other" }));
  assert.equal(refused.status, 409);
  assert.equal(refused.reason, "Conflict");
  assert.equal(refused.message, 'Apply failed with 1 conflict: conflict with "a": .data.k');
  assert.deepEqual(refused.details.causes, [
    { reason: "FieldManagerConflict", message: 'conflict with "a"', field: ".data.k" },
  ]);
  const several = await send("PATCH", "m?fieldManager=b", map({ k: "other", l: "other" }));
  assert.equal(
    several.message,
    'Apply failed with 2 conflicts:\n- conflict with "a": .data.k\n- conflict with "a": .data.l',
  );
  const forced = await send("PATCH", "m?fieldManager=b&force=true", map({ k: "other" }));
  assert.deepEqual(forced.data, { k: "other", l: "w" });
  assert.deepEqual(owned(forced), { "a Apply": { "f:data": { "f:l": {} } }, "b Apply": { "f:data": { "f:k": {} } } });
  assert.notEqual(forced.metadata.resourceVersion, made.metadata.resourceVersion);
});

testMaps("apply: an outdated version is a conflict, also with force; a uid never creates an object", async (send) => {
  const made = await send("PATCH", "m?fieldManager=a", map({ k: "v" }));
  const { uid, resourceVersion } = made.metadata;
  const changed = await send("PATCH", "m?fieldManager=a", map({ k: "w" }, { uid, resourceVersion }));
  assert.equal(changed.status, 200);
  const stale = await send("PATCH", "m?fieldManager=b&force=true", map({ k: "x" }, { resourceVersion }));
  assert.deepEqual([stale.status, stale.reason], [409, "Conflict"]);
  const foreign = await send("PATCH", "m?fieldManager=b&force=true", map({ k: "x" }, { uid: "other" }));
  assert.deepEqual([foreign.status, foreign.reason], [422, "Invalid"]);
  await send("DELETE", "m", {}, "application/json");
  const gone = await send("PATCH", "m?fieldManager=a&force=true", map({ k: "x" }, { uid }));
  assert.deepEqual([gone.status, gone.reason], [409, "Conflict"]);
  assert.equal((await send("PATCH", "m?fieldManager=a", map({ k: "x" }))).status, 201);
});

testMaps("apply: what another kind of write changes or removes is owned by nobody", async (send) => {
  await send("PATCH", "m?fieldManager=a", map({ k: "v", l: "w", n: "o" }, { labels: { l: "1" } }));
  const changes = { data: { k: "x", l: null } };
  const patched = await send("PATCH", "m", changes, "application/merge-patch+json");
  assert.deepEqual(owned(patched), {
    "a Apply": { "f:data": { "f:n": {} }, "f:metadata": { "f:labels": { "f:l": {} } } },
  });
  assert.equal((await send("PATCH", "m?fieldManager=b", map({ k: "y" }))).data?.k, "y");
  assert.equal((await send("PATCH", "m?fieldManager=a", map({ n: "o" }))).metadata.labels, undefined);
});

testMaps("apply: dry runs say what would be and change nothing", async (send) => {
  const dry = await send("PATCH", "m?fieldManager=a&dryRun=All", map({ k: "v" }));
  assert.deepEqual([dry.status, dry.data], [201, { k: "v" }]);
  assert.equal((await send("PATCH", "m", {}, "application/merge-patch+json")).status, 404);
});

testMaps("apply: invalid requests are rejected", async (send, cluster) => {
  const cases: [string, unknown, number][] = [
    ["m", map({}), 422],
    ["m?fieldManager=a", { kind: "ConfigMap" }, 400],
    ["m?fieldManager=a", { apiVersion: "v1", kind: "Secret" }, 400],
    ["m?fieldManager=a", map({}, { name: "n" }), 400],
    ["m?fieldManager=a", map({}, { namespace: "elsewhere" }), 400],
    ["m?fieldManager=a", map({}, { labels: { l: "å" } }), 422],
    ["M?fieldManager=a", map({}, { name: "M" }), 422],
    ["m?fieldManager=a", { apiVersion: "v1", kind: "ConfigMap" }, 400],
    ["m?fieldManager=a&force=perhaps", map({}), 400],
    ["m?fieldManager=a", { ...map({}), spec: 1 }, 400],
    [`m?fieldManager=${"m".repeat(129)}`, map({}), 422],
    ["m?fieldManager=a", { ...map({}), data: { k: null } }, 400],
  ];
  for (const [path, body, status] of cases) {
    const answer = await send("PATCH", path, body);
    assert.equal(answer.status, status, `${path} ${JSON.stringify(body)}: ${answer.message}`);
  }
  await send("PATCH", "m?fieldManager=a", map({ k: "x".repeat(600_000) }));
  assert.equal((await send("PATCH", "m?fieldManager=b", map({ l: "x".repeat(600_000) }))).status, 422);
  const job = await fetch(`${cluster.url}/apis/batch/v1/namespaces/${NAMESPACE}/jobs/x?fieldManager=a`, {
    method: "PATCH",
    body: "{}",
    headers: { "content-type": APPLY },
  });
  assert.equal((await job.json()).code, 415);
  const nowhere = await fetch(`${cluster.url}/api/v1/namespaces/none/configmaps/m?fieldManager=a`, {
    method: "PATCH",
    body: JSON.stringify(map({})),
    headers: { "content-type": APPLY },
  });
  assert.equal((await nowhere.json()).code, 404);
});

const KEY = fc.constantFrom("a", "b", "c", "__proto__", ".", "f:a", "x/y");
const RECORD = fc.dictionary(KEY, fc.constantFrom("1", "2"), { maxKeys: 4, noNullPrototype: true });
const CONTENT = fc.record({ metadata: fc.record({ labels: RECORD }), data: RECORD });

function members({ metadata, data = {} }: OwnedContent): Map<string, string> {
  const labels = Object.entries(metadata.labels ?? {}).map(([key, value]): [string, string] => [`label ${key}`, value]);
  return new Map([...labels, ...Object.entries(data).map(([key, value]): [string, string] => [`data ${key}`, value])]);
}

const apply = (live: OwnedContent | null, content: OwnedContent, manager: string, force = true, now = START) =>
  applyFields(live, content, { manager, force, now });

Deno.test("apply: afterwards the object says what was applied, and a second apply changes nothing", () => {
  fc.assert(fc.property(CONTENT, CONTENT, CONTENT, (first, second, third) => {
    const one = apply(null, first, "one");
    const last = apply(apply(one.content, second, "two").content, third, "one");
    const now = members(last.content);
    for (const [key, value] of members(third)) assert.equal(now.get(key), value);
    // Members that only the second manager applied remain.
    for (const [key, value] of members(second)) if (!members(third).has(key)) assert.equal(now.get(key), value);
    // Nothing else is.
    assert.deepEqual(new Set(now.keys()), new Set([...members(third).keys(), ...members(second).keys()]));
    assert.deepEqual(apply(last.content, third, "one", false, START + 60_000), last);
  }));
});

Deno.test("apply: without force nothing of another manager changes, or there is a conflict", () => {
  fc.assert(fc.property(CONTENT, CONTENT, (first, second) => {
    const { conflicts } = apply(apply(null, first, "one").content, second, "two", false);
    const differing = [...members(second)].filter(([key, value]) => (members(first).get(key) ?? value) !== value);
    assert.equal(conflicts.length, differing.length);
  }));
});

testMaps("apply: client-node applies as the reading side does", async (_send, cluster) => {
  const config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig());
  const core = config.makeApiClient(CoreV1Api);
  const apply = (data: Record<string, string>, fieldManager: string) =>
    core.patchNamespacedConfigMap(
      { name: "m", namespace: NAMESPACE, fieldManager, body: map(data) },
      setHeaderOptions("Content-Type", PatchStrategy.ServerSideApply),
    );
  const made = await apply({ phase: "Running" }, "web");
  assert.equal(made.metadata?.managedFields?.[0].manager, "web");
  await assert.rejects(apply({ phase: "Succeeded" }, "tool"), /"code":409|HTTP-Code: 409/);
});
