import fc from "fast-check";
import assert from "node:assert/strict";
import {
  type Attempt,
  type Blocked,
  GuessLimits,
  MAX_ADDRESSES,
  MAX_WRONG_PER_ACCOUNT,
  MAX_WRONG_PER_ADDRESS,
  WINDOW_MS,
} from "@/lib/auth/credential_memory.ts";

type SharedVerdict = Parameters<NonNullable<ConstructorParameters<typeof GuessLimits>[1]>>[0];

const START = 1_000_000_000;
const ADDRESSES = ["a", "b"];
const ACCOUNTS = ["u", "v", "w"];

let guesses = 0;

/** What a guess meets now; it leaves no state. */
function outcome(limits: GuessLimits, address: string, account: string): string {
  const attempt = limits.start({ address, account, digest: `d${guesses++}`, by: "gateway" });
  if ("limit" in attempt) return `${attempt.limit} ${attempt.seconds}`;
  attempt.end();
  return "free";
}

function outcomes(limits: GuessLimits): string[] {
  return ADDRESSES.flatMap((address) => ACCOUNTS.map((account) => outcome(limits, address, account)));
}

/** A guess with its verdict, where the limits let it through. */
function guess(limits: GuessLimits, address: string, account: string, verdict: "wrong" | "right"): void {
  const attempt: Attempt | Blocked = limits.start({ address, account, digest: `d${guesses++}`, by: "gateway" });
  if ("limit" in attempt) return;
  attempt[verdict]();
  attempt.end();
}

/** Processes that apply each other's verdicts at once, by way of JSON. */
function replicas(count: number, now: () => number): GuessLimits[] {
  const all: GuessLimits[] = Array.from({ length: count }, (_, n) =>
    new GuessLimits(now, (verdict) => {
      for (const [other, limits] of all.entries()) if (other !== n) limits.apply(JSON.parse(JSON.stringify(verdict)));
    }));
  return all;
}

function wrong(account: string, at: number, address = "a"): SharedVerdict {
  return { verdict: "wrong", address, account, at };
}

Deno.test("shared verdicts: replicas that exchange them limit as one process does", () => {
  const guessed = fc.record({
    replica: fc.nat(2),
    verdict: fc.constantFrom("wrong" as const, "wrong" as const, "wrong" as const, "right" as const),
    address: fc.constantFrom(...ADDRESSES),
    account: fc.constantFrom(...ACCOUNTS),
    afterMs: fc.constantFrom(0, 0, 0, 10, 1000, 6000, 61_000, 300_000, 600_000),
  });
  fc.assert(fc.property(fc.array(guessed, { maxLength: 80 }), (all) => {
    let now = START;
    const shared = replicas(3, () => now);
    const alone = new GuessLimits(() => now);
    for (const { replica, verdict, address, account, afterMs } of all) {
      now += afterMs;
      guess(shared[replica], address, account, verdict);
      guess(alone, address, account, verdict);
      for (const limits of shared) assert.deepEqual(outcomes(limits), outcomes(alone));
    }
  }));
});

Deno.test("shared verdicts: wrong passwords of a minute count the same in any order", () => {
  const times = fc.array(fc.nat(WINDOW_MS - 1), { minLength: MAX_WRONG_PER_ACCOUNT, maxLength: 40 });
  const shuffled = times.chain((all) =>
    fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length, maxLength: all.length }))
  );
  fc.assert(fc.property(shuffled, ([one, other]) => {
    const [first, second] = [one, other].map((ms) => {
      const limits = new GuessLimits(() => START);
      for (const ago of ms) limits.apply(wrong("u", START - ago));
      return outcomes(limits);
    });
    assert.deepEqual(first, second);
  }));
});

Deno.test("shared verdicts: an account that one replica accepts again and again is exempt from the address's limit at all", () => {
  let now = START;
  const verdicts: SharedVerdict[] = [];
  const other = new GuessLimits(() => now);
  const one = new GuessLimits(() => now, (verdict) => {
    verdicts.push(verdict);
    other.apply(verdict);
  });
  for (let second = 0; second < 1800; second++) {
    now += 1000;
    one.accepted({ address: "a", account: "anna" });
  }
  assert.equal(verdicts.length, 6, "each is sent once in five minutes");
  for (let n = 0; n < MAX_WRONG_PER_ADDRESS; n++) other.apply(wrong(`u${n}`, now));
  assert.equal(outcome(other, "a", "new"), "address 5");
  assert.equal(outcome(other, "a", "anna"), "free");
});

Deno.test("shared verdicts: what another process sends takes bounded memory, and what is no verdict takes none", () => {
  const limits = new GuessLimits(() => START);
  const long = "x".repeat(65);
  for (
    const value of [
      undefined,
      null,
      1,
      "wrong",
      [],
      {},
      { ...wrong("u", START), verdict: "locked" },
      wrong(long, START),
      wrong("u", START, long),
      { ...wrong("u", START), at: "1" },
      { ...wrong("u", START), at: Infinity },
      wrong("u", START - 600_000),
      { ...wrong("u", START), account: { length: 1 } },
    ]
  ) limits.apply(value);
  assert.deepEqual(limits.size, { addresses: 0, accounts: 0 });
  for (let n = 0; n < MAX_ADDRESSES + 10; n++) limits.apply(wrong(`u${n}`, START, `x${n}`));
  assert.deepEqual(limits.size, { addresses: MAX_ADDRESSES, accounts: MAX_ADDRESSES });
});

Deno.test("shared verdicts: a clock that is ahead makes no wait longer", () => {
  const limits = new GuessLimits(() => START);
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) limits.apply(wrong("u", START + 3_600_000));
  assert.equal(outcome(limits, "a", "u"), "account 5");
});

Deno.test("shared verdicts: a right password does not clear a later wrong one that arrived first", () => {
  const limits = new GuessLimits(() => START);
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) limits.apply(wrong("u", START));
  limits.apply({ ...wrong("u", START - 1), verdict: "right" });
  assert.equal(outcome(limits, "a", "u"), "account 5");
  limits.apply({ ...wrong("u", START), verdict: "right" });
  assert.equal(outcome(limits, "a", "u"), "free");
});
