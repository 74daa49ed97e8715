import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";

import { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import type { GatewayRequest } from "@/lib/auth/gateway_service.ts";
import { storageCookie, storageKeys } from "@/lib/auth/storage_cookie.ts";
import { buildApp } from "@/compose/app.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { fakeSource } from "@/tests/routes/api/v1/web_fixture.ts";
import { webDeps } from "@/tests/routes/web_deps_fixture.ts";

/** The clock of the pages, ms since 1970: 2027-01-15T08:00:00Z. */
export const PAGES_NOW = 1_800_000_000_000;
const SITE = "http://here.example";
const SECRETS = [createSecretKey(randomBytes(32))];

/** A request that reached the gateway: `POST /buckets/a/fixity`, and its body. */
export interface Seen {
  readonly call: string;
  readonly query: URLSearchParams;
  readonly body: unknown;
}

/** What a gateway returns; null: 404. */
type Answer = (seen: Seen) => Response | null;

/**
 * The storage pages over a gateway that answers like this, logged in as `archive/olle`. `seen` are the requests that
 * reached it, but for tokens and capabilities.
 */
export function storagePages(answer: Answer, tenant: string | null = "archive") {
  const seen: Seen[] = [];
  const gateway = async ({ method, target: { path, query }, body }: GatewayRequest): Promise<Response> => {
    if (path.endsWith("/auth/token")) return Response.json({ access_token: "x" });
    if (path.endsWith("/capabilities")) return Response.json({ mapi_enabled: true, storage_backend: "hcp" });
    const text = body ? await new Response(body).text() : "";
    const one = {
      call: `${method} ${path.slice("/api/v1".length)}`,
      query: new URLSearchParams(query),
      body: text === "" ? null : JSON.parse(text),
    };
    seen.push(one);
    return answer(one) ?? Response.json({ detail: "Not found" }, { status: 404 });
  };
  const now = () => PAGES_NOW;
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
  const login = { tenant, user: "olle", password: "p", issuedAt: PAGES_NOW / 1000, expiresAt: PAGES_NOW / 1000 + 3600 };
  const Cookie = storageCookie("http", login, [], key)?.split(";", 1)[0] ?? "";
  const page = async (response: Response) => ({
    status: response.status,
    location: response.headers.get("Location"),
    html: await response.text(),
  });
  return {
    seen,
    async open(path: string, language = "en") {
      return page(await app.request(SITE + path, { headers: { Cookie, "Accept-Language": language } }));
    },
    async send(path: string, fields: Record<string, string>, origin = SITE) {
      const headers = { Cookie, Origin: origin };
      return page(
        await app.request(SITE + path, { method: "POST", headers, body: new URLSearchParams(fields) }),
      );
    },
  };
}

/** The text of a page as it is read: without markup, spaces in a row as one. */
export function textOf(html: string): string {
  return html.replace(/<script\b.*?<\/script>/gs, "").replace(/data-props="[^"]*"/g, "").replace(/<[^>]*>/g, " ")
    .replaceAll("&lt;", "<").replaceAll("&quot;", '"').replaceAll("&amp;", "&").replace(/\s+/g, " ");
}
