import assert from "node:assert/strict";
import { LoginRecords } from "@/lib/audit/login_records.ts";
import type { AuditEvent, AuditTarget } from "@/lib/http/audit_event.ts";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import { withGateway } from "@/tests/routes/gateway_fixture.ts";

const T = "/tenants/archive";
const N = `${T}/namespaces/letters`;

interface Write {
  call: string;
  /** The action and the target of its record. */
  audit: [AuditAction, AuditTarget];
  body?: unknown;
  /** What the store is sent: target, and the body as JSON; undefined: none. */
  target?: string;
  sent?: unknown;
  status?: number;
  answer: unknown;
}

const UPDATED = { status: "updated" };
const DELETED = { status: "deleted" };
const USER = { username: "lena", fullName: "Lena Grön", localAuthentication: true, enabled: true };
const RULES = "<CORSConfiguration/>";

const TENANT = { kind: "tenant", name: "archive" } as const;
const LETTERS = { kind: "bucket", bucket: "letters" } as const;
const LENA = { kind: "account", name: "lena" } as const;
const EDITORS = { kind: "group", name: "editors" } as const;
const CLASS = { kind: "content_class", name: "c" } as const;

const WRITES: Write[] = [
  {
    call: "PUT /tenants?username=kim&password=Secret-1&initialSecurityGroup=g",
    audit: ["tenant_create", { kind: "tenant", name: "new" }],
    body: { name: "new", softQuota: "85", unknown: 1, tags: null },
    target: "/tenants?username=kim&password=Secret-1&forcePasswordChange=false&initialSecurityGroup=g",
    sent: { name: "new", softQuota: 85 },
    status: 201,
    answer: { status: "created", name: "new" },
  },
  {
    call: "PUT /system/tenants?username=kim&password=x&forcePasswordChange=1",
    audit: ["tenant_create", { kind: "tenant", name: "new" }],
    body: { name: "new" },
    target: "/tenants?username=kim&password=x&forcePasswordChange=true",
    sent: { name: "new" },
    status: 201,
    answer: { status: "created", name: "new" },
  },
  {
    call: `POST ${T}`,
    audit: ["tenant_settings", TENANT],
    body: { administrationAllowed: true, other: 1 },
    sent: { administrationAllowed: true },
    answer: UPDATED,
  },
  { call: `DELETE ${T}`, audit: ["tenant_delete", TENANT], answer: DELETED },
  {
    call: `POST ${T}/consoleSecurity`,
    audit: ["tenant_settings", TENANT],
    body: {
      minimumPasswordLength: "8",
      further: 1,
      ipSettings: { allowAddresses: ["10.0.0.0/8"], allowIfInBothLists: false },
    },
    sent: {
      minimumPasswordLength: 8,
      ipSettings: { allowAddresses: { ipAddress: ["10.0.0.0/8"] }, allowIfInBothLists: false },
      further: 1,
    },
    answer: UPDATED,
  },
  {
    call: `POST ${T}/searchSecurity`,
    audit: ["tenant_settings", TENANT],
    body: { ipSettings: { denyAddresses: { ipAddress: ["1.2.3.4"] } } },
    sent: { ipSettings: { denyAddresses: { ipAddress: ["1.2.3.4"] } } },
    answer: UPDATED,
  },
  {
    call: `POST ${T}/contactInfo`,
    audit: ["tenant_settings", TENANT],
    body: { city: "Åbo", fax: "1" },
    sent: { city: "Åbo", fax: "1" },
    answer: UPDATED,
  },
  {
    call: `POST ${T}/emailNotification`,
    audit: ["tenant_settings", TENANT],
    body: { emailTemplate: { from: "a@b" }, recipients: [{ address: "c@d", severity: "ERROR" }] },
    sent: { emailTemplate: { from: "a@b" }, recipients: { recipient: [{ address: "c@d", severity: "ERROR" }] } },
    answer: UPDATED,
  },
  {
    call: `POST ${T}/namespaceDefaults`,
    audit: ["tenant_settings", TENANT],
    body: { softQuota: 70 },
    sent: { softQuota: 70 },
    answer: UPDATED,
  },
  {
    call: `POST ${T}/permissions`,
    audit: ["permissions_change", TENANT],
    body: { permission: ["READ"], deep: { kept: [1] } },
    sent: { permission: ["READ"], deep: { kept: [1] } },
    answer: UPDATED,
  },
  {
    call: `PUT ${T}/cors`,
    audit: ["tenant_settings", TENANT],
    body: { cors: RULES },
    sent: { cors: RULES },
    status: 201,
    answer: { status: "created", tenant: "archive" },
  },
  { call: `DELETE ${T}/cors`, audit: ["tenant_settings", TENANT], answer: DELETED },
  {
    call: `PUT ${T}/userAccounts?password=p%20w`,
    audit: ["account_create", LENA],
    body: { ...USER, forcePasswordChange: false, roles: { role: ["MONITOR"] }, groups: 1 },
    target: `${T}/userAccounts?password=p%20w`,
    sent: { ...USER, forcePasswordChange: false, roles: { role: ["MONITOR"] } },
    status: 201,
    answer: { status: "created", username: "lena" },
  },
  {
    call: `POST ${T}/userAccounts?resetPasswords=New-1`,
    audit: ["password_change", { kind: "account" }],
    sent: {},
    answer: { status: "passwords_reset" },
  },
  {
    call: `POST ${T}/userAccounts/lena?password=`,
    audit: ["account_change", LENA],
    target: `${T}/userAccounts/lena`,
    body: { enabled: false },
    sent: { enabled: false },
    answer: UPDATED,
  },
  {
    call: `POST ${T}/userAccounts/lena?password=x`,
    audit: ["password_change", LENA],
    body: {},
    sent: {},
    answer: UPDATED,
  },
  { call: `DELETE ${T}/userAccounts/lena`, audit: ["account_delete", LENA], answer: DELETED },
  {
    call: `POST ${T}/userAccounts/lena/changePassword`,
    audit: ["password_change", LENA],
    body: { newPassword: "New-1", oldPassword: null },
    sent: { newPassword: "New-1" },
    answer: { status: "password_changed" },
  },
  ...["userAccounts/lena", "groupAccounts/editors"].map((account): Write => ({
    call: `POST ${T}/${account}/dataAccessPermissions`,
    audit: ["permissions_change", account.startsWith("user") ? LENA : EDITORS],
    body: { namespacePermission: [{ namespaceName: "letters", permissions: { permission: ["READ"] } }] },
    sent: { namespacePermission: [{ namespaceName: "letters", permissions: { permission: ["READ"] } }] },
    answer: UPDATED,
  })),
  {
    call: `PUT ${T}/groupAccounts`,
    audit: ["group_create", EDITORS],
    body: { groupname: "editors", roles: { role: ["MONITOR"] } },
    sent: { groupname: "editors", roles: { role: ["MONITOR"] } },
    status: 201,
    answer: { status: "created", groupname: "editors" },
  },
  {
    call: `PUT ${T}/groupAccounts`,
    audit: ["group_create", { kind: "group" }],
    body: { externalGroupID: "S-1" },
    sent: { externalGroupID: "S-1" },
    status: 201,
    answer: { status: "created", groupname: null },
  },
  {
    call: `POST ${T}/groupAccounts/editors`,
    audit: ["group_change", EDITORS],
    body: { allowNamespaceManagement: true },
    sent: { allowNamespaceManagement: true },
    answer: UPDATED,
  },
  { call: `DELETE ${T}/groupAccounts/editors`, audit: ["group_delete", EDITORS], answer: DELETED },
  {
    call: `PUT ${T}/contentClasses`,
    audit: ["content_class_create", CLASS],
    body: {
      name: "c",
      contentProperties: { contentProperty: [{ name: "p", expression: "/a", type: "STRING" }] },
      namespaces: ["letters"],
    },
    sent: { name: "c", contentProperties: [{ name: "p", expression: "/a", type: "STRING" }], namespaces: ["letters"] },
    status: 201,
    answer: { status: "created", name: "c" },
  },
  {
    call: `POST ${T}/contentClasses/c`,
    audit: ["content_class_change", CLASS],
    body: { namespaces: { name: ["x"] } },
    sent: { namespaces: ["x"] },
    answer: UPDATED,
  },
  { call: `DELETE ${T}/contentClasses/c`, audit: ["content_class_delete", CLASS], answer: DELETED },
  {
    call: `PUT ${T}/namespaces`,
    audit: ["bucket_create", { kind: "bucket", bucket: "n" }],
    body: { name: "n", hardQuota: "5 GB", versioning: {} },
    sent: { name: "n", hardQuota: "5 GB" },
    status: 201,
    answer: { status: "created", name: "n" },
  },
  {
    call: `POST ${N}?resetMQECheckpoint=0`,
    audit: ["bucket_settings", LETTERS],
    body: { name: "renamed", hashScheme: "MD5", searchEnabled: false },
    sent: { name: "renamed", searchEnabled: false },
    answer: UPDATED,
  },
  { call: `DELETE ${N}`, audit: ["bucket_delete", LETTERS], answer: DELETED },
  {
    call: `POST ${N}/versioningSettings`,
    audit: ["bucket_settings", LETTERS],
    body: { prune: true, pruneDays: 0, x: 1 },
    sent: { prune: true, pruneDays: 0, x: 1 },
    answer: UPDATED,
  },
  { call: `DELETE ${N}/versioningSettings`, audit: ["bucket_settings", LETTERS], answer: DELETED },
  {
    call: `POST ${N}/complianceSettings`,
    audit: ["bucket_settings", LETTERS],
    body: { retentionDefault: "A+7y" },
    sent: { retentionDefault: "A+7y" },
    answer: UPDATED,
  },
  {
    call: `PUT ${N}/retentionClasses`,
    audit: ["bucket_settings", LETTERS],
    body: { name: "r", value: "0" },
    sent: { name: "r", value: "0" },
    status: 201,
    answer: { status: "created", name: "r" },
  },
  {
    call: `POST ${N}/retentionClasses/r`,
    audit: ["bucket_settings", LETTERS],
    body: { value: "-1" },
    sent: { value: "-1" },
    answer: UPDATED,
  },
  { call: `DELETE ${N}/retentionClasses/r`, audit: ["bucket_settings", LETTERS], answer: DELETED },
  {
    call: `POST ${N}/permissions`,
    audit: ["permissions_change", LETTERS],
    body: { readAllowed: true },
    sent: { readAllowed: true },
    answer: UPDATED,
  },
  ...["http", "cifs", "nfs", "smtp"].map((protocol): Write => ({
    call: `POST ${N}/protocols/${protocol}`,
    audit: ["bucket_settings", LETTERS],
    body: { enabled: true, ipSettings: { allowAddresses: [] } },
    sent: { ipSettings: { allowAddresses: { ipAddress: [] } }, enabled: true },
    answer: UPDATED,
  })),
  {
    call: `POST ${N}/replicationCollisionSettings`,
    audit: ["bucket_settings", LETTERS],
    body: { action: "MOVE" },
    sent: { action: "MOVE" },
    answer: UPDATED,
  },
  {
    call: `PUT ${N}/cors`,
    audit: ["bucket_settings", LETTERS],
    body: { cors: RULES },
    sent: { cors: RULES },
    status: 201,
    answer: { status: "created", namespace: "letters" },
  },
  { call: `DELETE ${N}/cors`, audit: ["bucket_settings", LETTERS], answer: DELETED },
  {
    call: `POST ${N}/customMetadataIndexingSettings`,
    audit: ["bucket_settings", LETTERS],
    body: { contentClasses: ["c"] },
    sent: { contentClasses: ["c"] },
    answer: UPDATED,
  },
];

