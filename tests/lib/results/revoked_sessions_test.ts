import assert from "node:assert/strict";
import { batchedLog, type RequestLog } from "@/lib/http/access_log.ts";
import {
  MAX_LISTED,
  MAX_PER_ACCOUNT,
  type RevocationFile,
  RevocationFileError,
  RevokedSessions,
} from "@/lib/results/revoked_sessions.ts";

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

const session = (digest: string, account = "a", expiresAt = LATER) => ({ digest, account, expiresAt });

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

Deno.test("revoked sessions: an account that logs out again and again has one entry, and may log in once more", () => {
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
  const revoked = new RevokedSessions(file, log, () => NOW);
  revoked.add([session("one")]);
  assert.equal(revoked.has(session("one")), true);
  assert.equal(lines.length, 1);
  assert.match(JSON.stringify(lines), /PermissionDenied/);
  assert.ok(!JSON.stringify(lines).includes("secret path"));
});

Deno.test("revoked sessions: a file with anything else in it ends the start", () => {
  for (
    const text of [
      "",
      "null",
      "[]",
      "{}",
      '{"version":2,"listed":[],"upTo":[]}',
      '{"version":1,"listed":[["a","b"]],"upTo":[]}',
      '{"version":1,"listed":[["a","b","c"]],"upTo":[]}',
      '{"version":1,"listed":[],"upTo":{}}',
    ]
  ) {
    assert.throws(() => new RevokedSessions(memory(text), silent, () => NOW), RevocationFileError, text);
  }
});
