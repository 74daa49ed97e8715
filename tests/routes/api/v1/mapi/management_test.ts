import assert from "node:assert/strict";
import { LoginRecords } from "@/lib/operations/audit/login_records.ts";
import type { AuditEvent, AuditTarget } from "@/lib/http/audit_event.ts";
import type { AuditAction } from "@/lib/std/audit_words.ts";
import { gatewayTest, withGateway } from "@/tests/routes/gateway_fixture.ts";

const T = "/tenants/archive";
const N = `${T}/namespaces/letters`;

/** A change, the action and the target of its record, and its body. */
type Write = [call: string, audit: [AuditAction, AuditTarget], body?: unknown, more?: {
  /** What the store is sent: target, and the body as JSON; as the client's when absent. */
  target?: string;
  sent?: unknown;
  /** `updated` or `deleted` when absent. */
  answer?: unknown;
}];

const USER = { username: "lena", fullName: "Lena Grön", localAuthentication: true, enabled: true };
const RULES = "<CORSConfiguration/>";

const TENANT = { kind: "tenant", name: "archive" } as const;
const LETTERS = { kind: "bucket", bucket: "letters" } as const;
const LENA = { kind: "account", name: "lena" } as const;
const EDITORS = { kind: "group", name: "editors" } as const;
const CLASS = { kind: "content_class", name: "c" } as const;