Deno.test("management: every change goes to the store's resource of the same path, and answers in our shape", async () => {
  const events: AuditEvent[] = [];
  const record = (event: AuditEvent) => Promise.resolve(void events.push(event));
  const recorder = { requireRoom() {}, record, note: record };
  const audit = { recorder, logins: new LoginRecords(recorder), reader: null };
  await withGateway({ app: { audit } }, async ({ call, answer, seen, logged }) => {
    answer(() => new Response("what the store says to a change is not shown"));
    for (const write of WRITES) {
      const [method, path] = write.call.split(" ");
      const body = write.body === undefined ? undefined : JSON.stringify(write.body);
      const response = await call(`/api/v1/mapi${path}`, { method, body });
      assert.deepEqual([response.status, await response.json()], [write.status ?? 200, write.answer], write.call);
      const sent = seen.at(-1);
      assert.deepEqual([sent?.method, sent?.target], [method, `/mapi${write.target ?? path}`], write.call);
      assert.deepEqual(sent?.body ? JSON.parse(sent.body) : undefined, write.sent, write.call);
      assert.equal(sent?.headers.get("content-type"), write.sent === undefined ? null : "application/json");
    }
    assert.equal(seen.length, WRITES.length);
    const lines = logged();
    assert.equal(lines.length, WRITES.length);
    const changes = events.filter(({ action }) => action !== "login");
    assert.equal(changes.length, WRITES.length);
    for (const [index, { call: one, audit: [expected, about] }] of WRITES.entries()) {
      const { action, target, tenant, result } = changes[index];
      const of = about.kind === "tenant" ? about.name : "archive";
      assert.deepEqual([action, target, tenant, result], [expected, about, of, "succeeded"], one);
      assert.equal(lines[index].audit, expected, one);
      assert.deepEqual([lines[index].user, lines[index].tenant], ["curator", "archive"]);
    }
    assert.doesNotMatch(JSON.stringify([lines, events]), /Secret-1|New-1|p%20w|password=x/);
  });
});

