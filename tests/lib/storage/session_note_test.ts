import assert from "node:assert/strict";
import { notedSessions, sessionNoteCookie } from "@/lib/storage/session_note.ts";

const NOW_S = 1_800_000_000;

function read(cookie: string) {
  return notedSessions(new Request("http://here.example/storage", { headers: { Cookie: cookie.split(";", 1)[0] } }));
}

Deno.test("session note: it names the sessions of a browser and their ends, and outlives them by a day", () => {
  const logins = [
    { tenant: "archive", user: "åsa", expiresAt: NOW_S + 60 },
    { tenant: null, user: "admin", expiresAt: NOW_S + 10 },
  ];
  const cookie = sessionNoteCookie("https", logins, NOW_S * 1000);
  assert.match(cookie, /^storage_note=[\w-]+; Max-Age=86460; Path=\/storage; HttpOnly; SameSite=Strict; Secure$/);
  assert.deepEqual(read(cookie), [
    { account: "archive/åsa", endsAt: NOW_S + 60 },
    { account: "admin", endsAt: NOW_S + 10 },
  ]);
  assert.match(sessionNoteCookie("http", [], NOW_S * 1000), /^storage_note=; Max-Age=0; /);
});

Deno.test("session note: the oldest sessions are left out where all do not fit, and what is no note names none", () => {
  const logins = Array.from({ length: 8 }, (_, n) => ({
    tenant: "archive",
    user: `${n}${"語".repeat(255)}`,
    expiresAt: NOW_S,
  }));
  const cookie = sessionNoteCookie("http", logins, NOW_S * 1000);
  assert.ok(cookie.length <= 4096);
  assert.deepEqual(read(cookie).map(({ account }) => account.slice(8, 9)), ["0", "1", "2"]);
  for (const value of ["", "x", btoa("{}"), btoa('[{"account":1}]'), "a".repeat(5000)]) {
    assert.deepEqual(read(`storage_note=${value}`), []);
  }
});
