import assert from "node:assert/strict";
import { leaks, withEmbeddedGateway } from "./embedded_gateway.ts";

const BASE = "/tenants/archive/namespaces";

type Settings = Record<string, unknown>;

type Step =
  | { kind: "create"; name: string; settings: Settings }
  | { kind: "update"; name: string; settings: Settings }
  | { kind: "version"; name: string; settings: Settings }
  | { kind: "rename"; name: string; to: string }
  | { kind: "export"; name: string }
  | { kind: "delete"; name: string };

interface Known {
  name: string;
  record: Settings;
  versioning: Settings;
}

Deno.test("namespaces: an exported template makes a like one in another tenant", leaks, async () => {
  await withEmbeddedGateway(async ({ as }) => {
    const archive = as("archive", "curator");
    const research = as("research", "researcher");
    const body = { name: "scans", hardQuota: "7 GB", tags: { tag: ["a"] }, versioningSettings: { enabled: true } };
    assert.equal((await archive("PUT", BASE, body)).status, 201);
    const classes = `${BASE}/scans/retentionClasses`;
    assert.equal((await archive("PUT", classes, { name: "short", value: "A+1y" })).status, 201);
    assert.equal((await archive("POST", `${BASE}/scans/protocols/nfs`, { enabled: true, uid: 7 })).status, 200);
    const [template] = Object((await archive("GET", `${BASE}/scans/export`)).json().namespaces);
    assert.deepEqual(template.retentionClasses, [{
      name: "short",
      description: "",
      allowDisposition: false,
      value: "A+1y",
    }]);
    assert.equal(template.protocols.nfs.uid, 7);
    assert.deepEqual(template.protocols.http.hs3Enabled, true);
    // Whoever owns it here is nobody there.
    const made = await research("PUT", "/tenants/research/namespaces", { ...template, owner: null });
    assert.equal(made.status, 201, made.text);
    const record = (await research("GET", "/tenants/research/namespaces/scans?verbose=true")).json();
    assert.deepEqual([record.hardQuota, record.tags, record.owner], ["7 GB", { tag: ["a"] }, "researcher"]);
  });
});

Deno.test(
  "namespaces: what a body names and is absent is 409, and so is what can be set but once",
  leaks,
  async () => {
    await withEmbeddedGateway(async ({ as }) => {
      const call = as("archive", "curator");
      assert.equal((await call("PUT", BASE, { name: "named" })).status, 201);
      const refusals: [string, string, unknown, number][] = [
        ["PUT", BASE, { name: "other", owner: "nobody" }, 409],
        ["PUT", BASE, { name: "other", owner: "curator", ownerType: "EXTERNAL" }, 409],
        ["POST", `${BASE}/named`, { owner: "nobody" }, 409],
        ["POST", `${BASE}/named`, { ownerType: "EXTERNAL" }, 409],
        ["POST", `${BASE}/named`, { aclsUsage: "NOT_ENABLED" }, 409],
        ["PUT", "/tenants/archive/contentClasses", { name: "c", namespaces: ["absent"] }, 409],
        ["POST", `${BASE}/named/customMetadataIndexingSettings`, { contentClasses: ["absent"] }, 409],
      ];
      for (const [method, path, body, status] of refusals) {
        const answer = await call(method, path, body);
        assert.equal(answer.status, status, `${path} ${JSON.stringify(body)}: ${answer.text}`);
      }
      assert.equal((await call("GET", `${BASE}/other`)).status, 404, "nothing is made");
      assert.equal((await call("POST", `${BASE}/named`, { owner: "curator", ownerType: "LOCAL" })).status, 200);
    });
  },
);
