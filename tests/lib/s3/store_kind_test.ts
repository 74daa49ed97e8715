import assert from "node:assert/strict";
import { rejectsShortBodies, storeKind } from "@/lib/s3/store_kind.ts";

Deno.test("store kind: known servers by the header that they send, and which of them reject a short body", () => {
  const servers: [server: string | null, kind: string, rejects: boolean][] = [
    ["HCP V9.5.0.12", "hcp", true],
    ["AmazonS3", "aws", true],
    ["MinIO", "minio", true],
    ["MinIO/RELEASE.2026", "minio", true],
    ["Ceph Object Gateway (squid)", "ceph", true],
    ["VERSITYGW", "versitygw", false],
    ["nginx", "unknown", false],
    ["not MinIO", "unknown", false],
    ["", "unknown", false],
    [null, "unknown", false],
  ];
  for (const [server, kind, rejects] of servers) {
    assert.equal(storeKind(server), kind);
    assert.equal(rejectsShortBodies(storeKind(server), false), rejects, String(server));
    assert.equal(rejectsShortBodies(storeKind(server), true), rejects || kind === "versitygw", String(server));
  }
});
