import assert from "node:assert/strict";
import fc from "fast-check";
import { type Call, leaks, withEmbeddedGateway } from "./embedded_gateway.ts";

const BASE = "/tenants/archive/namespaces";

type Settings = Record<string, unknown>;

/** What the store says of a namespace whose maker said nothing. */
const DEFAULTS: Settings = {
  description: "",
  hashScheme: "SHA-256",
  enterpriseMode: true,
  hardQuota: "50 GB",
  softQuota: 85,
  servicePlan: "Default",
  optimizedFor: "CLOUD",
  aclsUsage: "ENFORCED",
  searchEnabled: false,
  indexingEnabled: false,
  replicationEnabled: false,
  readFromReplica: false,
  multipartUploadAutoAbortDays: 30,
  s3UnversionedOverwrite: true,
  tags: { tag: [] },
  owner: "curator",
  ownerType: "LOCAL",
};

const VERSIONING: Settings = {
  enabled: false,
  prune: false,
  pruneDays: 0,
  useDeleteMarkers: true,
  keepDeletionRecords: false,
};

const versioning = fc.record({
  enabled: fc.boolean(),
  prune: fc.boolean(),
  pruneDays: fc.integer({ min: 0, max: 36_500 }),
  useDeleteMarkers: fc.boolean(),
  keepDeletionRecords: fc.boolean(),
}, { requiredKeys: [] });

const changeable = {
  description: fc.string({ unit: "grapheme", maxLength: 40 }).filter((text) => !/\p{Cc}/u.test(text)),
  hardQuota: fc.tuple(fc.integer({ min: 1, max: 900 }), fc.constantFrom("GB", "TB")).map(([n, unit]) => `${n} ${unit}`),
  softQuota: fc.integer({ min: 10, max: 95 }),
  optimizedFor: fc.constantFrom("CLOUD", "ALL"),
  searchEnabled: fc.boolean(),
  readFromReplica: fc.boolean(),
  s3UnversionedOverwrite: fc.boolean(),
  multipartUploadAutoAbortDays: fc.integer({ min: 0, max: 180 }),
  tags: fc.uniqueArray(fc.stringMatching(/^[a-zå0-9]{1,20}$/), { maxLength: 4 }).map((tag) => ({ tag })),
};

/** Names that differ in case only are one. */
const name = fc.constantFrom("alpha", "Alpha", "b-2", "B-2", "c");

type Step =
  | { kind: "create"; name: string; settings: Settings }
  | { kind: "update"; name: string; settings: Settings }
  | { kind: "version"; name: string; settings: Settings }
  | { kind: "rename"; name: string; to: string }
  | { kind: "export"; name: string }
  | { kind: "delete"; name: string };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("create" as const),
    name,
    settings: fc.record({
      ...changeable,
      hashScheme: fc.constantFrom("MD5", "SHA-256", "SHA-512"),
      versioningSettings: versioning,
    }, { requiredKeys: [] }),
  }),
  fc.record({ kind: fc.constant("update" as const), name, settings: fc.record(changeable, { requiredKeys: [] }) }),
  fc.record({ kind: fc.constant("version" as const), name, settings: versioning }),
  fc.record({ kind: fc.constant("rename" as const), name, to: name }),
  fc.record({ kind: fc.constant("export" as const), name }),
  fc.record({ kind: fc.constant("delete" as const), name }),
);

interface Known {
  name: string;
  record: Settings;
  versioning: Settings;
}

/** A plain list of namespaces by their folded names, which does as the store should. */
class Model {
  readonly #known = new Map<string, Known>();

  names(): string[] {
    return [...this.#known.values()].map(({ name }) => name).sort((a, b) => a.toLowerCase() < b.toLowerCase() ? -1 : 1);
  }

  find(name: string): Known | undefined {
    return this.#known.get(name.toLowerCase());
  }

  /** The status of a step's answer, after the model did it. */
  apply(step: Step): number {
    const known = this.find(step.name);
    if (step.kind === "create") {
      if (known) return 409;
      const { versioningSettings, ...given } = step.settings;
      const record = { ...DEFAULTS, ...given, indexingEnabled: given.searchEnabled ?? false };
      this.#known.set(step.name.toLowerCase(), {
        name: step.name,
        record,
        versioning: { ...VERSIONING, ...Object(versioningSettings) },
      });
      return 201;
    }
    if (!known) return 404;
    if (step.kind === "update") known.record = { ...known.record, ...step.settings };
    if (step.kind === "version") known.versioning = { ...known.versioning, ...step.settings };
    if (step.kind === "delete") this.#known.delete(step.name.toLowerCase());
    if (step.kind === "rename") {
      const other = this.find(step.to);
      if (other && other !== known) return 409;
      this.#known.delete(step.name.toLowerCase());
      this.#known.set(step.to.toLowerCase(), { ...known, name: step.to });
    }
    return 200;
  }
}

function perform(call: Call, step: Step) {
  switch (step.kind) {
    case "create":
      return call("PUT", BASE, { name: step.name, ...step.settings });
    case "update":
      return call("POST", `${BASE}/${step.name}`, step.settings);
    case "version":
      return call("POST", `${BASE}/${step.name}/versioningSettings`, step.settings);
    case "rename":
      return call("POST", `${BASE}/${step.name}`, { name: step.to });
    case "export":
      return call("GET", `${BASE}/${step.name}/export`);
    case "delete":
      return call("DELETE", `${BASE}/${step.name}`);
  }
}

/** Of a template, what the model knows. A template is called as it was asked for. */
function asKnown(template: Settings): Known {
  const record = Object.fromEntries(Object.keys(DEFAULTS).map((member) => [member, template[member]]));
  return { name: String(template.name), record, versioning: Object(template.versioning) };
}

Deno.test("namespaces: creating, changing, exporting and deleting them is what a plain model does", leaks, async () => {
  await withEmbeddedGateway(async ({ as }) => {
    const call = as("archive", "curator");
    const others = ["campaigns", "letters", "maps"];
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 12 }), async (steps) => {
        // A run that failed leaves its namespaces to the next one.
        for (const name of ["alpha", "b-2", "c"]) await call("DELETE", `${BASE}/${name}`);
        const model = new Model();
        for (const step of steps) {
          const expected = model.apply(step);
          const answer = await perform(call, step);
          assert.equal(answer.status, expected, `${JSON.stringify(step)}: ${answer.text}`);
          if (step.kind !== "export" || expected !== 200) continue;
          const { namespaces } = answer.json();
          assert.ok(Array.isArray(namespaces));
          assert.deepEqual(namespaces.map(asKnown), [{ ...model.find(step.name), name: step.name }]);
        }
        const list = (await call("GET", BASE)).json().name;
        assert.deepEqual(new Set(Object(list)), new Set([...others, ...model.names()]));
        const names = model.names();
        if (names.length > 0) {
          const all = (await call("GET", `${BASE}/export?names=${names}`)).json().namespaces;
          assert.deepEqual(Object(all).map(asKnown), names.map((name) => model.find(name)));
        }
      }),
      { numRuns: 25 },
    );
  });
});

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
