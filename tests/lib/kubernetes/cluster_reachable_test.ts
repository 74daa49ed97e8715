import assert from "node:assert/strict";
import { ClusterUnavailable } from "@/lib/kubernetes/cluster_unavailable.ts";
import { clusterReachable } from "@/lib/kubernetes/connection.ts";

Deno.test("cluster reachable: only a server that returns its version is", async () => {
  const answering = (status: number, text = '{"gitVersion":"v1.36.3"}') => ({
    send: () => Promise.resolve({ status, body: new TextEncoder().encode(text) }),
  });
  assert.equal(await clusterReachable(answering(200)), true);
  for (const text of ["", "<html>", "null", "{}", '{"gitVersion":1}']) {
    assert.equal(await clusterReachable(answering(200, text)), false, text);
  }
  for (const status of [401, 403, 500, 503]) assert.equal(await clusterReachable(answering(status)), false);
  assert.equal(await clusterReachable({ send: () => Promise.reject(new ClusterUnavailable("away")) }), false);
});