const READS: [path: string, store: unknown, answer: unknown, target?: string][] = [
  ["/system/tenants", { name: ["a"] }, { name: ["a"] }, "/tenants?verbose=false"],
  [`${T}/consoleSecurity`, {
    minimumPasswordLength: "6",
    ipSettings: { allowAddresses: { ipAddress: ["0.0.0.0/0"] }, allowIfInBothLists: true },
    odd: 1,
  }, {
    minimumPasswordLength: 6,
    ipSettings: { allowAddresses: ["0.0.0.0/0"], denyAddresses: [], allowIfInBothLists: true },
    odd: 1,
    loginMessage: null,
  }],
  [`${T}/contactInfo`, { city: "Åbo" }, { city: "Åbo", firstName: null }],
  [`${T}/emailNotification`, { enabled: false, emailTemplate: { from: "a" } }, {
    enabled: false,
    emailTemplate: { from: "a" },
    recipients: null,
  }],
  [`${T}/namespaceDefaults?verbose=t`, { softQuota: 85 }, { softQuota: 85 }, `${T}/namespaceDefaults?verbose=true`],
  [`${T}/permissions`, { permission: ["READ"] }, { permission: ["READ"] }],
  [`${T}/cors`, {}, { cors: null }],
  [
    `${T}/availableServicePlans`,
    { name: ["Default"] },
    { name: ["Default"] },
    `${T}/availableServicePlans?verbose=false`,
  ],
  [`${T}/availableServicePlans/Default`, { name: "Default" }, { name: "Default", description: null }],
  [`${T}/statistics`, { objectCount: "12" }, { objectCount: 12, shredSize: null }],
  [`${T}/chargebackReport`, { chargebackData: [{ reads: 3, deleted: false, odd: 1 }] }, {
    chargebackData: [{ reads: 3, deleted: "false", tenantName: null }],
  }, `${T}/chargebackReport?granularity=total`],
  [
    `${N}/chargebackReport?granularity=hour&start=2026-11-01T00:00:00%2B0000`,
    {},
    { chargebackData: null },
    `${N}/chargebackReport?start=2026-11-01T00%3A00%3A00%2B0000&granularity=hour`,
  ],
  [`${N}/statistics`, {}, { objectCount: null }],
  [`${T}/userAccounts?filterString=l&sortOrder=asc`, { username: ["lena"], userAccount: [1] }, {
    username: ["lena"],
    userAccount: [1],
  }, `${T}/userAccounts?filterString=l&verbose=false&sortOrder=ascending`],
  [`${T}/userAccounts?verbose=true`, [{ username: "lena" }], [{ username: "lena" }]],
  [`${T}/userAccounts/lena`, { username: "lena", userID: 7, odd: {} }, {
    username: "lena",
    userID: 7,
    odd: {},
    roles: null,
  }, `${T}/userAccounts/lena?verbose=false`],
  [
    `${T}/userAccounts/lena/dataAccessPermissions?count=1`,
    {},
    { namespacePermission: null },
    `${T}/userAccounts/lena/dataAccessPermissions?count=1&verbose=false`,
  ],
  [`${T}/groupAccounts`, { groupname: ["g"] }, { groupname: ["g"] }, `${T}/groupAccounts?verbose=false`],
  [
    `${T}/groupAccounts/g`,
    { groupname: "g" },
    { groupname: "g", externalGroupID: null },
    `${T}/groupAccounts/g?verbose=false`,
  ],
  [`${T}/contentClasses/c`, {
    name: "c",
    contentProperties: { contentProperty: [{ name: "p" }] },
    namespaces: { name: ["n"] },
  }, {
    name: "c",
    contentProperties: [{ name: "p" }],
    namespaces: ["n"],
  }, `${T}/contentClasses/c?verbose=false`],
  [N, { name: "letters", extra: true }, { name: "letters", extra: true, id: null }, `${N}?verbose=false`],
  [`${N}/versioningSettings`, { enabled: true }, { enabled: true, prune: null }],
  [`${N}/complianceSettings`, { retentionDefault: "0" }, { retentionDefault: "0", dispositionEnabled: null }],
  [`${N}/retentionClasses`, { name: [] }, { name: [] }, `${N}/retentionClasses?verbose=false`],
  [`${N}/retentionClasses/r`, { name: "r" }, { name: "r", value: null }],
  [`${N}/protocols/http`, { hs3Enabled: true, ipSettings: { denyAddresses: { ipAddress: ["::1"] } } }, {
    hs3Enabled: true,
    ipSettings: { allowAddresses: [], denyAddresses: ["::1"], allowIfInBothLists: null },
  }],
  [`${N}/customMetadataIndexingSettings`, {}, { contentClasses: null }],
  [`${N}/replicationCollisionSettings`, { deleteDays: "30" }, { deleteDays: 30 }],
];

