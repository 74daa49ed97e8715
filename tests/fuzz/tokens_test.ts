import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createSecretKey } from "node:crypto";
import { issueToken, tokenKey, tokenVerifier } from "@/lib/auth/admission.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { currentLanguage } from "@/lib/pages/locale/language.ts";
import { loginNoteCookie, readLoginNote } from "@/lib/results/results_login.ts";
import { parseRevocationRows, parseRevocationText, revocationText } from "@/lib/auth/revoked_sessions.ts";
import { openSession, sealSession, sessionValues } from "@/lib/auth/session_token.ts";
import { SealedEvents } from "@/lib/state/sealed_events.ts";
import { inLanguageOf } from "@/lib/site/page_language.ts";
import {
  notedSessions,
  notedUnavailableArea,
  sessionNoteCookie,
  storageCookie,
  storageLogins,
  unavailableAreaCookie,
} from "@/lib/auth/storage_cookie.ts";
import { openCaller, openProgress, sealProgress, taskKeys } from "@/lib/tasks/task_keys.ts";
import { checkTicket, issueTicket } from "@/lib/tasks/zip/zip_download.ts";
import { assertNothingInherited, fuzz, near, nearHeader, nearJson, resolvedOr } from "./hostile.ts";

const NOW = 1_800_000_000;
const SECRET = new TextEncoder().encode("a secret that only tests know, 32+");
const KEY = tokenKey(SECRET);
const CLAIMS = { sub: "archive/curator", pwd: "a password", tenant: "archive" };
const SIGNED = await issueToken(CLAIMS, KEY, { nowSeconds: NOW, lifetimeMinutes: 10 });
const ENCRYPTED = await issueToken(CLAIMS, KEY, { nowSeconds: NOW, lifetimeMinutes: 10, format: "encrypted" });
const part = (value: unknown) => Buffer.from(JSON.stringify(value)).toString("base64url");
const [, BODY, SIGNATURE] = SIGNED.split(".");
const FORGED = [
  `${part({ alg: "none" })}.${BODY}.`,
  `${part({ alg: "none" })}.${BODY}.${SIGNATURE}`,
  `${part({ alg: "HS512" })}.${BODY}.${SIGNATURE}`,
  `${part({ alg: "HS256", crit: ["exp"] })}.${BODY}.${SIGNATURE}`,
  `${part({ alg: "HS256", b64: false, crit: ["b64"] })}.${BODY}.${SIGNATURE}`,
  `${part({ alg: "dir", enc: "A256GCM", zip: "DEF" })}..AAAA.AAAA.AAAA`,
];
const WORDS = [".", "..", "=", "eyJ", part({ alg: "none" }), part({ sub: "x", exp: 9e15 })];
const isUnauthorized = (error: unknown) => error instanceof HttpError && error.status === 401;

/** What base64url says, however it spells it: decoding skips what is none, and the last bits. */
const decoded = (text: string) => Buffer.from(text, "base64url").toString("hex");

/** What the parts of a token say. */
const bytesOf = (token: string) => token.split(".").map(decoded).join();

fuzz("bearer tokens", {
  inputs: near([SIGNED, ENCRYPTED, ...FORGED], WORDS),
  async check(token) {
    const claims = await resolvedOr(() => tokenVerifier([KEY])(token, NOW), isUnauthorized);
    if (claims === null) return;
    assert.ok(
      [SIGNED, ENCRYPTED].some((issued) => bytesOf(issued) === bytesOf(token)),
      "no other token than an issued one",
    );
    assert.deepEqual(claims, CLAIMS);
    assert.equal(await resolvedOr(() => tokenVerifier([KEY])(token, NOW + 601), isUnauthorized), null, "not for ever");
  },
  growth: {
    seeds: [SIGNED, ENCRYPTED],
    words: WORDS,
    read: (text) => resolvedOr(() => tokenVerifier([KEY])(text, NOW), isUnauthorized),
  },
});

fuzz("claims of tokens with the right signature", {
  inputs: nearJson([{ ...CLAIMS, exp: NOW + 600 }]),
  async check(payload) {
    const { createHmac } = await import("node:crypto");
    const signed = `${part({ alg: "HS256" })}.${Buffer.from(JSON.stringify(payload) ?? "").toString("base64url")}`;
    const token = `${signed}.${createHmac("sha256", SECRET).update(signed).digest("base64url")}`;
    const claims = await resolvedOr(() => tokenVerifier([KEY])(token, NOW), isUnauthorized);
    if (claims === null) return;
    assert.ok(typeof claims.sub === "string" && typeof claims.pwd === "string");
    assert.ok(claims.tenant === null || /^[A-Za-z0-9-]+$/.test(claims.tenant), String(claims.tenant));
    assertNothingInherited();
  },
});

const SESSION_KEY = createSecretKey(Buffer.alloc(32, 7));
const SESSION = {
  user: "curator",
  keys: { accessKey: "a", secretKey: "s" },
  expiresAt: NOW + 60,
  issuedAt: NOW,
};
const SEALED = sealSession(SESSION, SESSION_KEY, "results") ?? "";

fuzz("session tokens", {
  inputs: near([SEALED, sealSession(SESSION, SESSION_KEY, "other") ?? ""], ["=", "A", "-"]),
  check(token) {
    const session = openSession(token, SESSION_KEY, "results", NOW * 1000);
    if (session === null) return;
    assert.equal(token, SEALED, "a session has one spelling");
    assert.deepEqual(session, SESSION);
  },
  growth: { seeds: [SEALED], read: (text) => openSession(text, SESSION_KEY, "results", NOW * 1000) },
});

