import assert from "node:assert/strict";
import { batchedLog, type RequestLog } from "@/lib/http/app.ts";
import {
  MAX_LISTED,
  MAX_PER_ACCOUNT,
  MAX_RETRY_MS,
  RETRY_MS,
  type RevocableSession,
  type RevocationFile,
  RevocationFileError,
  RevokedSessions,
} from "@/lib/auth/revoked_sessions.ts";

const NOW = 1_000_000_000_000;
const LATER = NOW / 1000 + 3600;
const silent = batchedLog(() => {});

function memory(text: string | null = null): RevocationFile & { text: string | null; writes: number } {
  return {
    text,
    writes: 0,
    read() {
      return this.text;
    },
    write(text) {
      this.text = text;
      this.writes++;
    },
  };
}

/** A session of an hour. */
function session(digest: string, account = "a", expiresAt = LATER): RevocableSession {
  return { digest, account, expiresAt, issuedAt: expiresAt - 3600 };
}

/** `count` sessions that last so many hours, issued one second after the other. */
function issued(count: number, from: number, hours: number, name = "s"): RevocableSession[] {
  return Array.from({ length: count }, (_, n) => {
    const issuedAt = from + n;
    return { digest: `${name}${n}`, account: "a", expiresAt: issuedAt + hours * 3600, issuedAt };
  });
}

Deno.test("revoked sessions: what is revoked stays so, after a restart too, and others hold", () => {
  const file = memory();
  const revoked = new RevokedSessions(file, silent, () => NOW);
  revoked.add([session("one")]);
  // Nothing new is nothing to write.
  revoked.add([session("one")]);
  revoked.add([]);
  assert.equal(file.writes, 1);
  for (const known of [revoked, new RevokedSessions(file, silent, () => NOW)]) {
    assert.equal(known.has(session("one")), true);
    assert.equal(known.has(session("two")), false);
  }
});

Deno.test("revoked sessions: an entry goes when the session would have expired", () => {
  const clock = { now: NOW };
  const file = memory();
  const revoked = new RevokedSessions(file, silent, () => clock.now);
  revoked.add([session("short", "a", NOW / 1000 + 60), session("long")]);
  clock.now += 61_000;
  revoked.add([session("new")]);
  assert.equal(revoked.size, 2);
  assert.equal(JSON.parse(file.text ?? "").listed.length, 2);
  assert.equal(new RevokedSessions(file, silent, () => NOW + 3_600_000).size, 0);
});

Deno.test("revoked sessions: an account that logs out again and again has one entry, and may log in again", () => {
  const file = memory();
  const revoked = new RevokedSessions(file, silent, () => NOW);
  for (let n = 0; n < 1000; n++) revoked.add([session(`a${n}`, "a", LATER + n)]);
  revoked.add([session("b", "b")]);
  assert.ok(revoked.size <= MAX_PER_ACCOUNT + 2, String(revoked.size));
  for (const known of [revoked, new RevokedSessions(file, silent, () => NOW)]) {
    for (const n of [0, 500, 999]) assert.equal(known.has(session(`a${n}`, "a", LATER + n)), true);
    assert.equal(known.has(session("a-new", "a", LATER + 1000)), false);
    assert.equal(known.has(session("b-other", "b")), false);
  }
});

Deno.test("revoked sessions: beyond the list, those issued up to the newest end, and a new login holds however short", () => {
  const file = memory();
  const clock = { now: NOW };
  const revoked = new RevokedSessions(file, silent, () => clock.now);
  const start = NOW / 1000;
  // The account is shared: some stay logged in.
  const [before, ...long] = issued(MAX_PER_ACCOUNT + 1, start, 24);
  const others = issued(2, start + 1000, 24, "other");
  revoked.add(long);
  assert.ok(![before, ...others].some((one) => revoked.has(one)), "they are listed one by one");
  clock.now += 2_000_000;
  // Sessions last 8 hours from here on.
  const [last, afterwards] = issued(2, start + 2000, 8, "short");
  revoked.add([last]);
  for (const known of [revoked, new RevokedSessions(file, silent, () => clock.now)]) {
    assert.equal(known.size, 1);
    assert.ok([...long, last].every((one) => known.has(one)));
    assert.ok([before, ...others].every((one) => known.has(one)), "issued before the newest that logged out");
    assert.equal(known.has(afterwards), false);
  }
});

Deno.test("revoked sessions: tokens that do not tell when they were issued are folded by their expiry", () => {
  const file = memory();
  const revoked = new RevokedSessions(file, silent, () => NOW);
  const start = NOW / 1000;
  const old = issued(MAX_PER_ACCOUNT + 3, start, 8).map((one) => ({ ...one, issuedAt: null }));
  const [stays, ...ended] = old.reverse();
  revoked.add(ended);
  const fresh = issued(1, start - 3600, 1, "fresh")[0];
  for (const known of [revoked, new RevokedSessions(file, silent, () => NOW)]) {
    assert.ok(ended.every((one) => known.has(one)));
    assert.equal(known.has(stays), false);
    assert.equal(known.has(fresh), false, "what tells is judged by what it tells");
  }
});