Deno.test("management: every read keeps what the store adds and fills what it leaves out with null", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    for (const [path, store, expected, target] of READS) {
      answer(() => Response.json(store));
      const response = await call(`/api/v1/mapi${path}`);
      assert.equal(response.status, 200, path);
      const body = await response.json();
      if (Array.isArray(expected)) assert.deepEqual(body, expected);
      else assert.partialDeepStrictEqual(body, expected, path);
      assert.equal(seen.at(-1)?.target, `/mapi${target ?? path}`);
    }
    answer(() => Response.json({ chargebackData: [{ odd: 1 }] }));
    const report = await (await call(`/api/v1/mapi${T}/chargebackReport`)).json();
    assert.equal("odd" in report.chargebackData[0], false);
  });
});

Deno.test("tenants: a record names the version of the store's software, where it is known", async () => {
  await withGateway({}, async ({ call, answer }) => {
    answer(() => Response.json({ namespaceQuota: 5 }, { headers: { "X-HCP-SoftwareVersion": "9.7.0" } }));
    const known = await (await call(`/api/v1/mapi${T}`)).json();
    assert.deepEqual([known.softwareVersion, known.namespaceQuota, known.name], ["9.7.0", "5", null]);
    answer(() => Response.json({}));
    assert.equal("softwareVersion" in await (await call(`/api/v1/mapi${T}`)).json(), false);
  });
});

