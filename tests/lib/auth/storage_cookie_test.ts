import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { createSecretKey } from "node:crypto";
import {
  clearedLogin,
  clearedLogins,
  ownerOf,
  storageCookie,
  storageKeys,
  type StorageLogin,
  storageLogins,
} from "@/lib/auth/storage_cookie.ts";

const NOW_S = 1_800_000_000;
const KEY = keyOf(createSecretKey(randomBytes(32)));

function keyOf(secret: ReturnType<typeof createSecretKey>) {
  const [key] = storageKeys(() => [secret])();
  return key;
}

const ALL = () => true;

function login(user: string, tenant: string | null = "archive", issuedAt = NOW_S, password = "p4ss–wörd") {
  return { tenant, user, password, issuedAt, expiresAt: issuedAt + 3600 };
}

function requestWith(...cookies: string[]): Request {
  const pairs = cookies.map((cookie) => cookie.split(";", 1)[0]);
  return new Request("http://here.example/storage", { headers: { Cookie: pairs.join("; ") } });
}

function cookieOf(...parameters: Parameters<typeof storageCookie>): string {
  const cookie = storageCookie(...parameters);
  assert.ok(cookie !== null);
  return cookie;
}

Deno.test("storage cookie: it holds a login that only the key opens, until it expires", () => {
  const cookie = cookieOf("http", login("åsa"), [], KEY);
  assert.match(cookie, /^storage_session=[\w-]+; Max-Age=3600; Path=\/; HttpOnly; SameSite=Strict$/);
  assert.match(cookieOf("https", login("åsa"), [], KEY), /^__Host-storage_session=.*; Secure$/);
  assert.ok(!cookie.includes("p4ss") && !cookie.includes(btoa("p4ss").replace("==", "")));

  const [{ digest, account, owner, ...opened }, ...others] = storageLogins(
    requestWith(cookie),
    [KEY],
    NOW_S * 1000,
    ALL,
  );
  assert.deepEqual(opened, { ...login("åsa"), slot: 0 });
  assert.deepEqual([digest.length, account.length], [43, 43]);
  assert.equal(owner, ownerOf({ tenant: "Archive", user: "Åsa" }, KEY));
  assert.notEqual(owner, ownerOf({ tenant: null, user: "archive/åsa" }, keyOf(createSecretKey(randomBytes(32)))));
  assert.deepEqual(others, []);

  assert.deepEqual(storageLogins(requestWith(cookie), [KEY], (NOW_S + 3600) * 1000, ALL), []);
  assert.deepEqual(
    storageLogins(requestWith(cookie), [keyOf(createSecretKey(randomBytes(32)))], NOW_S * 1000, ALL),
    [],
  );
  const changed = cookie.replace(/=(.)/, (_, first) => first === "_" ? "=-" : "=_");
  assert.deepEqual(storageLogins(requestWith(changed), [KEY], NOW_S * 1000, ALL), []);
  assert.deepEqual(storageLogins(requestWith("storage_session=AAAA"), [KEY], NOW_S * 1000, ALL), []);
});

Deno.test("storage cookie: a browser holds eight accounts, each once, and the oldest makes room", () => {
  const cookies = new Map<string, string>();
  const add = (one: ReturnType<typeof login>): StorageLogin[] => {
    const before = storageLogins(requestWith(...cookies.values()), [KEY], NOW_S * 1000, ALL);
    const cookie = cookieOf("http", one, before, KEY);
    cookies.set(cookie.split("=", 1)[0], cookie);
    return storageLogins(requestWith(...cookies.values()), [KEY], NOW_S * 1000, ALL);
  };
  for (let n = 0; n < 8; n++) add(login(`user${n}`, n % 2 === 0 ? "archive" : null, NOW_S + n));
  assert.equal(cookies.size, 8);
  assert.equal([...cookies.keys()][1], "storage2_session");
  // The same account in other letters: a new password takes the place of the old one.
  const renewed = add(login("USER3", null, NOW_S + 20, "new"));
  assert.equal(renewed.length, 8);
  assert.deepEqual([renewed[0].user, renewed[0].password, renewed[0].slot], ["USER3", "new", 3]);
  const ninth = add(login("ninth", "research", NOW_S + 30));
  assert.equal(cookies.size, 8);
  assert.deepEqual(ninth.map(({ user }) => user), [
    "ninth",
    "USER3",
    "user7",
    "user6",
    "user5",
    "user4",
    "user2",
    "user1",
  ]);
});

Deno.test("storage cookie: of several cookies of one name the first login in force counts", () => {
  const revoked = cookieOf("http", login("kerstin", "archive", NOW_S - 20), [], KEY);
  const foreign = cookieOf("http", login("other"), [], keyOf(createSecretKey(randomBytes(32))));
  const expired = cookieOf("http", login("old", "archive", NOW_S - 4000), [], KEY);
  const good = cookieOf("http", login("olle"), [], KEY);
  const usersOf = (cookies: readonly string[]) =>
    storageLogins(requestWith(...cookies), [KEY], NOW_S * 1000, ({ user }) => user !== "kerstin").map(({ user }) =>
      user
    );
  assert.deepEqual(usersOf([revoked, foreign, expired, good]), ["olle"]);
  assert.deepEqual(usersOf([good, revoked]), ["olle"]);
  assert.deepEqual(usersOf([revoked, foreign, expired]), []);
});

Deno.test("storage cookie: a login too long for a cookie is not sealed, and logins are removed by name", () => {
  assert.equal(storageCookie("http", login("a", "b", NOW_S, "p".repeat(4000)), [], KEY), null);
  const request = requestWith("storage_session=x", "storage8_session=y", "storage9_session=z", "other=1");
  const gone = (name: string) => `${name}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict`;
  assert.deepEqual(clearedLogins(request), [gone("storage_session"), gone("storage8_session")]);
  assert.equal(clearedLogin(request, { slot: 2 }), gone("storage3_session"));
});

Deno.test("storage cookie: a replaced secret ends all logins, and an unreadable one opens none", () => {
  const [first, second] = [0, 1].map(() => [createSecretKey(randomBytes(32))]);
  let secrets: typeof first = first;
  const keys = storageKeys(() => secrets);
  const [key] = keys();
  assert.equal(keys(), keys(), "derived once");
  secrets = [];
  assert.deepEqual(keys(), []);
  secrets = second;
  assert.ok(!keys()[0].equals(key));
});

Deno.test("storage cookie: while a secret is replaced, logins of both are open and are revoked as before", () => {
  const [old, next] = [0, 1].map(() => createSecretKey(randomBytes(32)));
  const [oldKey, nextKey] = [keyOf(old), keyOf(next)];
  const cookies = [
    cookieOf("http", login("before", "archive", NOW_S), [], oldKey),
    cookieOf("http", login("after", "archive", NOW_S + 1), [], nextKey).replace("storage_", "storage2_"),
  ];
  const open = (keys: Parameters<typeof storageLogins>[1]) =>
    storageLogins(requestWith(...cookies), keys, NOW_S * 1000, ALL);
  const users = (keys: Parameters<typeof open>[0]) => open(keys).map(({ user }) => user);
  assert.deepEqual(users([oldKey, nextKey]), ["after", "before"]);
  assert.deepEqual(users([nextKey, oldKey]), ["after", "before"]);
  assert.deepEqual(users([nextKey]), ["after"]);
  const accounts = (keys: Parameters<typeof open>[0]) => open(keys).map(({ account }) => account);
  assert.deepEqual(accounts([oldKey, nextKey]), accounts([nextKey, oldKey]), "whatever the order of the keys");
});
