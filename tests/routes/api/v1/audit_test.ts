import assert from "node:assert/strict";
import { openAudit } from "@/compose/audit.ts";
import type { StoreReports } from "@/embedded/store/changes.ts";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { mapiAuthorization, startStore, type Store } from "@/embedded/tests/store/store_fixture.ts";
import { issueToken, tokenKey } from "@/lib/auth/admission.ts";
import { readConfig } from "@/lib/config/mod.ts";
import type { AuditRecord } from "@/lib/operations/audit/audit_trail.ts";
import { checkChainFolder } from "@/lib/operations/audit/chain_check.ts";
import { requestMarks } from "@/lib/std/store_addresses.ts";
import { STORAGE_ONLY } from "@/tests/application.ts";
import { servedDocument } from "@/tests/docs/openapi_document.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { withEmbeddedGateway } from "@/tests/routes/api/v1/mapi/embedded_gateway.ts";
import { gatewayTest, SECRET } from "@/tests/routes/gateway_fixture.ts";

interface Page {
  readonly records: AuditRecord[];
  readonly next: string | null;
  readonly sources: Record<string, string>;
}

interface Audited {
  readonly store: Store;
  /** Calls the gateway below /api/v1 as `tenant/user` or a user of the system level. */
  call(account: string, method: string, path: string, body?: unknown, password?: string): Promise<Response>;
  /** The records that an account reads; their parameters as in the address. */
  records(account: string, query?: string): Promise<Page>;
}

/** A test with a gateway in front of an embedded store, and the trail of both. */
function auditTest(name: string, body: (audited: Audited) => Promise<void>): void {
  Deno.test(name, async () => {
    const markKey = crypto.getRandomValues(new Uint8Array(32));
    const { promise: reports, resolve: reportTo } = Promise.withResolvers<StoreReports>();
    const folder = Deno.makeTempDirSync();
    const auditEnd = { read: () => Promise.resolve(null), write: () => Promise.resolve() };
    const started = Promise.resolve({ auditEnd, reportTo });
    const audit = await openAudit(readConfig(STORAGE_ONLY), { path: folder }, started, assert.fail, NO_LOG);
    assert.ok(audit);
    const start = () =>
      startStore(undefined, { markKey }, {
        changed: async (changes) => (await reports).changed(changes),
        loginFailed: async (login) => (await reports).loginFailed(login),
      });
    const options = { start, mark: requestMarks(markKey).write, app: { audit }, proven: false };
    try {
      await withEmbeddedGateway(async ({ store, origin }) => {
        const call: Audited["call"] = async (account, method, path, body, password = SAMPLE_PASSWORD) => {
          const [user, tenant = null] = account.split("/").reverse();
          const claims = { sub: user, pwd: password, tenant };
          const token = await issueToken(claims, tokenKey(SECRET), {
            nowSeconds: Date.now() / 1000,
            lifetimeMinutes: 480,
          });
          const isJson = typeof body === "object";
          return await fetch(`${origin}/api/v1${path}`, {
            method,
            headers: {
              authorization: `Bearer ${token}`,
              "x-request-id": `${method}-${path.split("?")[0].replaceAll(/[^A-Za-z0-9]+/g, "-").slice(0, 100)}`,
              ...(isJson ? { "content-type": "application/json" } : {}),
            },
            body: isJson ? JSON.stringify(body) : body as string | undefined,
          });
        };
        const records: Audited["records"] = async (account, query = "") =>
          JSON.parse(await ok(call(account, "GET", `/audit${query}`)));
        await body({ store, call, records });
      }, options);
    } finally {
      await audit.close(60_000);
      assert.deepEqual(checkChainFolder(`${folder}/audit`).faults, []);
      Deno.removeSync(folder, { recursive: true });
    }
  });
}

async function ok(response: Promise<Response>, status = 200): Promise<string> {
  const text = await (await response).text();
  assert.equal((await response).status, status, text);
  return text;
}

const CURATOR = "archive/curator";
const PASSWORD = "Another-Secret-17";
const OLD = "2026/brief ÅÄÖ\n\u2028.txt";