Deno.test("management: HEAD is 200 or 404, without a body", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    const paths = [
      T,
      `${T}/userAccounts/a`,
      `${T}/groupAccounts/a`,
      `${T}/contentClasses/a`,
      N,
      `${N}/retentionClasses/a`,
    ];
    for (const path of paths) {
      for (const [store, expected] of [[200, 200], [201, 200], [302, 404], [404, 404], [403, 403]]) {
        answer(() => new Response(null, { status: store }));
        const response = await call(`/api/v1/mapi${path}`, { method: "HEAD" });
        assert.deepEqual([response.status, await response.text()], [expected, ""], path);
        assert.deepEqual([seen.at(-1)?.method, seen.at(-1)?.target], ["HEAD", `/mapi${path}`]);
      }
    }
  });
});

Deno.test("management: what does not fit is 422 and names the member, and the store is not asked", async () => {
  await withGateway({}, async ({ call, seen }) => {
    const refused: [string, string, unknown, string][] = [
      ["PUT", `${T}/userAccounts`, { ...USER, forcePasswordChange: true }, "query.password"],
      ["PUT", `${T}/userAccounts?password=x`, { ...USER, forcePasswordChange: "soon" }, "body.forcePasswordChange"],
      ["PUT", `${T}/userAccounts?password=x`, { ...USER, username: "[x", forcePasswordChange: true }, "body.username"],
      ["PUT", "/tenants?username=a&password=b", { name: "-bad-" }, "body.name"],
      ["PUT", "/tenants?password=b", { name: "good" }, "query.username"],
      ["POST", `${T}/userAccounts`, undefined, "query.resetPasswords"],
      ["PUT", `${T}/namespaces`, { name: "xn--a" }, "body.name"],
      ["PUT", `${T}/namespaces`, { name: "a".repeat(64) }, "body.name"],
      ["PUT", `${T}/namespaces`, { name: "a", tags: { tag: ["b", "c,d"] } }, "body.tags.tag.1"],
      ["POST", `${T}`, { tags: { tag: [""] } }, "body.tags.tag.0"],
      ["POST", `${T}/userAccounts/a/changePassword`, { oldPassword: "x" }, "body.newPassword"],
      ["POST", `${T}/userAccounts/a/dataAccessPermissions`, {
        namespacePermission: [{ namespaceName: "n", permissions: { permission: ["FLY"] } }],
      }, "body.namespacePermission.0.permissions.permission.0"],
      ["PUT", `${T}/contentClasses`, { name: "" }, "body.name"],
      ["GET", `${T}/chargebackReport?granularity=week`, undefined, "query.granularity"],
      ["GET", `${T}/namespaces/export`, undefined, "query.names"],
      ["PUT", `${T}/cors`, {}, "body.cors"],
    ];
    for (const [method, path, body, place] of refused) {
      const response = await call(`/api/v1/mapi${path}`, {
        method,
        body: body === undefined ? undefined : JSON.stringify(body),
      });
      const { detail } = await response.json();
      assert.equal(response.status, 422, path);
      assert.ok(
        detail.some(({ loc }: { loc: unknown[] }) => loc.join(".") === place),
        `${path}: ${JSON.stringify(detail)}`,
      );
    }
    assert.equal(seen.length, 0);
  });
});

