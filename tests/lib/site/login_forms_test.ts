import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";
import { RequestContext } from "@/lib/http/request_context.ts";
import { loginErrorSentence } from "@/lib/pages/login_sentences.ts";
import { readLoginNote } from "@/lib/results/results_login.ts";
import { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import type { GatewayRequest } from "@/lib/auth/gateway_service.ts";
import { LoginFacts } from "@/lib/auth/login_facts.ts";
import { storageCookie, storageKeys, storageLogins } from "@/lib/auth/storage_cookie.ts";
import { StorageGateway } from "@/lib/auth/storage_gateway.ts";
import { loginsOf, type StorageDeps } from "@/lib/site/storage/logins.ts";
import { loginForm, logoutForm } from "@/lib/site/storage/login_forms.ts";
import { type ResultsLogin, resultsLogin } from "@/lib/results/form_login.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";

const NOW = 1_800_000_000_000;
const SITE = "http://here.example";
const PASSWORD = "stackroom-demo";
const LOGGED_OUT = new Response(null, {
  status: 303,
  headers: { Location: "/login", "Set-Cookie": "results_session=; Max-Age=0; Path=/" },
});
const CAMPAIGN_COOKIE = "results_session=sealed; Path=/";
const SECRETS = [createSecretKey(randomBytes(32))];
const KEYS = storageKeys(() => SECRETS);

/** What the two sides do. */
interface Sides {
  /** The status of the list of buckets, or of tenants. */
  readonly storage?: number;
  /** The status of a bucket that does not exist; that of the list when absent. */
  readonly absent?: number;
  readonly backend?: "hcp" | "generic";
  /** The error of the campaigns' login; null: accepted; undefined: there are no campaigns. */
  readonly campaigns?: string | null;
  readonly keys?: StorageDeps["keys"];
  readonly campaignTenant?: string | null;
  readonly results?: ResultsLogin;
}

class Site {
  /** The accounts that were tried at the store. */
  readonly tried: string[] = [];
  readonly #deps: StorageDeps;

  constructor(
    { storage = 200, absent = storage, backend = "hcp", campaigns, keys = KEYS, campaignTenant = "archive", results }:
      Sides,
  ) {
    const send = ({ target, body }: GatewayRequest): Promise<Response> => {
      if (target.path.endsWith("/capabilities")) {
        return Promise.resolve(Response.json({ mapi_enabled: backend === "hcp", storage_backend: backend }));
      }
      if (target.path.endsWith("/objects")) {
        return Promise.resolve(Response.json({}, { status: absent, headers: { "Retry-After": "7" } }));
      }
      if (!target.path.endsWith("/auth/token")) return Promise.resolve(Response.json({}, { status: storage }));
      const form = new URLSearchParams(new TextDecoder().decode(body as Uint8Array));
      this.tried.push([form.get("tenant"), form.get("username")].filter((text) => text !== null).join("/"));
      return Promise.resolve(Response.json({ access_token: "x" }));
    };
    const now = () => NOW;
    const gateway = new StorageGateway(send, now);
    const answer = { error: campaigns ?? null, cookies: campaigns === null ? [CAMPAIGN_COOKIE] : [] };
    this.#deps = {
      gateway,
      facts: new LoginFacts(gateway, now),
      keys,
      sessionHours: 12,
      revoked: new RevokedSessions(null, NO_LOG, now),
      campaignTenant,
      results: results ??
        (campaigns === undefined ? null : {
          logIn: () => Promise.resolve(answer),
          logOut: () => Promise.resolve(answer),
        }),
      now,
    };
  }

  async logIn(username: string, { password = PASSWORD, next = "/" } = {}): Promise<Outcome> {
    const response = await loginForm(this.#deps)(context("/login", { username, password, next }));
    return outcome(response);
  }

  /** When the login page allows the next attempt after a login, ms since 1970. */
  async retryAt(username: string): Promise<number | null> {
    const form = { username, password: PASSWORD, next: "/" };
    const { headers } = await loginForm(this.#deps)(context("/login", form));
    const note = readLoginNote({ headers: new Headers({ Cookie: headers.getSetCookie()[0].split(";", 1)[0] }) });
    assert.ok(note?.kind === "failed");
    return note.retryAt;
  }

  /** The note of the closed side after a login; undefined where the login leaves it as it is. */
  async unavailableArea(username: string, cookie = ""): Promise<string | undefined> {
    const form = { username, password: PASSWORD, next: "/" };
    const { headers } = await loginForm(this.#deps)(context("/login", form, cookie));
    const [, value] = headers.getSetCookie().map((set) => /^login_sides=([^;]*)/.exec(set)).find(Boolean) ?? [];
    return value;
  }

  async logOut(cookie: string, form: Form = {}): Promise<Outcome> {
    return outcome(await logoutForm(this.#deps)(context("/logout", form, cookie)));
  }

  /** Whether a storage cookie, as a browser sends it, still is a login. */
  isLoggedIn(cookie: string): boolean {
    return loginsOf(this.#deps, new Request(SITE, { headers: { Cookie: cookie } })).length > 0;
  }
}

interface Outcome {
  readonly location: string | null;
  readonly cookies: readonly string[];
  /** The accounts of the storage cookies. */
  readonly accounts: readonly string[];
}

function outcome(response: Response): Outcome {
  assert.equal(response.status, 303);
  const cookies = response.headers.getSetCookie();
  const request = new Request(SITE, {
    headers: { Cookie: cookies.map((cookie) => cookie.split(";", 1)[0]).join("; ") },
  });
  const accounts = storageLogins(request, KEYS(), NOW, () => true).map(({ tenant, user }) => `${tenant ?? ""}/${user}`);
  return { location: response.headers.get("Location"), cookies: cookies.map(nameOf), accounts };
}

/** The name of a cookie; with `-` in front where it is removed. */
function nameOf(cookie: string): string {
  return (/; Max-Age=0\b/.test(cookie) ? "-" : "") + cookie.slice(0, cookie.indexOf("="));
}

/** The fields of a form, or a body with its type. */
type Form = Readonly<Record<string, string>> | { readonly type: string; readonly body: BodyInit };

function context(path: string, form: Form, cookie = ""): RequestContext {
  const headers = new Headers({ Origin: SITE, Host: new URL(SITE).host, Cookie: cookie });
  const isRaw = "body" in form;
  if (isRaw) headers.set("Content-Type", form.type);
  const body = isRaw ? form.body : new URLSearchParams(form);
  return new RequestContext(new Request(SITE + path, { method: "POST", headers, body }));
}

Deno.test("login: campaigns that accept are open, whatever the storage cannot do with the login", async () => {
  const open = { location: "/volumes", cookies: ["results_session", "login_sides"], accounts: [] };
  const next = "/volumes";
  const site = new Site({ campaigns: null });
  assert.deepEqual(await site.logIn("team_a/bob", { next }), open, "the store has no tenant of this name");
  assert.deepEqual(site.tried, []);
  const password = "語".repeat(1024);
  assert.deepEqual(await site.logIn("a".repeat(256), { next, password }), open, "too long for a cookie");
  assert.deepEqual(await new Site({ campaigns: null, keys: () => [] }).logIn("bob", { next }), open, "no key");
  assert.deepEqual(await new Site({ campaigns: null, storage: 503 }).logIn("bob", { next }), open);
});

Deno.test("login: what no side accepts leads back with the status of the side that knows", async () => {
  const failed = async (sides: Sides, username: string, password = PASSWORD) =>
    (await new Site(sides).logIn(username, { password })).location;
  assert.equal(await failed({ campaigns: "401" }, "team_a/bob"), "/login?error=401");
  assert.equal(await failed({ campaigns: "502" }, "team_a/bob"), "/login?error=502");
  assert.equal(await failed({}, "team_a/bob"), "/login?error=422");
  assert.equal(await failed({ campaigns: "401", storage: 401 }, "archive/bob"), "/login?error=401");
  assert.equal(await failed({ campaigns: "401", storage: 503 }, "archive/bob"), "/login?error=503");
  assert.equal(await failed({ campaigns: "401" }, "a".repeat(256), "語".repeat(1024)), "/login?error=422");
  assert.equal(await failed({ keys: () => [] }, "archive/bob"), "/login?error=503");
});

Deno.test("login: a name without a tenant is tried as the account that it can mean", async () => {
  const tried = async (sides: Sides) => {
    const site = new Site(sides);
    const { accounts } = await site.logIn("bob");
    return [site.tried, accounts];
  };
  assert.deepEqual(await tried({ campaigns: null }), [["archive/bob"], ["archive/bob"]]);
  assert.deepEqual(await tried({ campaigns: "401" }), [["bob"], ["/bob"]], "the system level");
  assert.deepEqual(await tried({ campaigns: null, campaignTenant: null }), [[], []], "its tenant is not known");
  assert.deepEqual(await tried({ campaigns: null, backend: "generic" }), [["bob"], ["/bob"]]);
  assert.deepEqual(await tried({ campaigns: "429" }), [[], []]);
});

Deno.test("login: where the store knows no tenants, one in front of the name makes no other account", async () => {
  const site = new Site({ backend: "generic" });
  const { location, accounts } = await site.logIn("archive/key");
  assert.deepEqual([site.tried, location, accounts], [["key"], "/storage?account=key", ["/key"]]);
});

Deno.test("login: an account to which the store says that a bucket is absent has the right password, whatever it may list", async () => {
  const led = async (sides: Sides, name: string) => (await new Site(sides).logIn(name)).location;
  assert.equal(await led({ storage: 403, absent: 404 }, "archive/bob"), "/storage?account=archive%2Fbob");
  assert.equal(await led({ storage: 403, absent: 200 }, "archive/bob"), "/storage?account=archive%2Fbob", "it exists");
  for (const absent of [401, 403]) {
    assert.equal(await led({ storage: 403, absent }, "archive/bob"), "/login?error=401", String(absent));
  }
  for (const absent of [429, 502, 503, 504]) {
    assert.equal(await led({ storage: 403, absent }, "archive/bob"), `/login?error=${absent}`, "it was not checked");
  }
  assert.equal(await led({ storage: 403, backend: "generic" }, "key"), "/storage?account=key", "it has no tenants");
  assert.equal(await new Site({ storage: 403, absent: 429 }).retryAt("archive/bob"), NOW + 7000);
  assert.equal(await new Site({ storage: 403 }).retryAt("archive/bob"), null);
  assert.equal(await led({ storage: 403, absent: 404 }, "bob"), "/login?error=401", "the system level has no buckets");
  assert.equal(await led({ storage: 401, absent: 404 }, "archive/bob"), "/login?error=401");
});

Deno.test("login: the side that stays closed is noted with its reason until both are open", async () => {
  const noted = (sides: Sides, name: string, cookie?: string) => new Site(sides).unavailableArea(name, cookie);
  assert.equal(await noted({ campaigns: null, storage: 503 }, "archive/bob"), "storage.503.new");
  assert.equal(await noted({ campaigns: null, campaignTenant: null }, "bob"), "storage.tenant.new");
  assert.equal(await noted({ campaigns: "401" }, "research/bob"), "campaigns.401.new");
  assert.equal(await noted({ campaigns: null }, "archive/bob"), undefined);
  assert.equal(await noted({}, "archive/bob"), undefined, "a site without campaigns");
  const before = "login_sides=campaigns.401.shown";
  assert.equal(await noted({ campaigns: null }, "archive/bob", before), "");
});

Deno.test("logout: it leaves the browser in any case, and is not called done where the results role failed", async () => {
  const sealed = "results_session=sealed";
  const passed = (status: number) => {
    const service = () => Promise.resolve(status === 303 ? LOGGED_OUT.clone() : new Response(null, { status }));
    return new Site({ results: resultsLogin({ service, cookieStem: "results_session" }) });
  };
  assert.deepEqual(await passed(303).logOut(sealed), {
    location: "/login",
    cookies: ["-storage_note", "-results_session", "login_note"],
    accounts: [],
  });
  assert.deepEqual(await passed(503).logOut(`${sealed}; storage_session=x`), {
    location: "/login?error=logout",
    cookies: ["-storage_session", "-storage_note", "-results_session"],
    accounts: [],
  });
  assert.match(loginErrorSentence("logout"), /could not end the campaign session/);
  const withoutSession = await passed(503).logOut("storage_session=x");
  assert.equal(withoutSession.location, "/login", "there was no session of the campaigns");
});

Deno.test("logout: a form that cannot be read logs out of everything", async () => {
  const login = { tenant: "archive", user: "curator", password: "p", issuedAt: NOW / 1000, expiresAt: NOW / 1000 + 60 };
  const cookie = storageCookie("http", login, [], KEYS()[0])?.split(";", 1)[0] ?? "";
  const type = "application/x-www-form-urlencoded";
  const broken = new ReadableStream({ start: (controller) => controller.error(new Error("broke off")) });
  const forms: readonly Form[] = [
    { type: "multipart/form-data; boundary=b", body: "no form" },
    { type, body: `account=${"a".repeat(17 * 1024)}` },
    { type, body: broken },
  ];
  for (const form of forms) {
    const site = new Site({ campaigns: null });
    assert.ok(site.isLoggedIn(cookie));
    const { location, cookies } = await site.logOut(cookie, form);
    assert.equal(location, "/login");
    assert.deepEqual(cookies.slice(0, 2), ["-storage_session", "-storage_note"]);
    assert.equal(site.isLoggedIn(cookie), false, "revoked too");
  }
});

Deno.test("login: a login of the storage alone leads on to pages of the storage, and to its buckets in place of others", async () => {
  const led = async (next: string) => (await new Site({ campaigns: "401" }).logIn("archive/bob", { next })).location;
  for (const next of ["/storage", "/storage/folder?bucket=a", "/fixity?account=archive%2Fbob", "/audit"]) {
    assert.equal(await led(next), next);
  }
  for (const next of ["/fixityx", "/volumes", "/auditor"]) {
    assert.equal(await led(next), "/storage?account=archive%2Fbob");
  }
});
