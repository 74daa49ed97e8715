import assert from "node:assert/strict";
import {
  accountKey,
  type Attempt,
  type Blocked,
  type Guess,
  GuessLimits,
  MAX_ACCOUNTS_PER_ADDRESS,
  MAX_ADDRESSES,
  MAX_WRONG_PER_ACCOUNT,
  MAX_WRONG_PER_ADDRESS,
  WINDOW_MS,
} from "@/lib/auth/credential_memory.ts";
import { AcceptedIdentities, KNOWN_MS, PROVEN_MS } from "@/lib/auth/admission.ts";

function clocked() {
  const clock = { now: 1_000_000 };
  const limits = new GuessLimits(() => clock.now);
  let last = 0;
  /** A guess with a password that nobody tried yet. */
  const start = (address: string, account: string, digest = `d${last++}`, by: Guess["by"] = "gateway") =>
    limits.start({ address, account, digest, by });
  const wrong = (address: string, account: string, digest?: string, by?: Guess["by"]) => {
    const attempt = started(start(address, account, digest, by));
    attempt.wrong();
    attempt.end();
  };
  const right = (address: string, account: string) => {
    const attempt = started(start(address, account));
    attempt.right();
    attempt.end();
  };
  return { clock, limits, start, wrong, right };
}

function started(result: Attempt | Blocked): Attempt {
  assert.ok(!("limit" in result), JSON.stringify(result));
  return result;
}

function waits(result: Attempt | Blocked): [string, number] {
  assert.ok("limit" in result, "was let in");
  return [result.limit, result.seconds];
}

Deno.test("guess limits: an account from an address waits 5 s after its tenth wrong password in a minute, then twice as long each time", () => {
  const { clock, start, wrong, right } = clocked();
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("a", "u");
  for (const seconds of [5, 10, 20, 40, 80, 160, 300, 300]) {
    assert.deepEqual(waits(start("a", "u")), ["account", seconds]);
    started(start("a", "other")).end();
    started(start("b", "u")).end();
    clock.now += seconds * 1000 - 1;
    assert.deepEqual(waits(start("a", "u")), ["account", 1]);
    clock.now += 1;
    wrong("a", "u");
  }
  clock.now += 300_000;
  right("a", "u");
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("a", "u");
  assert.deepEqual(waits(start("a", "u")), ["account", 5], "a success begins anew");
});

Deno.test("guess limits: a login that both roles check one after the other is one guess, its repetition another", () => {
  const { clock, start, wrong } = clocked();
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) {
    for (const by of ["gateway", "results"] as const) wrong("a", "u", `login ${n}`, by);
  }
  assert.deepEqual(waits(start("a", "u")), ["account", 5]);
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("b", "u", "the same again");
  assert.deepEqual(waits(start("b", "u")), ["account", 5]);
  wrong("c", "u", "the same, much later", "gateway");
  clock.now += 10_000;
  wrong("c", "u", "the same, much later", "results");
  for (let n = 2; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("c", "u");
  assert.deepEqual(waits(start("c", "u")), ["account", 5]);
});

