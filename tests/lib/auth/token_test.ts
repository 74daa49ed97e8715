import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { jwtVerify, SignJWT } from "jose";
import { issueToken, MAX_TOKEN_CHARACTERS, tokenKey, tokenVerifier } from "@/lib/auth/token.ts";
import { HttpError } from "@/lib/http/errors.ts";

const SECRET = new TextEncoder().encode("a secret that only tests know, 32+");
const KEY = tokenKey(SECRET);
const NOW = 1_800_000_000;
const text = fc.string({ unit: "grapheme" });

Deno.test("token: what we issue, jose verifies, and what jose signs, we verify", async () => {
  const verify = tokenVerifier(KEY);
  await fc.assert(
    fc.asyncProperty(text, text, fc.option(fc.constantFrom("archive", "a-b", "X1")), async (sub, pwd, tenant) => {
      const ours = issueToken({ sub, pwd, tenant }, KEY, NOW, 10);
      const { payload } = await jwtVerify(ours, SECRET, { currentDate: new Date(NOW * 1000), algorithms: ["HS256"] });
      assert.deepEqual(payload, { sub, pwd, ...(tenant === null ? {} : { tenant }), exp: NOW + 600 });
      assert.deepEqual(verify(ours, NOW), { sub, pwd, tenant });
      const theirs = await new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).sign(SECRET);
      assert.deepEqual(verify(theirs, NOW), { sub, pwd, tenant });
    }),
    { numRuns: 50 },
  );
});

Deno.test("token: expires to the second, also once it is remembered", () => {
  const verify = tokenVerifier(KEY);
  const token = issueToken({ sub: "u", pwd: "p", tenant: null }, KEY, NOW, 1);
  assert.equal(verify(token, NOW + 59).sub, "u");
  assert.throws(() => verify(token, NOW + 60), { detail: "Token has expired" });
  assert.throws(() => verify(token, NOW + 60), { detail: "Token has expired" });
});

Deno.test("token: nothing that was changed or made up verifies", async () => {
  const verify = tokenVerifier(KEY);
  const token = issueToken({ sub: "u", pwd: "p", tenant: "t" }, KEY, NOW, 10);
  fc.assert(fc.property(fc.string(), (noise) => assert.throws(() => verify(noise, NOW), HttpError)));
  fc.assert(fc.property(fc.nat(token.length - 1), fc.string({ minLength: 1, maxLength: 3 }), (at, noise) => {
    const changed = token.slice(0, at) + noise + token.slice(at + 1);
    if (changed === token) return;
    // The last character of a signature carries two bits that decode to nothing.
    if (at === token.length - 1 && noise.length === 1) return;
    assert.throws(() => verify(changed, NOW), { status: 401 });
  }));
  const [, payload] = token.split(".");
  const none = Buffer.from('{"alg":"none"}').toString("base64url");
  assert.throws(() => verify(`${none}.${payload}.`, NOW), { detail: "Invalid token" });
  const critical = Buffer.from('{"alg":"HS256","crit":["b64"],"b64":false}').toString("base64url");
  const mac = createHmac("sha256", SECRET).update(`${critical}.${payload}`).digest("base64url");
  assert.throws(() => verify(`${critical}.${payload}.${mac}`, NOW), { detail: "Invalid token" });
  const bare = await new SignJWT({ sub: "u", exp: NOW + 9 }).setProtectedHeader({ alg: "HS256" }).sign(SECRET);
  assert.deepEqual(verify(bare, NOW), { sub: "u", pwd: "", tenant: null });
  assert.throws(() => verify("x.".repeat(MAX_TOKEN_CHARACTERS), NOW), { detail: "Invalid token" });
});

Deno.test("token: credentials too long for a token are refused when it is issued", () => {
  assert.throws(() => issueToken({ sub: "u", pwd: "\u0001".repeat(1024), tenant: null }, KEY, NOW, 1), { status: 422 });
});