auditTest(
  "audit: changes have one record each, with who, from where, by which request, and what became of it",
  async ({ call, records }) => {
    const key = encodeURIComponent(OLD);
    await ok(call(CURATOR, "PUT", `/buckets/letters/objects/${key}`, "hello"));
    await ok(call(CURATOR, "DELETE", `/buckets/letters/objects/${key}`));
    await ok(call(CURATOR, "POST", "/buckets/letters/objects/delete", { keys: ["a", "b"], prefix: "none/" }));
    const url = await ok(call(CURATOR, "POST", "/presign", { bucket: "letters", key: "a", expires_in: 60 }));
    await ok(call("archive/reader", "DELETE", "/buckets/letters"), 403);
    await ok(call(CURATOR, "GET", "/buckets/letters/objects"));
    const users = "/mapi/tenants/archive/userAccounts";
    await ok(call(CURATOR, "POST", `${users}/reader?password=${PASSWORD}`, { fullName: "A Reader" }));
    await ok(call("archive/reader", "GET", "/buckets", undefined, "wrong-Secret-1"), 401);
    await ok(call(CURATOR, "POST", `${users}/reader/changePassword`, { newPassword: `${PASSWORD}8` }));

    const { records: found, next, sources } = await records(CURATOR, "?count=1000");
    assert.equal(next, null);
    assert.deepEqual(sources, { application: "process" });
    const own = found.filter(({ source }) => source === "application").reverse();
    assert.deepEqual(own.map(({ action, actor, result, status }) => [action, actor?.name, result, status]), [
      ["login", "curator", "succeeded", 200],
      ["object_write", "curator", "succeeded", 200],
      ["object_delete", "curator", "succeeded", 200],
      ["object_delete", "curator", "succeeded", 200],
      ["object_share", "curator", "succeeded", 200],
      ["login", "reader", "succeeded", 200],
      ["bucket_delete", "reader", "refused", 403],
      ["password_change", "curator", "succeeded", 200],
      ["login_failed", "reader", "refused", 401],
      ["password_change", "curator", "succeeded", 200],
    ]);
    const [, written, , many, shared] = own;
    assert.deepEqual(written.target, { kind: "object", bucket: "letters", key: OLD });
    assert.deepEqual([written.tenant, written.address, written.details.bytes], ["archive", "127.0.0.1", 5]);
    assert.match(written.request_id ?? "", /^PUT--buckets-letters/);
    assert.deepEqual(many.target, { kind: "objects", bucket: "letters", prefix: "none/" });
    assert.deepEqual([many.details.count, many.details.keys, many.details.not_deleted], [2, ["a", "b"], 0]);
    assert.deepEqual(shared.details, { method: "get_object", expires_in: 60 });
    const signature = new URL(JSON.parse(url).url).searchParams.get("X-Amz-Signature");
    const texts = JSON.stringify(found);
    for (const secret of [PASSWORD, SAMPLE_PASSWORD, "wrong-Secret-1", signature ?? "", "A Reader", "hello"]) {
      assert.ok(!texts.includes(secret), secret);
    }
    // The store leaves the gateway's own requests to it, also those with wrong passwords.
    const ofStore = found.filter(({ source }) => source === "store");
    assert.deepEqual(ofStore.filter(({ actor }) => actor !== null), []);
  },
);

auditTest(
  "audit: a refused management call with the right password is recorded as one, and is no guess",
  async ({ call, records }) => {
    const users = "/mapi/tenants/archive/userAccounts";
    for (let n = 0; n < 12; n++) await ok(call("archive/reader", "DELETE", `${users}/converter`), 403);
    await ok(call("archive/reader", "GET", "/buckets"));
    await ok(call(CURATOR, "POST", "/mapi/tenants/archive", { administrationAllowed: false }));
    for (let n = 0; n < 12; n++) await ok(call("admin", "DELETE", `${users}/converter`), 403);
    for (let n = 0; n < 3; n++) {
      await ok(call("archive/converter", "DELETE", `${users}/reader`, undefined, "wrong-12"), 403);
    }

    const own = (await records(CURATOR, "?count=1000")).records.filter(({ source }) => source === "application");
    const refused = own.filter(({ action, result }) => action === "account_delete" && result === "refused");
    assert.deepEqual(
      refused.map(({ actor, status, target }) => [actor?.name, actor?.tenant, status, target.name]).reverse(),
      [
        ...Array(12).fill(["reader", "archive", 403, "converter"]),
        ...Array(12).fill(["admin", null, 403, "converter"]),
      ],
    );
    const failed = own.filter(({ action }) => action === "login_failed");
    assert.deepEqual(failed.map(({ actor }) => actor?.name), ["converter"]);
  },
);