const WRITES: Write[] = [
  [
    "PUT /tenants?username=kim&password=Secret-1&initialSecurityGroup=g",
    ["tenant_create", { kind: "tenant", name: "new" }],
    { name: "new", softQuota: "85", unknown: 1, tags: null },
    {
      sent: { name: "new", softQuota: 85 },
      target: "/tenants?username=kim&password=Secret-1&forcePasswordChange=false&initialSecurityGroup=g",
      answer: { status: "created", name: "new" },
    },
  ],
  [
    "PUT /system/tenants?username=kim&password=x&forcePasswordChange=1",
    ["tenant_create", { kind: "tenant", name: "new" }],
    { name: "new" },
    { target: "/tenants?username=kim&password=x&forcePasswordChange=true", answer: { status: "created", name: "new" } },
  ],
  [`POST ${T}`, ["tenant_settings", TENANT], { administrationAllowed: true, other: 1 }, {
    sent: { administrationAllowed: true },
  }],
  [`DELETE ${T}`, ["tenant_delete", TENANT]],
  [`POST ${T}/consoleSecurity`, ["tenant_settings", TENANT], {
    minimumPasswordLength: "8",
    further: 1,
    ipSettings: { allowAddresses: ["10.0.0.0/8"], allowIfInBothLists: false },
  }, {
    sent: {
      minimumPasswordLength: 8,
      ipSettings: { allowAddresses: { ipAddress: ["10.0.0.0/8"] }, allowIfInBothLists: false },
      further: 1,
    },
  }],
  [`POST ${T}/searchSecurity`, ["tenant_settings", TENANT], {
    ipSettings: { denyAddresses: { ipAddress: ["1.2.3.4"] } },
  }],
  [`POST ${T}/contactInfo`, ["tenant_settings", TENANT], { city: "Åbo", fax: "1" }],
  [`POST ${T}/emailNotification`, ["tenant_settings", TENANT], {
    emailTemplate: { from: "a@b" },
    recipients: [{ address: "c@d", severity: "ERROR" }],
  }, { sent: { emailTemplate: { from: "a@b" }, recipients: { recipient: [{ address: "c@d", severity: "ERROR" }] } } }],
  [`POST ${T}/namespaceDefaults`, ["tenant_settings", TENANT], { softQuota: 70 }],
  [`POST ${T}/permissions`, ["permissions_change", TENANT], { permission: ["READ"], deep: { kept: [1] } }],
  [`PUT ${T}/cors`, ["tenant_settings", TENANT], { cors: RULES }, { answer: { status: "created", tenant: "archive" } }],
  [`DELETE ${T}/cors`, ["tenant_settings", TENANT]],
  [`PUT ${T}/userAccounts?password=p%20w`, ["account_create", LENA], {
    ...USER,
    forcePasswordChange: false,
    roles: { role: ["MONITOR"] },
    groups: 1,
  }, {
    sent: { ...USER, forcePasswordChange: false, roles: { role: ["MONITOR"] } },
    target: `${T}/userAccounts?password=p%20w`,
    answer: { status: "created", username: "lena" },
  }],
  [`POST ${T}/userAccounts?resetPasswords=New-1`, ["password_change", { kind: "account" }], undefined, {
    sent: {},
    answer: { status: "passwords_reset" },
  }],
  [`POST ${T}/userAccounts/lena?password=`, ["account_change", LENA], { enabled: false }, {
    target: `${T}/userAccounts/lena`,
  }],
  [`POST ${T}/userAccounts/lena?password=x`, ["password_change", LENA], {}],
  [`DELETE ${T}/userAccounts/lena`, ["account_delete", LENA]],
  [
    `POST ${T}/userAccounts/lena/changePassword`,
    ["password_change", LENA],
    { newPassword: "New-1", oldPassword: null },
    { sent: { newPassword: "New-1" }, answer: { status: "password_changed" } },
  ],
  ...["userAccounts/lena", "groupAccounts/editors"].map((
    account,
  ): Write => [`POST ${T}/${account}/dataAccessPermissions`, [
    "permissions_change",
    account.startsWith("user") ? LENA : EDITORS,
  ], { namespacePermission: [{ namespaceName: "letters", permissions: { permission: ["READ"] } }] }]),
  [`PUT ${T}/groupAccounts`, ["group_create", EDITORS], { groupname: "editors", roles: { role: ["MONITOR"] } }, {
    answer: { status: "created", groupname: "editors" },
  }],
  [`PUT ${T}/groupAccounts`, ["group_create", { kind: "group" }], { externalGroupID: "S-1" }, {
    answer: { status: "created", groupname: null },
  }],
  [`POST ${T}/groupAccounts/editors`, ["group_change", EDITORS], { allowNamespaceManagement: true }],
  [`DELETE ${T}/groupAccounts/editors`, ["group_delete", EDITORS]],
  [`PUT ${T}/contentClasses`, ["content_class_create", CLASS], {
    name: "c",
    contentProperties: { contentProperty: [{ name: "p", expression: "/a", type: "STRING" }] },
    namespaces: ["letters"],
  }, {
    sent: { name: "c", contentProperties: [{ name: "p", expression: "/a", type: "STRING" }], namespaces: ["letters"] },
    answer: { status: "created", name: "c" },
  }],
  [`POST ${T}/contentClasses/c`, ["content_class_change", CLASS], { namespaces: { name: ["x"] } }, {
    sent: { namespaces: ["x"] },
  }],
  [`DELETE ${T}/contentClasses/c`, ["content_class_delete", CLASS]],
  [`PUT ${T}/namespaces`, ["bucket_create", { kind: "bucket", bucket: "n" }], {
    name: "n",
    hardQuota: "5 GB",
    description: null,
    directoryUsage: "BALANCED",
    versioningSettings: { enabled: true, prune: null },
    versioning: {},
  }, {
    sent: { name: "n", hardQuota: "5 GB", directoryUsage: "Balanced", versioningSettings: { enabled: true } },
    answer: { status: "created", name: "n" },
  }],
  [`POST ${N}?resetMQECheckpoint=0`, ["bucket_settings", LETTERS], {
    name: "renamed",
    hashScheme: "MD5",
    searchEnabled: false,
  }, { sent: { name: "renamed", searchEnabled: false } }],
  [`DELETE ${N}`, ["bucket_delete", LETTERS]],
  [`POST ${N}/versioningSettings`, ["bucket_settings", LETTERS], { prune: true, pruneDays: 0, x: 1 }],
  [`DELETE ${N}/versioningSettings`, ["bucket_settings", LETTERS]],
  [`POST ${N}/complianceSettings`, ["bucket_settings", LETTERS], { retentionDefault: "A+7y" }],
  [`PUT ${N}/retentionClasses`, ["bucket_settings", LETTERS], { name: "r", value: "0" }, {
    answer: { status: "created", name: "r" },
  }],
  [`POST ${N}/retentionClasses/r`, ["bucket_settings", LETTERS], { value: "-1" }],
  [`DELETE ${N}/retentionClasses/r`, ["bucket_settings", LETTERS]],
  [`POST ${N}/permissions`, ["permissions_change", LETTERS], { readAllowed: true }],
  ...["http", "cifs", "nfs", "smtp"].map((
    protocol,
  ): Write => [`POST ${N}/protocols/${protocol}`, ["bucket_settings", LETTERS], {
    enabled: true,
    ipSettings: { allowAddresses: [] },
  }, { sent: { ipSettings: { allowAddresses: { ipAddress: [] } }, enabled: true } }]),
  [`POST ${N}/replicationCollisionSettings`, ["bucket_settings", LETTERS], { action: "MOVE" }],
  [`PUT ${N}/cors`, ["bucket_settings", LETTERS], { cors: RULES }, {
    answer: { status: "created", namespace: "letters" },
  }],
  [`DELETE ${N}/cors`, ["bucket_settings", LETTERS]],
  [`POST ${N}/customMetadataIndexingSettings`, ["bucket_settings", LETTERS], { contentClasses: ["c"] }],
];

