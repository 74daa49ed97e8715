import { CoreV1Api, KubeConfig, makeInformer, Watch } from "@kubernetes/client-node";
import assert from "node:assert/strict";
import { type EmbeddedCluster, startEmbeddedCluster } from "@/embedded/cluster/cluster_server.ts";
import type { ClusterStore } from "@/embedded/cluster/store.ts";
import { openWatch, sampleOptions, withSampleCluster } from "./sample_cluster.ts";

const NAMESPACE = "batch-default";
const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1";

function testWatch(
  name: string,
  use: (cluster: EmbeddedCluster, maps: string, store: ClusterStore) => Promise<void>,
  bookmarkEveryMs?: number,
): void {
  Deno.test(name, () =>
    withSampleCluster(
      (cluster) => use(cluster, `${cluster.url}/api/v1/namespaces/${NAMESPACE}/configmaps`, cluster.simulator.store),
      { bookmarkEveryMs },
    ));
}

function makeMap(store: ClusterStore, name: string, labels: Record<string, string> = {}, namespace = NAMESPACE) {
  return store.create("configmaps", {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: { name, namespace, labels },
    data: { k: "v" },
  });
}

testWatch("watch: events come in order from a version on, deletions at their own", async (_cluster, maps, store) => {
  const from = store.version;
  const watch = await openWatch(`${maps}?watch=true&resourceVersion=${from}`);
  const made = makeMap(store, "a");
  const changed = store.replace("configmaps", { ...made, data: { k: "w" } });
  makeMap(store, "elsewhere", {}, "default");
  store.delete("configmaps", NAMESPACE, "a");
  const seen = [await watch.next(), await watch.next(), await watch.next()];
  assert.deepEqual(seen.map((event) => [event?.type, event?.object.metadata.name, event?.object.data?.k]), [
    ["ADDED", "a", "v"],
    ["MODIFIED", "a", "w"],
    ["DELETED", "a", "w"],
  ]);
  assert.equal(seen[1]?.object.metadata.resourceVersion, changed.metadata.resourceVersion);
  assert.equal(seen[2]?.object.metadata.resourceVersion, String(store.version));
  const again = await openWatch(`${maps}?watch=1&resourceVersion=${changed.metadata.resourceVersion}`);
  assert.equal((await again.next())?.type, "DELETED");
  await Promise.all([watch.close(), again.close()]);
});

testWatch("watch: without a version it begins with the state of now", async (_cluster, maps, store) => {
  const names = store.list("configmaps", NAMESPACE).map((map) => map.metadata.name);
  for (const version of ["", "&resourceVersion=0"]) {
    const watch = await openWatch(`${maps}?watch=true${version}`);
    for (const name of names) {
      const event = await watch.next();
      assert.deepEqual([event?.type, event?.object.metadata.name], ["ADDED", name]);
    }
    await watch.close();
  }
});

testWatch("watch: an object that starts to match is ADDED, one that stops DELETED", async (_cluster, maps, store) => {
  const query = `watch=true&resourceVersion=${store.version}`;
  const byLabel = await openWatch(`${maps}?${query}&labelSelector=colour%3Dred`);
  const byField = await openWatch(`${maps}?${query}&fieldSelector=metadata.name%3Db`);
  const a = makeMap(store, "a", { colour: "blue" });
  const red = store.replace("configmaps", { ...a, metadata: { ...a.metadata, labels: { colour: "red" } } });
  store.replace("configmaps", { ...red, data: { k: "w" } });
  store.replace("configmaps", { ...red, metadata: { ...red.metadata, labels: {} } });
  const left = String(store.version);
  makeMap(store, "b", { colour: "red" });
  const seen = [];
  for (let count = 0; count < 4; count++) seen.push(await byLabel.next());
  assert.deepEqual(seen.map((event) => `${event?.type} ${event?.object.metadata.name}`), [
    "ADDED a",
    "MODIFIED a",
    "DELETED a",
    "ADDED b",
  ]);
  assert.equal(seen[2]?.object.metadata.resourceVersion, left);
  assert.equal((await byField.next())?.object.metadata.name, "b");
  await Promise.all([byLabel.close(), byField.close()]);
});

