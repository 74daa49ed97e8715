import assert from "node:assert/strict";
import { chunkedUploads, inventedTokenUploads } from "@/bench/siege/false_uploads.ts";
import { loginGuesses, s3Guesses } from "@/bench/siege/guesses.ts";
import type { Attack, Tally } from "@/bench/siege/hostile_connections.ts";
import { slowLogins } from "@/bench/siege/held_connections.ts";
import { SiegeUser } from "@/bench/siege/user.ts";
import { MAX_WRONG_PER_ACCOUNT } from "@/lib/auth/credential_memory.ts";
import { sharedApplication } from "./applications.ts";

/** How often an attack is answered before it is over. */
const OUTCOMES = 60;
/** More than either role has places. */
const SLOW_OUTCOMES = 1100;

function count(got: Tally): number {
  return Object.values(got).reduce((sum, outcomes) => sum + outcomes, 0);
}

Deno.test("siege: no attack from another address keeps a user out, and guesses are few", async () => {
  const { site } = await sharedApplication();
  const user = await SiegeUser.logIn(site);
  const { hostname: host, port } = new URL(site);
  const target = { host, port: Number(port), localAddress: "127.0.0.2" };
  const besieged = async (attack: Attack, outcomes: number): Promise<Tally> => {
    const stop = new AbortController();
    const got: Tally = {};
    const attacking = attack.run(target, stop.signal, got);
    try {
      while (count(got) < outcomes) assert.equal(await user.request(), 200, attack.name);
    } finally {
      stop.abort();
      await attacking;
    }
    return got;
  };
  for (const attack of [inventedTokenUploads, chunkedUploads]) {
    const got = await besieged(attack, OUTCOMES);
    assert.ok(Object.keys(got).every((outcome) => ["401", "429", "503", "closed"].includes(outcome)), attack.name);
  }
  const slow = await besieged(slowLogins, SLOW_OUTCOMES);
  assert.ok(Object.keys(slow).every((outcome) => ["503", "closed"].includes(outcome)));
  const wrong = await besieged(s3Guesses, OUTCOMES);
  assert.ok((wrong["401"] ?? 0) < 2 * MAX_WRONG_PER_ACCOUNT, "a few guesses were looked at");
  assert.ok(wrong["429"] > 0);
  const logins = await besieged(loginGuesses, OUTCOMES);
  assert.ok((logins["401"] ?? 0) < 2 * MAX_WRONG_PER_ACCOUNT, "a few logins were looked at");
});
