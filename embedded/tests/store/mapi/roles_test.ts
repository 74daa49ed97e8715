import { account, archiveMapi } from "@/embedded/tests/store/mapi_fixture.ts";
import assert from "node:assert/strict";
import { mapiAuthorization, storeTest } from "@/embedded/tests/store/store_fixture.ts";

const PASSWORD = "secret-1";

/** An account of each kind: with one role, without any, and one that may only make namespaces. */
const ACCOUNTS: Readonly<Record<string, Record<string, unknown>>> = {
  ADM: { roles: { role: ["ADMINISTRATOR"] } },
  SEC: { roles: { role: ["SECURITY"] } },
  MON: { roles: { role: ["MONITOR"] } },
  COM: { roles: { role: ["COMPLIANCE"] } },
  MGR: { allowNamespaceManagement: true },
  NON: {},
};

const ALL_ROLES = "ADM SEC MON COM";
const NS = "/namespaces/letters";
const CORS = {
  cors: "<CORSConfiguration><CORSRule><AllowedOrigin>*</AllowedOrigin><AllowedMethod>GET</AllowedMethod></CORSRule>" +
    "</CORSConfiguration>",
};

/** Settings documents: who reads them, who changes them. */
const DOCUMENTS: readonly [path: string, read: string, write: string][] = [
  ["/consoleSecurity", "ADM SEC", "ADM SEC"],
  ["/searchSecurity", "ADM SEC", "ADM SEC"],
  ["/contactInfo", ALL_ROLES, "ADM"],
  ["/emailNotification", ALL_ROLES, "ADM"],
  ["/namespaceDefaults", ALL_ROLES, "ADM"],
  ["/permissions", ALL_ROLES, "ADM"],
  [`${NS}/versioningSettings`, ALL_ROLES, "ADM"],
  [`${NS}/complianceSettings`, ALL_ROLES, "ADM COM"],
  [`${NS}/permissions`, ALL_ROLES, "ADM"],
  [`${NS}/customMetadataIndexingSettings`, ALL_ROLES, "ADM"],
  [`${NS}/replicationCollisionSettings`, ALL_ROLES, "ADM"],
  ...["http", "cifs", "nfs", "smtp"].map((name): [string, string, string] => [
    `${NS}/protocols/${name}`,
    ALL_ROLES,
    "ADM",
  ]),
  ["/userAccounts/reader/dataAccessPermissions", ALL_ROLES, "ADM"],
  ["/groupAccounts/staff/dataAccessPermissions", ALL_ROLES, "ADM"],
];

/** What is made and deleted by a name, that of the caller. */
const RESOURCES: readonly [path: string, member: string, rest: Record<string, unknown>, read: string, write: string][] =
  [
    ["/userAccounts", "username", account("made"), ALL_ROLES, "ADM SEC"],
    ["/groupAccounts", "groupname", {}, ALL_ROLES, "ADM SEC"],
    ["/contentClasses", "name", {}, ALL_ROLES, "ADM COM"],
    [`${NS}/retentionClasses`, "name", { value: "0" }, ALL_ROLES, "ADM COM"],
    ["/namespaces", "name", {}, `${ALL_ROLES} MGR`, "ADM MGR"],
  ];

type Step = readonly [allowed: string, method: string, path: string, body?: unknown];

const STEPS: readonly Step[] = [
  ...DOCUMENTS.flatMap(([path, read, write]): Step[] => [
    [read, "GET", path],
    [write, "POST", path, path.endsWith("dataAccessPermissions") ? { namespacePermission: [] } : {}],
  ]),
  ...RESOURCES.flatMap(([path, member, rest, read, write]): Step[] => [
    [read, "GET", path],
    [write, "PUT", `${path}?password=${PASSWORD}`, { ...rest, [member]: "made-by-CALLER" }],
    [write, "DELETE", `${path}/made-by-CALLER`],
  ]),
  ...["", NS].flatMap((of): Step[] => [
    [ALL_ROLES, "GET", `${of}/cors`],
    ["ADM", "PUT", `${of}/cors`, CORS],
    ["ADM", "DELETE", `${of}/cors`],
    ["ADM MON", "GET", `${of}/statistics`],
    ["ADM MON", "GET", `${of}/chargebackReport`],
  ]),
  [ALL_ROLES, "GET", ""],
  ["ADM", "POST", "", { tenantVisibleDescription: "x" }],
  ["", "DELETE", ""],
  [ALL_ROLES, "GET", "/availableServicePlans"],
  ["ADM SEC", "POST", "/userAccounts/reader", { description: "x" }],
  ["ADM SEC", "POST", "/userAccounts/reader?password=other-12", {}],
  ["ADM SEC", "POST", "/userAccounts/reader/changePassword", { newPassword: "other-12" }],
  ["ADM SEC", "POST", "/groupAccounts/staff", { roles: { role: [] } }],
  ["ADM COM", "POST", "/contentClasses/kept", { contentProperties: [] }],
  ["ADM COM", "POST", `${NS}/retentionClasses/kept`, { value: "0" }],
  [ALL_ROLES, "GET", NS],
  ["ADM", "POST", NS, { description: "x" }],
  ["ADM", "DELETE", `${NS}/versioningSettings`],
  // One of the accounts is an administrator, too.
  ["ADM", "POST", `/userAccounts?resetPasswords=${PASSWORD}`, {}],
];

storeTest("roles: each may do exactly what the table says in its tenant", async ({ store }) => {
  const curator = async (method: string, path: string, body: unknown) =>
    (await archiveMapi(store, method, path, body)).status;
  for (const [username, more] of Object.entries(ACCOUNTS)) {
    assert.equal(await curator("PUT", `/userAccounts?password=${PASSWORD}`, account(username, more)), 200);
  }
  assert.equal(await curator("PUT", "/groupAccounts", { groupname: "staff" }), 200);
  assert.equal(await curator("PUT", "/contentClasses", { name: "kept" }), 200);
  assert.equal(await curator("PUT", `${NS}/retentionClasses`, { name: "kept", value: "0" }), 200);

  const wrong: string[] = [];
  for (const [allowed, method, path, body] of STEPS) {
    for (const caller of Object.keys(ACCOUNTS)) {
      const given = body === undefined ? undefined : JSON.parse(JSON.stringify(body).replace("CALLER", caller));
      const to = path.replace("CALLER", caller);
      const { status: answered } = await archiveMapi(store, method, to, given, [caller, PASSWORD]);
      const expected = allowed.split(" ").includes(caller) ? 200 : 403;
      if (answered !== expected) wrong.push(`${caller} ${method} ${path}: ${answered}`);
    }
  }
  assert.deepEqual(wrong, []);
});

storeTest("roles: those of the system level's accounts are read there, and at no tenant's level", async ({ store }) => {
  const read = async (level: string | null, user: string, name: string) => {
    const url = `${store.mapi(level)}/mapi/userAccounts/${name}?verbose=true`;
    const response = await fetch(url, { headers: mapiAuthorization(user) });
    return { status: response.status, body: await response.json() };
  };
  const { status, body } = await read(null, "admin", "ADMIN");
  assert.deepEqual([status, body.username], [200, "admin"]);
  assert.ok(body.roles.role.includes("ADMINISTRATOR"));
  assert.equal((await read(null, "admin", "absent")).status, 404);
  assert.equal((await read(null, "curator", "admin")).status, 403);
  assert.equal((await read("archive", "curator", "admin")).status, 404);
});