testWatch("watch: metadata only and tables, each event in its form", async (_cluster, maps, store) => {
  const url = `${maps}?watch=true&resourceVersion=${store.version}`;
  const metadata = await openWatch(url, METADATA);
  const table = await openWatch(url, "application/json;as=Table;v=v1;g=meta.k8s.io");
  makeMap(store, "a");
  const partial = (await metadata.next())?.object;
  assert.equal(partial?.kind, "PartialObjectMetadata");
  assert.deepEqual(Object.keys(partial ?? {}).sort(), ["apiVersion", "kind", "metadata"]);
  assert.deepEqual((await table.next())?.object.rows?.[0].cells.slice(0, 2), ["a", "1"]);
  const listForm = METADATA.replace("Metadata;", "MetadataList;");
  assert.equal((await (await fetch(url, { headers: { accept: listForm } })).json()).code, 406);
  await Promise.all([metadata.close(), table.close()]);
});

testWatch(
  "watch: bookmarks have the latest version, also after changes that it does not select",
  async (_cluster, maps, store) => {
    const query = `watch=true&resourceVersion=${store.version}&allowWatchBookmarks=true&labelSelector=none%3Dnone`;
    for (const [accept, kind] of [["application/json", "ConfigMap"], [METADATA, "PartialObjectMetadata"]]) {
      const watch = await openWatch(`${maps}?${query}`, accept);
      makeMap(store, `unseen-${kind.toLowerCase()}`);
      let event = await watch.next();
      while (event?.object.metadata.resourceVersion !== String(store.version)) {
        assert.equal(event?.type, "BOOKMARK");
        event = await watch.next();
      }
      assert.equal(event.object.kind, kind);
      assert.equal(event.object.metadata.name, undefined);
      await watch.close();
    }
  },
  5,
);

testWatch("watch: timeoutSeconds ends it with a last bookmark", async (_cluster, maps, store) => {
  const query = `watch=true&resourceVersion=${store.version}&timeoutSeconds=1&allowWatchBookmarks=true`;
  const watch = await openWatch(`${maps}?${query}`);
  assert.equal((await watch.next())?.type, "BOOKMARK");
  assert.equal(await watch.next(), null);
});

testWatch(
  "watch: a version that is no longer stored or from another cluster is an ERROR event with a 410, then the end",
  async (_cluster, maps, store) => {
    const old = store.version;
    const [map] = store.list("configmaps");
    for (let change = 0; change < 9000; change++) store.replace("configmaps", map);
    for (const version of [old, store.version + 1]) {
      const watch = await openWatch(`${maps}?watch=true&resourceVersion=${version}`);
      const event = await watch.next();
      assert.deepEqual([event?.type, event?.object.code, event?.object.reason], ["ERROR", 410, "Expired"]);
      assert.equal(await watch.next(), null);
    }
  },
);

testWatch("watch: a reader that falls behind the stored changes gets a 410", async (_cluster, maps, store) => {
  const watch = await openWatch(`${maps}?watch=true&resourceVersion=${store.version}&timeoutSeconds=60`);
  const [map] = store.list("configmaps", NAMESPACE);
  // All in one turn: no event can be read in between.
  for (let change = 0; change < 9000; change++) store.replace("configmaps", map);
  assert.equal((await watch.next())?.object.code, 410);
  assert.equal(await watch.next(), null);
});

testWatch("watch: old versions of large objects are dropped sooner", async (_cluster, maps, store) => {
  const large = store.replace("configmaps", { ...makeMap(store, "large"), data: { k: "x".repeat(1_000_000) } });
  const from = store.version;
  for (let change = 0; change < 40; change++) store.replace("configmaps", large);
  assert.equal(store.changesSince(from), null);
  assert.ok((store.changesSince(store.version - 20) ?? []).length === 20);
  const watch = await openWatch(`${maps}?watch=true&resourceVersion=${store.version - 5}`);
  assert.equal((await watch.next())?.object.metadata.name, "large");
  await watch.close();
});