auditTest(
  "audit: a change has one record, by whichever of the three ways it comes",
  async ({ store, records, call }) => {
    const { PutObjectCommand } = await import("@aws-sdk/client-s3");
    await ok(call(CURATOR, "PUT", "/buckets/letters/objects/gateway", "1"));
    const client = store.client("archive", "curator");
    await client.send(new PutObjectCommand({ Bucket: "letters", Key: "s3", Body: "22" }));
    client.destroy();
    const settings = `${store.mapi("archive")}/mapi/tenants/archive/namespaces/letters`;
    const body = JSON.stringify({ description: "changed" });
    await ok(fetch(settings, { method: "POST", headers: mapiAuthorization("curator"), body }));
    await ok(fetch(settings, { headers: mapiAuthorization("curator", "wrong-Secret-1") }), 403);

    const { records: found } = await records(CURATOR, "?count=1000&start=2020-01-01T00:00:00Z");
    const own = found.filter(({ actor, action }) => actor !== null && action !== "login").reverse();
    assert.deepEqual(
      own.map(({ source, role, action, target, result, details }) => [
        source,
        role,
        action,
        target,
        result,
        details,
      ]),
      [
        ["application", "gateway", "object_write", { kind: "object", bucket: "letters", key: "gateway" }, "succeeded", {
          bytes: 1,
        }],
        ["store", "store", "object_write", { kind: "object", bucket: "letters", key: "s3" }, "succeeded", { bytes: 2 }],
        ["store", "store", "bucket_settings", { kind: "bucket", bucket: "letters" }, "succeeded", {
          settings: "description",
        }],
        ["store", "store", "login_failed", { kind: "session", name: "curator" }, "refused", {
          protocol: "mapi",
          count: 1,
        }],
      ],
    );
    for (const { actor, tenant, address, request_id } of own) {
      assert.deepEqual([actor, tenant, address], [{ name: "curator", tenant: "archive" }, "archive", "127.0.0.1"]);
      assert.ok(request_id);
    }
  },
);

auditTest(
  "audit: a page of any size continues where the one before ended, without a gap or a double",
  async ({ store, records, call }) => {
    const { PutObjectCommand } = await import("@aws-sdk/client-s3");
    const client = store.client("archive", "curator");
    for (let n = 0; n < 8; n++) {
      if (n % 3 === 1) await client.send(new PutObjectCommand({ Bucket: "letters", Key: `k${n}`, Body: "x" }));
      else await ok(call(CURATOR, "PUT", `/buckets/letters/objects/k${n}`, "x"));
    }
    client.destroy();
    for (const count of [1, 2, 3, 7, 100]) {
      const keys: string[] = [];
      const ids: string[] = [];
      let after: string | null = null;
      do {
        const query: string = `?prefix=k&count=${count}${after === null ? "" : `&after=${after}`}`;
        const page: Page = await records(CURATOR, query);
        assert.ok(page.records.length <= count);
        keys.push(...page.records.map(({ target }) => target.key ?? ""));
        ids.push(...page.records.map(({ id }) => id));
        after = page.next;
      } while (after !== null);
      assert.deepEqual(keys, ["k7", "k6", "k5", "k4", "k3", "k2", "k1", "k0"], `by ${count}`);
      assert.equal(new Set(ids).size, 8);
    }
  },
);

auditTest(
  "audit: administrators read what happened to their tenant alone, and others nothing",
  async ({ call, records }) => {
    await ok(call(CURATOR, "PUT", "/buckets/letters/objects/a", "x"));
    await ok(call("research/researcher", "POST", "/buckets", { bucket: "research-notes" }), 201);
    await ok(call("archive/reader", "GET", "/audit"), 403);
    await ok(call("research/researcher", "GET", "/audit?tenant=archive"), 403);
    await ok(call(CURATOR, "GET", "/audit", undefined, "wrong"), 403);
    const research = await records("research/researcher");
    assert.deepEqual(new Set(research.records.map(({ tenant }) => tenant)), new Set(["research"]));
    assert.ok(research.records.some(({ action }) => action === "bucket_create"));
    const archive = await records(CURATOR, "?tenant=Archive");
    assert.deepEqual(new Set(archive.records.map(({ tenant }) => tenant)), new Set(["archive"]));
    const all = await records("admin");
    const tenants = new Set(all.records.map(({ tenant }) => tenant));
    assert.deepEqual(tenants, new Set([null, "research", "archive"]));
    const one = await records("admin", "?tenant=RESEARCH");
    assert.deepEqual(new Set(one.records.map(({ tenant }) => tenant)), new Set(["research"]));
  },
);

