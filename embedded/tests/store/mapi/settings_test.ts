import assert from "node:assert/strict";
import { CreateBucketCommand, GetBucketVersioningCommand } from "@aws-sdk/client-s3";
import { archiveMapi, callMapi, statusAndText } from "@/embedded/tests/store/mapi_fixture.ts";
import { startStore, type Store, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const RECIPIENT = { address: "a@b.example", importance: "ALL", severity: "NOTICE", type: "GENERAL,SECURITY" };

/** Every settings document, with what may be set in it, and what may not: the member that a refusal names. */
const DOCUMENTS: readonly [path: string, given: Record<string, unknown>, wrong: Record<string, unknown>][] = [
  ["/consoleSecurity", { minimumPasswordLength: 8, loginMessage: "Hej" }, { blockCommonPassword: "maybe" }],
  ["/contactInfo", { city: "Åbo", zipOrPostalCode: "20100" }, { city: "x".repeat(300) }],
  ["/emailNotification", { enabled: true, recipients: { recipient: [RECIPIENT] } }, {
    recipients: { recipient: Array.from({ length: 26 }, () => ({ address: "a@b.example" })) },
  }],
  ["/namespaceDefaults", { hardQuota: "9 GB", description: "New" }, { softQuota: 5 }],
  ["/searchSecurity", {
    ipSettings: {
      allowAddresses: { ipAddress: ["10.0.0.0/8", "192.168.1.0/255.255.255.0, ::1"] },
      denyAddresses: { ipAddress: [] },
      allowIfInBothLists: false,
    },
  }, { ipSettings: { allowAddresses: ["10.0.0.x"] } }],
  ["/permissions", { permission: ["READ"] }, { permission: "READ" }],
  ["/namespaces/letters/permissions", { permission: ["READ", "WRITE"], purgeAllowed: false }, { purgeAllowed: 7 }],
  ["/namespaces/letters/complianceSettings", { retentionDefault: "A+2y-3M", customMetadataChanges: "NONE" }, {
    retentionDefault: "forever",
  }],
  ["/namespaces/letters/customMetadataIndexingSettings", { fullIndexingEnabled: true, excludedAnnotations: "a,b" }, {
    contentClasses: ["none"],
  }],
  ["/namespaces/letters/replicationCollisionSettings", { action: "RENAME", deleteDays: 12 }, { action: "KEEP" }],
  ["/namespaces/letters/protocols/http", { httpEnabled: false, restEnabled: false }, { hs3Enabled: 2 }],
  ["/namespaces/letters/protocols/cifs", { enabled: true, caseForcing: "UPPER" }, { caseForcing: "upper" }],
  ["/namespaces/letters/protocols/nfs", { enabled: true, uid: 12, gid: 13 }, { uid: -1 }],
  ["/namespaces/letters/protocols/smtp", { enabled: true, emailFormat: ".mbox" }, { emailFormat: "mbox" }],
];

async function as(store: Store, user: string, method: string, path: string, body?: unknown): Promise<number> {
  return (await archiveMapi(store, method, path, body, user)).status;
}

Deno.test("settings: each has defaults, changes by member, refuses by name and survives a restart", async () => {
  const store = await startStore();
  const expected = new Map<string, unknown>();
  for (const [path, given, wrong] of DOCUMENTS) {
    const before = (await archiveMapi(store, "GET", path)).json();
    const refused = await archiveMapi(store, "POST", path, { ...given, ...wrong });
    assert.equal(refused.status, "contentClasses" in wrong ? 409 : 400, path);
    const [member] = Object.keys(wrong);
    const inner = member === "ipSettings" ? "allowAddresses" : member;
    assert.ok(refused.text.includes(inner), `${path}: ${refused.text}`);
    assert.deepEqual((await archiveMapi(store, "GET", path)).json(), before, path);

    const changed = await archiveMapi(store, "POST", path, { ...given, odd: 1 });
    assert.deepEqual([changed.status, changed.text], [200, ""], path);
    expected.set(path, { ...before, ...given });
    assert.deepEqual((await archiveMapi(store, "GET", path)).json(), expected.get(path), path);
    assert.equal(await as(store, "curator", "POST", path, {}), 200);
    assert.equal(await as(store, "curator", "DELETE", path), 405, path);
    assert.equal(
      await as(store, "curator", "POST", path.replace("/letters/", "/none/"), {}),
      path.includes("/letters/") ? 404 : 200,
    );
  }
  await store.stop();
  await using again = await startStore(store.folder);
  for (const [path] of DOCUMENTS) {
    assert.deepEqual((await archiveMapi(again, "GET", path)).json(), expected.get(path), path);
  }
});

storeTest("settings: members that a change omits within a record of a document stay", async ({ store }) => {
  const set = async (path: string, document: unknown) =>
    assert.equal((await archiveMapi(store, "POST", path, document)).status, 200);
  const get = async (path: string) => (await archiveMapi(store, "GET", path)).json();
  await set("/consoleSecurity", { ipSettings: { allowIfInBothLists: false } });
  await set("/consoleSecurity", { ipSettings: { denyAddresses: { ipAddress: ["10.0.0.1"] } } });
  assert.deepEqual((await get("/consoleSecurity")).ipSettings, {
    allowAddresses: { ipAddress: ["0.0.0.0/0"] },
    denyAddresses: { ipAddress: ["10.0.0.1"] },
    allowIfInBothLists: false,
  });
  await set("/emailNotification", { emailTemplate: { from: "a@b.example", subject: "$reason" } });
  await set("/emailNotification", { emailTemplate: { body: "$id" } });
  const { emailTemplate } = await get("/emailNotification");
  assert.deepEqual(emailTemplate, { from: "a@b.example", subject: "$reason", body: "$id" });
  await set("/namespaceDefaults", { versioningSettings: { enabled: true } });
  await set("/namespaceDefaults", { versioningSettings: { prune: true } });
  assert.deepEqual((await get("/namespaceDefaults")).versioningSettings, { enabled: true, prune: true });
});

storeTest("settings: a recipient of mails has the store's defaults where nothing is stated", async ({ store }) => {
  const given = [{ address: "a@b.example" }, { address: "c@d.example", severity: "NOTICE" }];
  assert.equal((await archiveMapi(store, "POST", "/emailNotification", { recipients: given })).status, 200);
  const { recipients } = (await archiveMapi(store, "GET", "/emailNotification")).json();
  assert.deepEqual(recipients.recipient, [
    { importance: "MAJOR", severity: "ERROR", type: "GENERAL", address: "a@b.example" },
    { importance: "MAJOR", severity: "NOTICE", type: "GENERAL", address: "c@d.example" },
  ]);
});

storeTest("settings: documents follow a renamed namespace, and are deleted with it", async ({ store }) => {
  assert.equal(await as(store, "curator", "PUT", "/namespaces", { name: "old" }), 200);
  assert.equal(await as(store, "curator", "POST", "/namespaces/old/protocols/nfs", { uid: 5 }), 200);
  assert.equal(
    await as(store, "curator", "PUT", "/namespaces/old/retentionClasses", { name: "r", value: "A+1y" }),
    200,
  );
  assert.equal(await as(store, "curator", "PUT", "/contentClasses", { name: "c", namespaces: ["OLD"] }), 200);
  assert.equal(await as(store, "curator", "POST", "/namespaces/old", { name: "new" }), 200);
  assert.equal((await archiveMapi(store, "GET", "/namespaces/new/protocols/nfs")).json().uid, 5);
  assert.deepEqual((await archiveMapi(store, "GET", "/contentClasses/C")).json().namespaces, ["new"]);
  assert.equal(await as(store, "curator", "DELETE", "/namespaces/new"), 200);
  assert.deepEqual((await archiveMapi(store, "GET", "/contentClasses/c")).json().namespaces, []);
  assert.equal(await as(store, "curator", "PUT", "/namespaces", { name: "new" }), 200);
  assert.equal((await archiveMapi(store, "GET", "/namespaces/new/protocols/nfs")).json().uid, 0);
  assert.deepEqual((await archiveMapi(store, "GET", "/namespaces/new/retentionClasses")).json(), { name: [] });
});

storeTest("namespace defaults: new namespaces follow them, by either protocol", async ({ store }) => {
  const defaults = {
    hardQuota: "9 GB",
    searchEnabled: true,
    optimizedFor: "DEFAULT",
    versioningSettings: { enabled: true },
  };
  assert.equal(await as(store, "curator", "POST", "/namespaceDefaults", defaults), 200);
  const verbose = (await archiveMapi(store, "GET", "/namespaceDefaults?verbose=true")).json();
  assert.deepEqual([verbose.dpl, verbose.hardQuota], ["Dynamic", "9 GB"]);
  assert.equal(await as(store, "curator", "PUT", "/namespaces", { name: "one", hardQuota: "3 GB" }), 200);
  const client = store.client("archive", "curator");
  await client.send(new CreateBucketCommand({ Bucket: "two" }));
  for (const [name, quota] of [["one", "3 GB"], ["two", "9 GB"]]) {
    const record = (await archiveMapi(store, "GET", `/namespaces/${name}`)).json();
    const { hardQuota, searchEnabled, indexingEnabled, optimizedFor } = record;
    assert.deepEqual([hardQuota, searchEnabled, indexingEnabled, optimizedFor], [quota, true, true, "CLOUD"]);
    assert.equal((await client.send(new GetBucketVersioningCommand({ Bucket: name }))).Status, "Enabled");
  }
  const off = { name: "three", versioningSettings: { enabled: false } };
  assert.equal(await as(store, "curator", "PUT", "/namespaces", off), 200);
  assert.equal((await client.send(new GetBucketVersioningCommand({ Bucket: "three" }))).Status, undefined);
});

storeTest("classes: they are created, changed, listed and deleted; invalid ones are rejected", async ({ store }) => {
  const property = { name: "title", expression: "/doc/title", type: "STRING" };
  const made = (body: unknown) => archiveMapi(store, "PUT", "/contentClasses", body);
  assert.equal((await made({ name: "Map", contentProperties: [property], namespaces: ["maps"] })).status, 200);
  assert.equal((await made({ name: "map" })).status, 409);
  assert.equal((await made({ name: "letter", contentProperties: { contentProperty: [property] } })).status, 200);
  assert.match((await made({ name: "x", contentProperties: [{ ...property, name: "a b" }] })).text, /name/);
  assert.match((await made({ name: "x", contentProperties: [{ ...property, type: "STRINGS" }] })).text, /type/);
  assert.match((await made({ name: "x", contentProperties: [{ name: "a" }] })).text, /expression/);
  assert.match((await made({ name: "x", contentProperties: [property, property] })).text, /once/);
  assert.match((await made({ name: "x", namespaces: ["none"] })).text, /namespaces/);
  assert.match((await made({})).text, /name/);
  assert.deepEqual((await archiveMapi(store, "GET", "/contentClasses")).json(), { name: ["letter", "Map"] });
  assert.deepEqual((await archiveMapi(store, "GET", "/contentClasses?verbose=true&filterString=MA")).json(), [{
    name: "Map",
    contentProperties: [{ ...property, multivalued: false, format: null }],
    namespaces: ["maps"],
  }]);
  assert.equal(await as(store, "curator", "POST", "/contentClasses/MAP", { contentProperties: [] }), 200);
  const map = (await archiveMapi(store, "GET", "/contentClasses/map")).json();
  assert.deepEqual([map.contentProperties, map.namespaces], [[], ["maps"]]);
  assert.equal(await as(store, "curator", "POST", "/contentClasses/none", {}), 404);
  const indexing = "/namespaces/maps/customMetadataIndexingSettings";
  assert.equal(await as(store, "curator", "POST", indexing, { contentClasses: { name: ["MAP", "letter"] } }), 200);
  assert.equal(await as(store, "curator", "DELETE", "/contentClasses/map"), 200);
  assert.deepEqual((await archiveMapi(store, "GET", indexing)).json().contentClasses, ["letter"]);
  assert.equal(await as(store, "curator", "DELETE", "/contentClasses/map"), 404);
  assert.equal(await as(store, "curator", "HEAD", "/contentClasses/map"), 302);

  const classes = "/namespaces/maps/retentionClasses";
  const retention = (body: unknown) => archiveMapi(store, "PUT", classes, body);
  assert.equal((await retention({ name: "Long", value: "A+30y", allowDisposition: true })).status, 200);
  assert.equal((await retention({ name: "long", value: "0" })).status, 409);
  assert.match((await retention({ name: "a" })).text, /value/);
  assert.match((await retention({ name: "a", value: "C+Long" })).text, /value/);
  assert.equal((await retention({ name: "a/b ä", value: "-1" })).status, 200);
  assert.deepEqual((await archiveMapi(store, "GET", `${classes}?sortOrder=descending`)).json(), {
    name: ["Long", "a/b ä"],
  });
  const odd = `${classes}/${encodeURIComponent("a/b ä")}`;
  assert.equal(await as(store, "curator", "POST", odd, { description: "d" }), 200);
  assert.deepEqual((await archiveMapi(store, "GET", odd)).json(), {
    name: "a/b ä",
    description: "d",
    allowDisposition: false,
    value: "-1",
  });
  assert.equal(await as(store, "curator", "DELETE", odd), 200);
  assert.equal(await as(store, "curator", "GET", odd), 404);
});

storeTest("tenants: its administrators and the system level each change their own settings", async ({ store }) => {
  const system = (path: string, body: unknown) => statusAndText(callMapi(store, null, "admin", "POST", path, body));
  const own = (body: unknown) => statusAndText(archiveMapi(store, "POST", "", body));
  assert.match(await own({ hardQuota: "900 TB" }), /^403 .*hardQuota/);
  assert.match(await own({ maxNamespacesPerUser: 10_001 }), /^400 .*maxNamespacesPerUser/);
  assert.match(await own({ tenantVisibleDescription: "Ours", tags: { tag: ["a"] }, hardQuota: "100 GB" }), /^200/);
  assert.match(await system("/tenants/archive", { hardQuota: "200 GB", namespaceQuota: 40 }), /^200/);
  assert.match(await system("/tenants/archive", { namespaceQuota: "none" }), /^400 .*namespaceQuota/);
  assert.match(await system("/tenants/none", {}), /^404/);
  const record = (await archiveMapi(store, "GET", "?verbose=true")).json();
  const { hardQuota, namespaceQuota, tenantVisibleDescription, tags } = record;
  assert.deepEqual([hardQuota, namespaceQuota, tenantVisibleDescription, tags], ["200 GB", "40", "Ours", {
    tag: ["a"],
  }]);
  assert.match(await own({ administrationAllowed: false }), /^200/);
  assert.match(await system("/tenants/archive", { administrationAllowed: true }), /^403 .*administrationAllowed/);
  assert.match(await system("/tenants/archive/contactInfo", {}), /^403/);
  assert.deepEqual((await archiveMapi(store, "GET", "/availableServicePlans")).json(), { name: ["Default"] });
  assert.equal((await archiveMapi(store, "GET", "/availableServicePlans/default")).json().name, "Default");
  assert.match(await system("/tenants/archive", { servicePlanSelectionEnabled: false }), /^200/);
  assert.deepEqual((await archiveMapi(store, "GET", "/availableServicePlans")).json(), { name: [] });
  assert.equal(await as(store, "curator", "GET", "/availableServicePlans/Default"), 404);
});

storeTest("lists: namespaces sort by quotas and filter by tags, users by names", async ({ store }) => {
  for (const [name, hardQuota, tag] of [["a", "900 GB", "Red"], ["b", "1 TB", "blue"], ["c", "20 GB", "reddish"]]) {
    assert.equal(await as(store, "curator", "PUT", "/namespaces", { name, hardQuota, tags: { tag: [tag] } }), 200);
  }
  const names = async (path: string, member = "name") => (await archiveMapi(store, "GET", path)).json()[member];
  const sorted = await names("/namespaces?sortType=hardQuota");
  assert.deepEqual(sorted.filter((name: string) => name.length === 1), ["c", "a", "b"]);
  assert.deepEqual(await names("/namespaces?filterType=tag&filterString=RED"), ["a", "c"]);
  assert.deepEqual(await names("/namespaces?filterType=tag"), await names("/namespaces"));
  assert.deepEqual(await names("/userAccounts?offset=1&count=1", "username"), ["curator"]);
  assert.deepEqual(await names("/userAccounts?filterString=RE&sortOrder=descending", "username"), ["reader"]);
  const verbose = (await archiveMapi(store, "GET", "/namespaces?verbose=true&count=2&sortOrder=descending")).json();
  assert.deepEqual(verbose.map(({ name, owner }: Record<string, unknown>) => [name, owner]), [
    ["maps", "curator"],
    ["letters", "curator"],
  ]);
});
