import assert from "node:assert/strict";
import { ClusterUnavailable } from "@/lib/kubernetes/cluster_unavailable.ts";
import { clusterReachable } from "@/lib/kubernetes/reachable.ts";

Deno.test("cluster reachable: only a server that answers our question is", async () => {
  const answering = (status: number) => ({ send: () => Promise.resolve({ status, body: new Uint8Array() }) });
  assert.equal(await clusterReachable(answering(200)), true);
  for (const status of [401, 403, 500, 503]) assert.equal(await clusterReachable(answering(status)), false);
  assert.equal(await clusterReachable({ send: () => Promise.reject(new ClusterUnavailable("away")) }), false);
});