const KEYS = [SESSION_KEY];
const LOGIN = { tenant: "archive", user: "curator", password: "p", expiresAt: NOW + 60, issuedAt: NOW };
const valueOf = (cookie: string | null) => cookie?.split(";", 1)[0] ?? "";
const COOKIES = [
  valueOf(storageCookie("http", LOGIN, [], SESSION_KEY)),
  valueOf(sessionNoteCookie("http", [LOGIN], KEYS, NOW * 1000)),
  valueOf(loginNoteCookie("http", { kind: "failed", username: "curator", retryAt: NOW * 1000 }, NOW * 1000)),
  valueOf(loginNoteCookie("http", { kind: "session", endsAt: NOW * 1000 }, NOW * 1000)),
  valueOf(unavailableAreaCookie("http", { side: "storage", reason: 403, isShown: false })),
  "language=sv",
];

fuzz("cookies", {
  inputs: fc.array(nearHeader(COOKIES, ["; ", "=", "__Host-", "language=", "login_note=", "storage_session="]), {
    minLength: 1,
    maxLength: 4,
  }).map((cookies) => cookies.join("; ")),
  check(Cookie) {
    const request = new Request("http://site.example/", { headers: { Cookie } });
    assert.ok(sessionValues(request, "storage_session").every((value) => /^[\x21-\x7e]{1,4096}$/.test(value)));
    for (const { tenant, user, password } of storageLogins(request, KEYS, NOW * 1000, () => true)) {
      assert.deepEqual({ tenant, user, password }, { tenant: "archive", user: "curator", password: "p" });
    }
    for (const { account } of notedSessions(request, KEYS)) assert.equal(account, "archive/curator");
    const note = readLoginNote(request);
    if (note?.kind === "session") new Date(note.endsAt).toISOString();
    if (note?.kind === "failed") assert.ok(note.username.length <= 256);
    const side = notedUnavailableArea(request);
    if (side) assert.deepEqual(notedUnavailableArea(withCookie(unavailableAreaCookie("http", side))), side);
    assert.ok(["en", "sv"].includes(inLanguageOf(request, () => currentLanguage())));
  },
  growth: {
    seeds: COOKIES,
    words: ["; ", "storage_session=a; ", "login_note=eyJ; "],
    read: (text) => {
      const request = withCookie(text.replace(/[^\x20-\x7e]/g, ""));
      storageLogins(request, KEYS, 0, () => true);
      return [notedSessions(request, KEYS), readLoginNote(request), notedUnavailableArea(request)];
    },
  },
});

function withCookie(cookie: string): Pick<Request, "url" | "headers"> {
  return { url: "http://site.example/", headers: new Headers({ Cookie: cookie }) };
}

const REVOKED = revocationText({ listed: [["digest", "account", NOW, null]], upTo: [["account", NOW, NOW]] });

fuzz("revoked sessions that were stored", {
  inputs: near([REVOKED, '{"version":1,"listed":[["d","a",5]],"upTo":[]}', '["account",5,null]'], ["null", "1e400"]),
  check(text) {
    const content = parseRevocationText(text);
    if (content) {
      const { listed, upTo } = parseRevocationText(revocationText(content)) ?? {};
      assert.deepEqual({ listed, upTo }, { listed: content.listed, upTo: content.upTo });
    }
    for (const row of parseRevocationRows([text, REVOKED]).values()) assert.ok(row.length === 3 || row.length === 4);
  },
  growth: { seeds: [REVOKED], read: (text) => [parseRevocationText(text), parseRevocationRows(text.split("]"))] },
});

const TASK_KEYS = taskKeys(SECRET);
const TASK = { id: "t1", kind: "zip", bucket: "maps" } as never;
const TICKET = issueTicket("t1", NOW * 1000, TASK_KEYS);
const PROGRESS = sealProgress('{"done":1}', TASK, TASK_KEYS);

fuzz("tickets and sealed tasks", {
  inputs: near([TICKET, PROGRESS, `${TICKET}.x`], [".", "zzzzzzzz", "-1"]),
  check(text) {
    if (checkTicket(text, "t1", 0, TASK_KEYS) !== "wrong") assert.equal(text, TICKET);
    assert.equal(checkTicket(text, "t2", 0, TASK_KEYS), "wrong");
    if (openProgress(text, TASK, TASK_KEYS) !== null) assert.equal(decoded(text), decoded(PROGRESS));
    assert.equal(openCaller(Buffer.from(text, "base64url"), TASK, TASK_KEYS), null);
  },
  growth: { seeds: [TICKET, PROGRESS], read: (text) => checkTicket(text, "t1", 0, TASK_KEYS) },
});

const STREAM = new SealedEvents("s", () => KEYS);
const ENTRY = new SealedEvents("s", () => KEYS).seal([{ revoked: 1 }]);

fuzz("entries of shared streams", {
  inputs: near([ENTRY, new SealedEvents("other", () => KEYS).seal(["x"])], ["=", "A"]),
  check(entry) {
    const events = new SealedEvents("s", () => KEYS).open(entry);
    if (events.length > 0) assert.deepEqual([decoded(entry), events], [decoded(ENTRY), [{ revoked: 1 }]]);
    assert.ok(STREAM.open(entry).length <= 1);
  },
  growth: { seeds: [ENTRY], read: (text) => STREAM.open(text) },
});