Deno.test("management: every change goes to the store's resource of the same path, and answers in our shape", async () => {
  const events: AuditEvent[] = [];
  const record = (event: AuditEvent) => Promise.resolve(void events.push(event));
  const recorder = { requireRoom() {}, record, note: record };
  const audit = { recorder, logins: new LoginRecords(recorder), reader: null };
  await withGateway({ app: { audit } }, async ({ call, answer, seen, logged }) => {
    answer(() => new Response("what the store says to a change is not shown"));
    for (const [one, , given, { target, sent = given, answer = null } = {}] of WRITES) {
      const [method, path] = one.split(" ");
      const body = given === undefined ? undefined : JSON.stringify(given);
      const response = await call(`/api/v1/mapi${path}`, { method, body });
      assert.equal(response.status, method === "PUT" ? 201 : 200, one);
      assert.deepEqual(await response.json(), answer ?? { status: method === "DELETE" ? "deleted" : "updated" }, one);
      const last = seen.at(-1);
      assert.deepEqual([last?.method, last?.target], [method, `/mapi${target ?? path}`], one);
      assert.deepEqual(last?.body ? JSON.parse(last.body) : undefined, sent, one);
      assert.equal(last?.headers.get("content-type"), sent === undefined ? null : "application/json");
    }
    assert.equal(seen.length, WRITES.length);
    const lines = logged();
    assert.equal(lines.length, WRITES.length);
    const changes = events.filter(({ action }) => action !== "login");
    assert.equal(changes.length, WRITES.length);
    for (const [index, [one, [expected, about]]] of WRITES.entries()) {
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
  }, `${T}/userAccounts?sortOrder=ascending&filterString=l&verbose=false`],
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

gatewayTest(
  "management: every read keeps what the store adds and fills what it leaves out with null",
  async ({ call, answer, seen }) => {
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
  },
);

gatewayTest(
  "tenants: a record names the version of the store's software, where it is known",
  async ({ call, answer }) => {
    answer(() => Response.json({ namespaceQuota: 5 }, { headers: { "X-HCP-SoftwareVersion": "9.7.0" } }));
    const known = await (await call(`/api/v1/mapi${T}`)).json();
    assert.deepEqual([known.softwareVersion, known.namespaceQuota, known.name], ["9.7.0", "5", null]);
    answer(() => Response.json({}));
    assert.equal("softwareVersion" in await (await call(`/api/v1/mapi${T}`)).json(), false);
  },
);

gatewayTest("management: HEAD is 200 or 404, without a body", async ({ call, answer, seen }) => {
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

gatewayTest(
  "management: what does not fit is 422 and names the member, and the store is not asked",
  async ({ call, seen }) => {
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
  },
);

gatewayTest(
  "export: one namespace with its sub-documents, without what only the store sets",
  async ({ call, answer, seen }) => {
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
  },
);

gatewayTest(
  "export: several at once, 404 for an absent one, 502 when the store fails on the way",
  async ({ call, answer }) => {
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
  },
);