Deno.test("watch: closing the cluster ends it", async () => {
  const cluster = await startEmbeddedCluster(sampleOptions());
  const watch = await openWatch(
    `${cluster.url}/api/v1/pods?watch=true&resourceVersion=${cluster.simulator.store.version}`,
  );
  const ended = watch.next().then((event) => event === null, () => true);
  await cluster.close();
  assert.ok(await ended);
});

testWatch("watch: invalid parameters are rejected before it begins", async (_cluster, maps) => {
  const cases: [string, number][] = [
    ["watch=maybe", 400],
    ["watch=true&resourceVersion=x", 400],
    ["watch=true&timeoutSeconds=-1", 400],
    ["watch=true&allowWatchBookmarks=perhaps", 400],
    ["watch=true&labelSelector=%3D", 400],
    ["watch=true&fieldSelector=data.k%3Dv", 400],
    ["watch=true&resourceVersion=1&resourceVersionMatch=Exact", 422],
    ["watch=true&sendInitialEvents=true", 422],
  ];
  for (const [query, code] of cases) {
    const answer = await fetch(`${maps}?${query}`);
    assert.equal(answer.status, code, query);
    assert.equal((await answer.json()).kind, "Status");
  }
});

testWatch("lists: versions not reached are 504, and a page shows the current state", async (_cluster, maps, store) => {
  const list = async (query: string) => {
    const answer = await fetch(`${maps}?${query}`);
    return { code: answer.status, body: await answer.json() };
  };
  const cases: [string, number][] = [
    [`resourceVersion=${store.version + 1}`, 504],
    [`resourceVersion=${store.version}&resourceVersionMatch=Exact`, 422],
    [`resourceVersion=1&resourceVersionMatch=NotOlderThan`, 200],
    ["resourceVersionMatch=Newest&resourceVersion=1", 422],
  ];
  for (const [query, code] of cases) assert.equal((await list(query)).code, code, query);
  const first = await list("limit=2");
  makeMap(store, "zz-late");
  const rest = await list(`continue=${first.body.metadata.continue}`);
  const names = [...first.body.items, ...rest.body.items].map((item) => item.metadata.name);
  assert.deepEqual(names, store.list("configmaps", NAMESPACE).map((item) => item.metadata.name));
  assert.equal(rest.body.metadata.resourceVersion, String(store.version));
});

testWatch("watch: client-node's Watch and informer follow it, also over a 410", async (cluster, _maps, store) => {
  const config = new KubeConfig();
  config.loadFromString(cluster.kubeconfig());
  const path = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
  const seen = Promise.withResolvers<string>();
  const watch = new Watch(config);
  const query = { resourceVersion: String(store.version), allowWatchBookmarks: true };
  const request = await watch.watch(
    path,
    query,
    (type, job) => seen.resolve(`${type} ${job.metadata.name}`),
    () => {},
  );
  store.delete("jobs", NAMESPACE, "bergskollegium-1720");
  assert.equal(await seen.promise, "DELETED bergskollegium-1720");
  request.abort();

  const core = config.makeApiClient(CoreV1Api);
  const maps = `/api/v1/namespaces/${NAMESPACE}/configmaps`;
  const informer = makeInformer(config, maps, () => core.listNamespacedConfigMap({ namespace: NAMESPACE }));
  const added = Promise.withResolvers<void>();
  informer.on("add", (map) => {
    if (map.metadata?.name === "late") added.resolve();
  });
  informer.on("error", () => {});
  await informer.start();
  assert.equal(informer.list().length, store.list("configmaps", NAMESPACE).length);
  const [map] = store.list("configmaps", NAMESPACE);
  for (let change = 0; change < 9000; change++) store.replace("configmaps", map);
  makeMap(store, "late");
  await added.promise;
  await informer.stop();
});
