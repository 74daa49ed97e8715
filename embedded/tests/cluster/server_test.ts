import { BatchV1Api, CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import assert from "node:assert/strict";
import { request as httpRequest } from "node:http";
import type { EmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import { CONVENTIONS, withSampleCluster } from "./sample_cluster.ts";

const NAMESPACE = "batch-default";

function testCluster(name: string, use: Parameters<typeof withSampleCluster>[0]): void {
  Deno.test(name, () => withSampleCluster(use));
}

function clients(cluster: EmbeddedCluster) {
  const config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig());
  return { batch: config.makeApiClient(BatchV1Api), core: config.makeApiClient(CoreV1Api) };
}

async function refusal(answer: Promise<Response>): Promise<{ code: number; reason: string; details: unknown }> {
  const response = await answer;
  const body = await response.json();
  assert.equal(body.kind, "Status");
  assert.equal(body.code, response.status);
  return { code: body.code, reason: body.reason, details: body.details };
}

testCluster("cluster: client-node lists campaign Jobs and warm-ups by label and gets one by name", async (cluster) => {
  const { batch } = clients(cluster);
  const labelSelector = `app=${CONVENTIONS.campaignApp},${CONVENTIONS.labelDomain}managed-by=converter`;
  const campaigns = await batch.listNamespacedJob({ namespace: NAMESPACE, labelSelector });
  assert.equal(campaigns.items.length, 7);
  assert.ok(campaigns.items.every((job) => job.spec?.completionMode === "Indexed"));
  const warmups = await batch.listNamespacedJob({
    namespace: NAMESPACE,
    labelSelector: `app=${CONVENTIONS.warmupApp}`,
  });
  assert.deepEqual(warmups.items.map((job) => job.metadata?.name), [
    "warmup-church-books-v1.2",
    "warmup-maps-v1",
    "warmup-swedish-lion-v1",
    "warmup-swedish-lion-v2",
  ]);
  const job = await batch.readNamespacedJob({ namespace: NAMESPACE, name: "bergskollegium-1720" });
  assert.equal(job.status?.completedIndexes, "0-11");
  assert.ok(job.status?.completionTime instanceof Date);
  await assert.rejects(batch.readNamespacedJob({ namespace: NAMESPACE, name: "nope" }), /"code":404|HTTP-Code: 404/);
});

testCluster("cluster: client-node pages through pods by field selector, each pod once", async (cluster) => {
  const { core } = clients(cluster);
  const query = {
    namespace: NAMESPACE,
    labelSelector: "batch.kubernetes.io/job-name=goteborg-domkapitel-1790",
    fieldSelector: "status.phase!=Succeeded",
  };
  const names: (string | undefined)[] = [];
  let _continue: string | undefined;
  do {
    const page = await core.listNamespacedPod({ ...query, limit: 4, _continue });
    assert.ok(page.items.length <= 4);
    names.push(...page.items.map((pod) => pod.metadata?.name));
    _continue = page.metadata?._continue;
  } while (_continue);
  const whole = await core.listNamespacedPod(query);
  assert.deepEqual(names, whole.items.map((pod) => pod.metadata?.name));
  assert.equal(new Set(names).size, 15);
});

testCluster("cluster: discovery names what is served, and nothing else", async (cluster) => {
  const get = async (path: string) => await (await fetch(cluster.url + path)).json();
  assert.deepEqual((await get("/api")).versions, ["v1"]);
  assert.equal((await get("/apis")).groups[0].preferredVersion.groupVersion, "batch/v1");
  const core = await get("/api/v1");
  assert.deepEqual(core.resources.map((resource: { name: string }) => resource.name), [
    "configmaps",
    "namespaces",
    "pods",
  ]);
  assert.equal((await get("/apis/batch/v1")).resources[0].kind, "Job");
  assert.match((await get("/version")).gitVersion, /^v1\./);
  for (const path of ["/openapi/v2", "/apis/apps/v1", "/api/v1/secrets", "/nope", "/api/v1/namespaces/x/nodes"]) {
    assert.equal((await refusal(fetch(cluster.url + path))).code, 404, path);
  }
});

testCluster("cluster: its description says which patches the server checks by itself", async (cluster) => {
  const get = async (path: string) => await (await fetch(cluster.url + path)).json();
  const index = await get("/openapi/v3");
  assert.deepEqual(Object.keys(index.paths), ["api/v1", "apis/batch/v1"]);
  const core = await get(index.paths["api/v1"].serverRelativeURL);
  const { patch } = core.paths["/api/v1/namespaces/{namespace}/configmaps/{name}"];
  assert.equal(patch["x-kubernetes-group-version-kind"].kind, "ConfigMap");
  assert.ok(patch.parameters.some(({ name }: { name: string }) => name === "fieldValidation"));
  assert.deepEqual(Object.keys(core.paths), ["/api/v1/namespaces/{namespace}/configmaps/{name}"]);
});

testCluster("cluster: tables for kubectl, metadata on request, 406 for a form it does not have", async (cluster) => {
  const jobs = `${cluster.url}/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
  const ask = (accept: string, url = jobs) => fetch(url, { headers: { accept } });
  const table = await (await ask("application/json;as=Table;v=v1;g=meta.k8s.io,application/json")).json();
  assert.equal(table.kind, "Table");
  const row = table.rows.find((row: { cells: string[] }) => row.cells[0] === "bergskollegium-1720");
  assert.deepEqual(row.cells.slice(0, 3), ["bergskollegium-1720", "Complete", "12/12"]);
  assert.equal(row.object.kind, "PartialObjectMetadata");
  const partial = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1";
  const list = await (await ask(partial)).json();
  assert.equal(list.kind, "PartialObjectMetadataList");
  assert.deepEqual(Object.keys(list.items[0]).sort(), ["apiVersion", "kind", "metadata"]);
  assert.equal((await refusal(ask("application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1"))).code, 406);
  assert.equal((await refusal(ask("application/vnd.kubernetes.protobuf"))).code, 406);
  const fallback = await (await ask("application/vnd.kubernetes.protobuf, application/json")).json();
  assert.equal(fallback.kind, "JobList");
});

testCluster("cluster: responds only under loopback names, and never to a web page", async (cluster) => {
  const status = (headers: Record<string, string>) => {
    const answered = Promise.withResolvers<number | undefined>();
    httpRequest(`${cluster.url}/version`, { headers }, (response) => {
      response.resume();
      answered.resolve(response.statusCode);
    }).on("error", answered.reject).end();
    return answered.promise;
  };
  assert.equal(await status({ host: "evil.example" }), 421);
  assert.equal(await status({ host: "localhost.evil.example:80" }), 421);
  assert.equal(await status({ host: "127.0.0.1.evil.example" }), 421);
  assert.equal(await status({ host: `localhost:${cluster.port}` }), 200);
  assert.equal(await status({ host: "[::1]" }), 200);
  assert.equal(await status({ origin: cluster.url }), 403);
  assert.equal(await status({ origin: "null" }), 403);
});

testCluster("cluster: ConfigMaps are written and deleted; conflicts and invalid bodies are errors", async (cluster) => {
  const maps = `${cluster.url}/api/v1/namespaces/${NAMESPACE}/configmaps`;
  const send = (method: string, url: string, body: unknown, type = "application/json") =>
    fetch(url, {
      method,
      body: typeof body === "string" ? body : JSON.stringify(body),
      headers: { "content-type": type },
    });
  const made = await send("POST", maps, { metadata: { name: "mine", labels: { a: "b" } }, data: { k: "v" } });
  assert.equal(made.status, 201);
  const before = await made.json();
  assert.match(before.metadata.uid, /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  assert.equal((await refusal(send("POST", maps, { metadata: { name: "mine" } }))).reason, "AlreadyExists");
  const merge = "application/merge-patch+json";
  const patched = await (await send("PATCH", `${maps}/mine`, { data: { k: null, l: "w" } }, merge)).json();
  assert.deepEqual(patched.data, { l: "w" });
  assert.notEqual(patched.metadata.resourceVersion, before.metadata.resourceVersion);
  assert.equal((await refusal(send("PUT", `${maps}/mine`, before))).reason, "Conflict");
  const dry = await send("PATCH", `${maps}/mine?dryRun=All`, { data: { l: "x" } }, merge);
  assert.equal((await dry.json()).data.l, "x");
  assert.equal((await (await fetch(`${maps}/mine`)).json()).data.l, "w");
  const cases: [Promise<Response>, number][] = [
    [send("POST", maps, "not json"), 400],
    [send("POST", maps, "[]"), 400],
    [send("POST", maps, { metadata: { name: "Bad_Name" } }), 422],
    [send("POST", maps, { metadata: { name: "x", namespace: "other" } }), 400],
    [send("POST", maps, { metadata: { name: "x" }, data: { k: 1 } }), 400],
    [send("POST", maps, { metadata: { name: "x" }, data: { "a/b": "" } }), 422],
    [send("POST", maps, { metadata: { name: "x" }, data: { k: "é".repeat(600_000) } }), 422],
    [send("POST", maps, " ".repeat(3 * 1024 * 1024 + 1)), 413],
    [send("POST", `${cluster.url}/api/v1/namespaces/none/configmaps`, { metadata: { name: "x" } }), 404],
    [send("PATCH", `${maps}/mine`, {}, "application/json"), 415],
    [send("PATCH", `${maps}/mine`, {}, "application/vnd.kubernetes.protobuf"), 415],
    [send("POST", maps, {}, "application/vnd.kubernetes.protobuf"), 400],
    [send("POST", maps, {}, "text/plain"), 415],
    [send("PATCH", `${maps}/mine`, { data: { $patch: "replace" } }, "application/strategic-merge-patch+json"), 400],
    [
      send("PATCH", `${maps}/mine`, [{ op: "test", path: "/data/l", value: "?" }], "application/json-patch+json"),
      422,
    ],
    [send("PATCH", `${maps}/mine`, nestingPatch(100), "application/json-patch+json"), 400],
    [send("PATCH", `${maps}/mine`, { metadata: { uid: "other" } }, merge), 422],
    [send("PATCH", `${maps}/mine`, { metadata: { resourceVersion: "1" } }, merge), 409],
    [send("PUT", `${maps}/mine`, { metadata: { name: "mine", uid: "other" } }), 422],
    [send("POST", maps, { metadata: { name: "x" }, spec: {} }), 400],
    [send("POST", maps, { metadata: { generateName: "x-" } }), 422],
    [send("POST", maps, { metadata: { name: "x", labels: { a: "two words" } } }), 422],
    [send("POST", maps, { metadata: { name: "x", labels: { a: "v".repeat(64) } } }), 422],
    [send("POST", maps, { metadata: { name: "x", labels: { a: "ends-" } } }), 422],
    [send("POST", maps, { metadata: { name: "x", labels: { "a/b/c": "v" } } }), 422],
    [send("PATCH", `${maps}/mine`, { metadata: { labels: { "å": "v" } } }, merge), 422],
    [send("POST", maps, { metadata: { name: "x", annotations: { a: "v".repeat(256 * 1024) } } }), 422],
    [send("POST", maps, { metadata: { name: "x", finalizers: ["example.org/held"] } }), 422],
    [send("POST", maps, { metadata: { name: "x", resourceVersion: "1" } }), 400],
    [send("POST", maps, { metadata: { name: "x" }, binaryData: { k: "" } }), 400],
    [send("POST", maps, { metadata: { name: "x" }, data: { "..": "" } }), 422],
    [send("PATCH", `${maps}/none`, {}, merge), 404],
    [send("DELETE", maps, {}), 405],
    [send("DELETE", `${maps}/mine`, { preconditions: { uid: "other" } }), 400],
    [send("POST", `${cluster.url}/api/v1/namespaces/${NAMESPACE}/pods`, { metadata: { name: "x" } }), 405],
    [fetch(`${maps}?limit=-1`), 400],
    [fetch(`${maps}?continue=garbage`), 400],
    [fetch(`${maps}?fieldSelector=data.k%3Dv`), 400],
    [fetch(`${maps}/%ff`), 400],
  ];
  for (const [answer, code] of cases) assert.equal((await refusal(answer)).code, code);
  const strategic = "application/strategic-merge-patch+json";
  const annotated = await send("PATCH", `${maps}/mine`, { metadata: { annotations: { n: "1" } } }, strategic);
  assert.deepEqual((await annotated.json()).metadata.annotations, { n: "1" });
  assert.equal((await send("DELETE", `${maps}/mine`, {})).status, 200);
  assert.deepEqual(await refusal(fetch(`${maps}/mine`)), {
    code: 404,
    reason: "NotFound",
    details: { name: "mine", kind: "configmaps" },
  });
});

testCluster("cluster: of a Job some fields can change; deleting it deletes its pods", async (cluster) => {
  const job = `${cluster.url}/apis/batch/v1/namespaces/${NAMESPACE}/jobs/svea-hovratt-1870`;
  const patch = (body: unknown) =>
    fetch(job, {
      method: "PATCH",
      body: JSON.stringify(body),
      headers: { "content-type": "application/merge-patch+json" },
    });
  assert.equal((await refusal(patch({ spec: { completions: 3 } }))).code, 422);
  assert.equal((await refusal(patch({ spec: { suspend: "yes" } }))).code, 422);
  assert.equal((await patch({ spec: { suspend: true } })).status, 200);
  await cluster.simulator.step(1000);
  const paused = await (await fetch(job)).json();
  assert.equal(paused.status.active, undefined);
  assert.equal(paused.spec.suspend, true);
  const pods = () =>
    cluster.simulator.store.list("pods").filter((pod) => pod.metadata.name.startsWith("svea-hovratt")).length;
  assert.ok(pods() > 0);
  assert.equal((await fetch(job, { method: "DELETE" })).status, 200);
  assert.equal(pods(), 0);
  assert.equal((await fetch(job)).status, 404);
});

/** Objects side by side, each then moved into the next one. */
function nestingPatch(count: number) {
  const made = Array.from({ length: count }, (_, n) => ({ op: "add", path: `/x${n}`, value: {} }));
  const moved = made.slice(1).map(({ path }, n) => ({ op: "move", from: `/x${n}`, path: `${path}/x` }));
  return [...made, ...moved];
}