Deno.test("guess limits: the window slides, and quiet forgets", () => {
  const { clock, start, wrong } = clocked();
  for (let n = 0; n < 50; n++) {
    wrong("a", "u");
    clock.now += Math.ceil(WINDOW_MS / (MAX_WRONG_PER_ACCOUNT - 1));
  }
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("b", "u");
  clock.now += 600_000;
  for (let n = 1; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("b", "u");
  started(start("b", "u")).end();
});

Deno.test("guess limits: an address has sixty in all, from which accounts that were right lately are exempt", () => {
  const { clock, start, wrong, right } = clocked();
  right("a", "anna");
  for (let n = 0; n < MAX_WRONG_PER_ADDRESS; n++) wrong("a", `u${n}`);
  assert.deepEqual(waits(start("a", "new")), ["address", 5]);
  started(start("a", "anna")).end();
  started(start("b", "new")).end();
  right("a", "anna");
  assert.deepEqual(waits(start("a", "new")), ["address", 5], "a valid account frees itself alone");
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("a", "anna");
  assert.deepEqual(waits(start("a", "anna"))[0], "account", "which does not make it free to guess");
  clock.now += 600_001;
  for (let n = 0; n < MAX_WRONG_PER_ADDRESS; n++) wrong("a", `u${n}`);
  assert.deepEqual(waits(start("a", "anna")), ["address", 5], "the exemption ends");
});

Deno.test("guess limits: many at once are no way around, and the same credentials at once are one guess", () => {
  const { clock, start, wrong } = clocked();
  const pending = Array.from({ length: MAX_WRONG_PER_ACCOUNT }, () => started(start("a", "u")));
  assert.deepEqual(waits(start("a", "u")), ["account", 1]);
  pending.forEach((attempt) => attempt.end());
  const same = Array.from({ length: 64 }, () => started(start("a", "u", "same")));
  same.forEach((attempt) => attempt.wrong());
  same.forEach((attempt) => attempt.end());
  for (let n = 1; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("a", "u");
  assert.deepEqual(waits(start("a", "u")), ["account", 5]);
  clock.now += 5000;
  const one = started(start("a", "u"));
  assert.deepEqual(waits(start("a", "u")), ["account", 1], "after a wait one at a time");
  one.end();
  const many = Array.from({ length: MAX_WRONG_PER_ADDRESS }, (_, n) => started(start("b", `u${n}`)));
  assert.deepEqual(waits(start("b", "u99")), ["address", 1]);
  many.forEach((attempt) => attempt.end());
});

Deno.test("guess limits: attempts without a verdict leave no state", () => {
  const { limits, start } = clocked();
  for (let n = 0; n < 100; n++) {
    const attempt = started(start(`a${n}`, `u${n}`));
    attempt.end();
    attempt.end();
  }
  assert.deepEqual(limits.size, { addresses: 0, accounts: 0 });
});

Deno.test("guess limits: invented addresses and accounts take bounded memory and end no wait", () => {
  const { limits, start, wrong } = clocked();
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) wrong("slow", "u");
  wrong("once", "u");
  for (let n = 0; n < MAX_ADDRESSES + 10; n++) wrong(`x${n}`, `u${n}`);
  assert.equal(limits.size.addresses, MAX_ADDRESSES);
  assert.equal(limits.size.accounts, MAX_ADDRESSES);
  assert.equal(waits(start("slow", "u"))[0], "account");
  const shared = clocked();
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) shared.wrong("a", "victim");
  for (let n = 0; n < 4 * MAX_ACCOUNTS_PER_ADDRESS; n++) {
    shared.clock.now += 2000;
    if (n % 50 === 49) shared.clock.now += 5000;
    const attempt = shared.start("a", `u${n}`);
    if ("limit" in attempt) continue;
    attempt.wrong();
    attempt.end();
  }
  assert.ok(shared.limits.size.accounts <= MAX_ACCOUNTS_PER_ADDRESS);
});

Deno.test("guess limits: names of accounts ignore case and spelling, and long ones take no more room", () => {
  assert.equal(accountKey("Archive", "A\u030asa"), accountKey("archive", "åsa"));
  assert.notEqual(accountKey("a", "x"), accountKey("b", "x"));
  assert.notEqual(accountKey(null, "a/x"), accountKey("b", "x"));
  assert.ok(accountKey("a", "x".repeat(1000)).length <= 64);
  assert.notEqual(accountKey("a", "x".repeat(1000)), accountKey("a", "x".repeat(1001)));
});

const ANNA = { username: "anna", password: "p", tenant: "archive" };

Deno.test("accepted identities: proven for a minute, known for ten, removed when rejected", () => {
  let now = 1_000_000;
  const accepted = new AcceptedIdentities(() => now);
  const digest = accepted.digest(ANNA);
  const state = () => [accepted.isProven(digest), accepted.isKnown(digest)];
  assert.deepEqual(state(), [false, false]);
  accepted.accept(digest);
  now += PROVEN_MS - 1;
  assert.deepEqual(state(), [true, true]);
  now += 1;
  assert.deepEqual(state(), [false, true]);
  accepted.accept(digest);
  assert.deepEqual(state(), [true, true]);
  now += KNOWN_MS;
  assert.deepEqual(state(), [false, false]);
  accepted.accept(digest);
  accepted.reject(digest);
  assert.deepEqual(state(), [false, false]);
});

Deno.test("accepted identities: a digest is of name, password and tenant, and of this process", () => {
  const accepted = new AcceptedIdentities(() => 0);
  const digest = accepted.digest(ANNA);
  assert.equal(accepted.digest({ ...ANNA, tenant: "Archive" }), digest);
  for (const change of [{ username: "Anna" }, { password: "q" }, { tenant: "other" }, { tenant: null }]) {
    assert.notEqual(accepted.digest({ ...ANNA, ...change }), digest, JSON.stringify(change));
  }
  assert.notEqual(accepted.digest({ ...ANNA, tenant: null }), accepted.digest({ ...ANNA, tenant: "" }));
  assert.notEqual(new AcceptedIdentities(() => 0).digest(ANNA), digest);
});