Deno.test("revoked sessions: the file of the version before is read, and holds no new login up", () => {
  const listed = [["one", "b", LATER]];
  const file = memory(JSON.stringify({ version: 1, listed, upTo: [["a", LATER]] }));
  const revoked = new RevokedSessions(file, silent, () => NOW);
  const untold = (digest: string, account: string, expiresAt: number) => ({
    ...session(digest, account, expiresAt),
    issuedAt: null,
  });
  assert.equal(revoked.has(untold("one", "b", LATER)), true);
  assert.equal(revoked.has(untold("x", "a", LATER)), true);
  assert.equal(revoked.has(untold("x", "a", LATER + 1)), false);
  assert.equal(revoked.has(session("x", "a", LATER - 1)), false);
});

Deno.test("revoked sessions: many accounts have an entry each at most, and none is let in again", () => {
  const file = memory();
  const revoked = new RevokedSessions(file, silent, () => NOW);
  const accounts = Array.from({ length: MAX_LISTED / 10 + 1 }, (_, n) => String(n));
  const sessions = Array.from({ length: 10 }, (_, n) => accounts.map((account) => session(`${account}-${n}`, account)));
  sessions.forEach((some) => revoked.add(some));
  assert.equal(revoked.size, accounts.length);
  assert.ok(sessions.flat().every((one) => revoked.has(one)));
  assert.equal(revoked.has(session("new", "0", LATER + 1)), false);
});

Deno.test("revoked sessions: what cannot be written holds in memory and is logged", () => {
  const lines: unknown[] = [];
  const log: RequestLog = { write: (entry) => void lines.push(entry), flush() {} };
  const file: RevocationFile = {
    read: () => null,
    write() {
      throw new Deno.errors.PermissionDenied("secret path");
    },
  };
  const revoked = new RevokedSessions(file, log, () => NOW, { later: () => {} });
  revoked.add([session("one")]);
  assert.equal(revoked.has(session("one")), true);
  assert.equal(lines.length, 1);
  assert.match(JSON.stringify(lines), /PermissionDenied/);
  assert.ok(!JSON.stringify(lines).includes("secret path"));
});

/** A file that fails as long as it is `full`, and the timers that were asked for. */
function fullDisk() {
  const lines: string[] = [];
  const timers: { run: () => void; ms: number }[] = [];
  const disk = { ...memory(), full: true };
  const file: RevocationFile = {
    read: () => disk.text,
    write(text) {
      disk.writes++;
      if (disk.full) throw new Error("no space");
      disk.text = text;
    },
  };
  const log: RequestLog = { write: ({ level }) => void lines.push(level), flush() {} };
  const revoked = new RevokedSessions(file, log, () => NOW, { later: (run, ms) => void timers.push({ run, ms }) });
  const isWritten = (one: RevocableSession) => new RevokedSessions(file, silent, () => NOW).has(one);
  return { lines, timers, disk, revoked, isWritten };
}

Deno.test("revoked sessions: what could not be written is, at the next logout, of the same session too", () => {
  const { lines, timers, disk, revoked, isWritten } = fullDisk();
  revoked.add([session("one")]);
  revoked.add([session("one")]);
  // Whoever comes without a session makes nothing be written.
  revoked.add([]);
  assert.equal(disk.writes, 2);
  disk.full = false;
  revoked.add([session("one")]);
  assert.ok(isWritten(session("one")));
  revoked.add([session("one")]);
  timers.forEach(({ run }) => run());
  assert.equal(disk.writes, 3, "written is written");
  assert.deepEqual(lines, ["error", "info"]);
  assert.equal(timers.length, 1);
});

Deno.test("revoked sessions: what could not be written is tried again, ever more rarely, until it is", () => {
  const { lines, timers, disk, revoked, isWritten } = fullDisk();
  revoked.add([session("one")]);
  for (let n = 0; n < 8; n++) timers[n].run();
  assert.deepEqual(timers.map(({ ms }) => ms).slice(0, 3), [RETRY_MS, 2 * RETRY_MS, 4 * RETRY_MS]);
  assert.equal(timers.at(-1)?.ms, MAX_RETRY_MS);
  assert.deepEqual([timers.length, lines], [9, ["error"]]);
  disk.full = false;
  timers[8].run();
  assert.ok(isWritten(session("one")));
  assert.deepEqual([timers.length, lines], [9, ["error", "info"]]);
  // The next failure begins anew, and a timer that is late belongs to none.
  disk.full = true;
  revoked.add([session("two")]);
  timers[8].run();
  assert.deepEqual([timers.length, timers.at(-1)?.ms], [10, RETRY_MS]);
});

Deno.test("revoked sessions: a file with anything else in it ends the start", () => {
  for (
    const text of [
      "",
      "null",
      "[]",
      "{}",
      '{"version":3,"listed":[],"upTo":[]}',
      '{"version":2,"listed":[["a","b",1]],"upTo":[]}',
      '{"version":2,"listed":[],"upTo":[["a",1,"b"]]}',
      '{"version":1,"listed":[["a","b"]],"upTo":[]}',
      '{"version":1,"listed":[["a","b","c"]],"upTo":[]}',
      '{"version":1,"listed":[],"upTo":{}}',
    ]
  ) {
    assert.throws(() => new RevokedSessions(memory(text), silent, () => NOW), RevocationFileError, text);
  }
});