Deno.test("export: one namespace with its sub-documents, without what only the store sets", async () => {
  await withGateway({}, async ({ call, answer, seen }) => {
    const documents: Record<string, unknown> = {
      "": { id: "x", name: "letters", dpl: "Dynamic", hardQuota: "5 GB", odd: null, creationTime: "t" },
      "/versioningSettings": { enabled: true },
      "/permissions": {},
      "/protocols/http": { hs3Enabled: true },
      "/retentionClasses": { name: ["a/b"] },
      "/retentionClasses/a%2Fb": { name: "a/b", value: "0" },
    };
    answer((_, { target }) => {
      const document = documents[target.split("?")[0].slice(`/mapi${N}`.length)];
      return document ? Response.json(document) : new Response("", { status: 404 });
    });
    const response = await call(`/api/v1/mapi${N}/export`);
    assert.equal(response.status, 200);
    assert.deepEqual(await response.json(), {
      version: "1.0",
      exportedAt: "2026-11-20T07:31:17.000000+00:00",
      sourceTenant: "archive",
      namespaces: [{
        name: "letters",
        hardQuota: "5 GB",
        odd: null,
        versioning: { enabled: true },
        protocols: { http: { hs3Enabled: true } },
        retentionClasses: [{ name: "a/b", value: "0" }],
      }],
    });
    assert.equal(seen[0].target, `/mapi${N}?verbose=true`);
    assert.equal(seen.length, 13);
  });
});

Deno.test("export: several at once, 404 for an absent one, 502 when the store fails on the way", async () => {
  await withGateway({}, async ({ call, answer }) => {
    const many = `/api/v1/mapi${T}/namespaces/export`;
    answer((_, { target }) =>
      /namespaces\/(a|b)\?/.test(target) ? Response.json({ description: "d" }) : new Response("", { status: 403 })
    );
    const { namespaces } = await (await call(`${many}?names=a,%20b,,a`)).json();
    assert.deepEqual(namespaces, [{ name: "a", description: "d" }, { name: "b", description: "d" }]);
    assert.deepEqual((await (await call(`${many}?names=`)).json()).namespaces, []);
    const names = Array.from({ length: 1001 }, (_, n) => `n${n}`).join();
    assert.equal((await call(`${many}?names=${names}`)).status, 422);
    answer((_, { target }) => new Response("{}", { status: /namespaces\/a\?/.test(target) ? 200 : 404 }));
    const absent = await call(`${many}?names=a,c`);
    assert.deepEqual([absent.status, await absent.json()], [404, { detail: "namespace 'c' not found" }]);
    answer((_, { target }) => new Response("{}", { status: /cors/.test(target) ? 500 : 200 }));
    assert.equal((await call(`${many}?names=a`)).status, 502);
  });
});
