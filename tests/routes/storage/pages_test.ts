import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";

import { HttpError } from "@/lib/http/errors.ts";
import { RevokedSessions } from "@/lib/results/revoked_sessions.ts";
import type { GatewayRequest } from "@/lib/storage/gateway_service.ts";
import { storageCookie, storageKeys } from "@/lib/storage/storage_cookie.ts";
import { buildApp } from "@/routes/mod.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import { webDeps } from "@/tests/routes/web_deps_fixture.ts";

const NOW = 1_800_000_000_000;
const SITE = "http://here.example";
const SECRETS = [createSecretKey(randomBytes(32))];
const LOGIN = { tenant: "archive", user: "olle", password: "p", issuedAt: NOW / 1000, expiresAt: NOW / 1000 + 3600 };

/** What the gateway returns, by what is read. */
interface Answers {
  /** The status of listings and of objects. */
  readonly read: number;
  /** The account's own data access permissions in `letters`. */
  readonly own?: readonly string[];
  /** The status of the completion of an upload that does not exist. */
  readonly probe?: number;
  /** The gateway does not respond to look-ups of rights. */
  readonly areRightsAway?: boolean;
}

/** The storage pages over a gateway that answers like this. `tried` are the paths of look-ups of rights. */
function pages({ read, own = [], probe = 403, areRightsAway = false }: Answers) {
  const tried: string[] = [];
  const gateway = ({ method, target: { path } }: GatewayRequest): Promise<Response> => {
    if (path.endsWith("/auth/token")) return Promise.resolve(Response.json({ access_token: "x" }));
    if (path.endsWith("/capabilities")) {
      return Promise.resolve(Response.json({ mapi_enabled: true, storage_backend: "hcp" }));
    }
    const isProbe = path.endsWith("/complete");
    if (isProbe || path.endsWith("/dataAccessPermissions")) {
      tried.push(path.slice(path.lastIndexOf("/") + 1));
      if (areRightsAway) return Promise.reject(new HttpError(502, "away"));
      const namespacePermission = [{ namespaceName: "letters", permissions: { permission: own } }];
      return Promise.resolve(isProbe ? Response.json({}, { status: probe }) : Response.json({ namespacePermission }));
    }
    if (method === "HEAD") {
      return Promise.resolve(new Response(null, { status: read, headers: { "Content-Length": "3" } }));
    }
    if (path.endsWith("/objects")) {
      return Promise.resolve(
        Response.json({ objects: [], common_prefixes: [], is_truncated: false }, { status: read }),
      );
    }
    return Promise.resolve(Response.json({}, { status: 404 }));
  };
  const now = () => NOW;
  const app = buildApp({
    gateway: null,
    web: {
      ...webDeps(fakeSource({}), { now }),
      campaigns: null,
      storage: {
        gateway,
        secrets: () => SECRETS,
        revoked: new RevokedSessions(null, NO_LOG, now),
        sessionHours: 12,
        campaignTenant: "archive",
      },
    },
    results: null,
    resultsStore: null,
    allowedHosts: null,
    log: NO_LOG,
    now,
  });
  const [key] = storageKeys(() => SECRETS)();
  assert.ok(key);
  const Cookie = storageCookie("http", LOGIN, [], key)?.split(";", 1)[0] ?? "";
  const open = async (path: string) => {
    const response = await app.request(SITE + path, { headers: { Cookie } });
    return { status: response.status, html: await response.text() };
  };
  return { open, tried };
}

const FOLDER = "/storage/folder?account=archive%2Folle&bucket=letters";
const OBJECT = "/storage/object?account=archive%2Folle&bucket=letters&key=a.txt";
const READ_ONLY = /You may read but not change this bucket\./;

Deno.test("storage pages: a folder and an object offer the changes that the account's rights allow", async () => {
  for (const path of [FOLDER, OBJECT]) {
    const reader = pages({ read: 200, own: ["BROWSE", "READ"] });
    const shown = await reader.open(path);
    assert.equal(shown.status, 200);
    assert.match(shown.html, READ_ONLY);
    assert.deepEqual(reader.tried, ["dataAccessPermissions", "complete"]);
    const writer = pages({ read: 200, own: ["BROWSE", "READ", "WRITE", "DELETE"] });
    assert.doesNotMatch((await writer.open(path)).html, /You may (?:read|not)/);
    assert.deepEqual(writer.tried, ["dataAccessPermissions"]);
  }
});

Deno.test("storage pages: a folder lists what is left of uploads to accounts alone that may write", async () => {
  const html = async (answers: Answers) => (await pages(answers).open(FOLDER)).html;
  assert.match(await html({ read: 200, own: ["BROWSE", "WRITE"] }), /Unfinished uploads/);
  assert.doesNotMatch(await html({ read: 200, own: ["BROWSE", "READ"] }), /Unfinished uploads/);
});

Deno.test("storage pages: no rights are looked up for a login that the store did not accept", async () => {
  for (const path of [FOLDER, OBJECT]) {
    for (const read of [401, 403, 503]) {
      const { open, tried } = pages({ read, own: ["BROWSE"] });
      await open(path);
      assert.deepEqual(tried, [], `${path}: ${read}`);
    }
  }
});

Deno.test("storage pages: a folder is shown with all that it may offer where rights cannot be looked up", async () => {
  const { open, tried } = pages({ read: 200, areRightsAway: true });
  const { status, html } = await open(FOLDER);
  assert.equal(status, 200);
  assert.doesNotMatch(html, READ_ONLY);
  assert.deepEqual(tried, ["dataAccessPermissions"]);
});

Deno.test("storage pages: a page without its listing or object has the status of the gateway's error", async () => {
  for (const path of [FOLDER, OBJECT]) {
    for (const read of [429, 502, 503, 504]) {
      const { status, html } = await pages({ read }).open(path);
      assert.equal(status, read, path);
      assert.match(html, /class="banner bad"/);
    }
  }
  assert.equal((await pages({ read: 200 }).open("/storage?account=archive%2Folle")).status, 404);
});

Deno.test("storage pages: an empty account in the address is none, so the page is that of the newest login", async () => {
  const { status, html } = await pages({ read: 200, own: ["BROWSE", "READ"] }).open(
    FOLDER.replace("archive%2Folle", ""),
  );
  assert.equal(status, 200);
  assert.match(html, /archive\/olle/);
  assert.doesNotMatch(html, /not logged in/);
});
