import assert from "node:assert/strict";
import { AcceptedIdentities, KNOWN_MS, PROVEN_MS } from "@/lib/auth/accepted_identities.ts";

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