auditTest("audit: filters, and their errors by name", async ({ call, records }) => {
  await ok(call(CURATOR, "PUT", "/buckets/letters/objects/a%2Fb", "x"));
  await ok(call("archive/reader", "DELETE", "/buckets/letters"), 403);
  const of = async (query: string) => {
    const { records: found } = await records(CURATOR, query);
    return found.filter(({ source }) => source === "application").map(({ action }) => action).reverse();
  };
  assert.deepEqual(await of("?actor=READER"), ["login", "bucket_delete"]);
  assert.deepEqual(await of("?result=refused"), ["bucket_delete"]);
  assert.deepEqual(await of("?bucket=letters&prefix=a/"), ["object_write"]);
  assert.deepEqual(await of("?request_id=DELETE--buckets-letters&action=bucket_delete"), ["bucket_delete"]);
  assert.deepEqual(await of("?start=2020-01-01T00:00:00%2B02:00&action=login"), ["login", "login"]);
  assert.deepEqual(await of("?start=2200-01-01T00:00:00Z"), []);
  assert.deepEqual(await of("?end=2020-01-01T00:00:00Z"), []);
  // With their offsets these are before the year 0 and after the year 9999.
  const [earliest, latest] = ["0000-01-01T00:00:00%2B12:00", "9999-12-31T23:59:59-12:00"];
  assert.deepEqual(await of(`?start=${earliest}&end=${latest}&action=login`), ["login", "login"]);
  assert.deepEqual([await of(`?start=${latest}`), await of(`?end=${earliest}`)], [[], []]);
  await ok(call(CURATOR, "PUT", "/buckets/letters/objects/%01key", "x"));
  assert.deepEqual(await of("?prefix=%01"), ["object_write"]);
  for (const name of ["actor", "bucket", "prefix", "request_id"]) assert.deepEqual(await of(`?${name}=%00`), []);
  const bad: Record<string, string> = {
    "start=yesterday": "start",
    "end=2026-01-01": "end",
    "start=2026-01-02T00:00:00Z&end=2026-01-01T00:00:00Z": "end",
    "action=reading": "action",
    "result=ok": "result",
    "count=0": "count",
    "count=1001": "count",
    "count=100001&format=csv": "count",
    "after=abc": "after",
    "after=2026-11-20.7": "",
    "after=../../etc.7": "after",
    "format=xml": "format",
    "request_id=": "request_id",
  };
  for (const [query, field] of Object.entries(bad)) {
    const response = await call(CURATOR, "GET", `/audit?${query}`);
    const body = await response.json();
    if (field === "") assert.equal(response.status, 200, query);
    else assert.deepEqual([response.status, body.detail?.[0]?.loc], [422, ["query", field]], query);
  }
});

auditTest(
  "audit: an export is all that matches, as lines of JSON or CSV, and is recorded",
  async ({ call, records }) => {
    for (const key of ["=1+1", '"quoted", and more']) {
      await ok(call(CURATOR, "PUT", `/buckets/letters/objects/${encodeURIComponent(key)}`, "x"));
    }
    const lines = await ok(call(CURATOR, "GET", "/audit?format=ndjson&action=object_write&start=2026-01-01T00:00:00Z"));
    const keys = lines.trimEnd().split("\n").map((line) => JSON.parse(line).target.key);
    assert.deepEqual(keys.slice(0, 2), ['"quoted", and more', "=1+1"]);
    const response = await call(CURATOR, "GET", "/audit?format=csv&action=object_write&count=2");
    assert.equal(response.headers.get("content-disposition"), 'attachment; filename="audit.csv"');
    const [head, first, second, end] = (await response.text()).split("\r\n");
    assert.match(head, /^time,id,source,.*,details$/);
    assert.match(first, /,letters,"""quoted"", and more",/);
    assert.match(second, /,letters,"'=1\+1",/);
    assert.equal(end, "");
    const { records: found } = await records(CURATOR, "?action=audit_export");
    assert.deepEqual(found.map(({ details }) => details.format), ["csv", "ndjson"]);
  },
);

gatewayTest(
  "audit: without a management API there are no administrators to read it, which is a 501",
  async ({ call }) => {
    const response = await call("/api/v1/audit");
    assert.equal(response.status, 501);
    assert.match(await response.text(), /no accounts with rights/);
  },
  { gateway: { mapiEnabled: false } },
);

/** Operations that a client changes something with, and that have no record. */
const NOT_RECORDED: Readonly<Record<string, string>> = {
  login: "it proves nothing; the first use of its token is the login",
  start_count: "it reads",
  create_multipart_upload: "nothing can be read before its completion, which is recorded",
  upload_part: "as the upload that it belongs to",
  abort_multipart_upload: "nothing could be read before",
};

interface Described {
  readonly operationId: string;
  readonly "x-audit-action"?: string;
}

Deno.test("audited operations: each that changes something is recorded, or is named with its reason, and of those that read the export of the trail", async () => {
  const { paths } = await servedDocument() as { paths: Record<string, Record<string, Described>> };
  const operations = Object.values(paths).flatMap((path) => Object.entries(path));
  const ids = (methods: readonly string[], recorded: boolean) =>
    operations.filter(([method, one]) => methods.includes(method) && ("x-audit-action" in one) === recorded)
      .map(([, { operationId }]) => operationId).sort();
  const changing = ["put", "post", "delete"];
  assert.ok(ids(changing, true).length > 65);
  assert.deepEqual(ids(changing, false), Object.keys(NOT_RECORDED).sort());
  assert.deepEqual(ids(["get", "head"], true), ["list_audit_records"]);
});
