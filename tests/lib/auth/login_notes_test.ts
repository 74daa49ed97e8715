import assert from "node:assert/strict";
import { createSecretKey, randomBytes } from "node:crypto";
import {
  notedSessions,
  notedUnavailableArea,
  rememberShown,
  sessionNoteCookie,
  unavailableAreaCookie,
} from "@/lib/auth/storage_cookie.ts";

const noted = (cookie: string) =>
  notedUnavailableArea(new Request("http://here.example/", { headers: { Cookie: cookie.split(";", 1)[0] } }));

Deno.test("closed side: the note of a login is read as it was written, and anything else is none", () => {
  for (const reason of [401, 503, "tenant"] as const) {
    const closed = { side: "storage", reason, isShown: false } as const;
    assert.deepEqual(noted(unavailableAreaCookie("http", closed)), closed);
  }
  for (const value of ["", "storage.401", "all.401.new", "storage.<b>.new", "storage.4010.new"]) {
    assert.equal(noted(`login_sides=${value}`), null, value);
  }
  assert.match(
    unavailableAreaCookie("https", null),
    /^__Host-login_sides=; Max-Age=0; .*; HttpOnly; SameSite=Strict; Secure$/,
  );
});

function shownCookies(request: Request, noted: Parameters<typeof rememberShown>[2]): string[] {
  const headers = new Headers();
  rememberShown(headers, request, noted);
  return headers.getSetCookie();
}

Deno.test("closed side: a page that says it marks the note once", () => {
  const request = new Request("http://here.example/");
  const closed = { side: "campaigns", reason: 401, isShown: false } as const;
  const [cookie] = shownCookies(request, closed);
  assert.deepEqual(noted(cookie), { ...closed, isShown: true });
  for (const other of [null, { ...closed, isShown: true }]) {
    assert.deepEqual(shownCookies(request, other), []);
  }
});

const NOW_S = 1_800_000_000;
const [KEY, PREVIOUS_KEY, OTHER_KEY] = [0, 1, 2].map(() => createSecretKey(randomBytes(32)));
const KEYS = [KEY, PREVIOUS_KEY];
const LOGIN = { tenant: "archive", user: "åsa", expiresAt: NOW_S + 60 };

/** What a browser with these cookies has, by their `Set-Cookie` values. */
function read(...cookies: string[]) {
  const Cookie = cookies.map((cookie) => cookie.split(";", 1)[0]).join("; ");
  return notedSessions(new Request("http://here.example/storage", { headers: { Cookie } }), KEYS);
}

Deno.test("session note: it names the sessions of a browser and their ends, and outlives them by a day", () => {
  const logins = [
    LOGIN,
    { tenant: null, user: "admin", expiresAt: NOW_S + 10 },
  ];
  const cookie = sessionNoteCookie("https", logins, KEYS, NOW_S * 1000);
  assert.match(cookie, /^__Host-storage_note=[\w-]+; Max-Age=86460; Path=\/; HttpOnly; SameSite=Strict; Secure$/);
  assert.deepEqual(read(sessionNoteCookie("http", logins, KEYS, NOW_S * 1000)), [
    { account: "archive/åsa", endsAt: NOW_S + 60 },
    { account: "admin", endsAt: NOW_S + 10 },
  ]);
  assert.match(sessionNoteCookie("http", [], KEYS, NOW_S * 1000), /^storage_note=; Max-Age=0; /);
});

Deno.test("session note: the oldest sessions are left out where all do not fit, and what is no note names none", () => {
  const logins = Array.from({ length: 8 }, (_, n) => ({
    tenant: "archive",
    user: `${n}${"語".repeat(255)}`,
    expiresAt: NOW_S,
  }));
  const cookie = sessionNoteCookie("http", logins, KEYS, NOW_S * 1000);
  assert.ok(cookie.length <= 4096);
  assert.deepEqual(read(cookie).map(({ account }) => account.slice(8, 9)), ["0", "1", "2"]);
  for (const value of ["", "x", btoa("{}"), btoa('[{"account":1}]'), "a".repeat(5000)]) {
    assert.deepEqual(read(`storage_note=${value}`), []);
  }
});

Deno.test("session note: one that was not sealed with our key names no session, and hides none", () => {
  const plain = `storage_note=${btoa(JSON.stringify([{ account: "call 555", endsAt: NOW_S }]))}`;
  const foreign = sessionNoteCookie("http", [{ ...LOGIN, user: "foreign" }], [OTHER_KEY], NOW_S * 1000);
  const own = sessionNoteCookie("http", [LOGIN], KEYS, NOW_S * 1000);
  assert.deepEqual(read(plain, foreign), []);
  const previous = sessionNoteCookie("http", [LOGIN], [PREVIOUS_KEY], NOW_S * 1000);
  for (const sealed of [own, previous]) {
    assert.deepEqual(read(plain, foreign, sealed), [{ account: "archive/åsa", endsAt: NOW_S + 60 }]);
  }
  const without = sessionNoteCookie("http", [LOGIN], [], NOW_S * 1000);
  assert.match(without, /^storage_note=; Max-Age=0; /, "while the key cannot be read");
});
