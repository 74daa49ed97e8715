import assert from "node:assert/strict";

import { type Reach, reachOf } from "@/lib/presentation/storage/reach.ts";

Deno.test("reach: by the host of a link", () => {
  const hosts: Record<Reach, string[]> = {
    machine: ["127.0.0.1:9000", "localhost", "s3.localhost.", "[::1]:9000", "0.0.0.0", "[::ffff:127.0.0.1]", "127.1"],
    network: [
      "10.0.0.1",
      "172.16.0.1",
      "172.31.255.255",
      "192.168.1.1",
      "169.254.1.1",
      "100.64.0.1",
      "[fd00::1]",
      "[fe80::1]",
      "[::ffff:10.0.0.1]",
      "minio",
      "store.local",
      "s3.internal",
    ],
    anywhere: ["archive.example", "8.8.8.8", "172.32.0.1", "100.128.0.1", "[2001:db8::1]", "LOCALHOST.example"],
  };
  for (const [reach, addresses] of Object.entries(hosts)) {
    for (const host of addresses) assert.equal(reachOf(`http://${host}/b/k?x`), reach, host);
  }
});
