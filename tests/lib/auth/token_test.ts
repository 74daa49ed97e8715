import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";
import fc from "fast-check";
import { EncryptJWT, type JWTPayload, SignJWT } from "jose";
import { issueToken, MAX_TOKEN_CHARACTERS, tokenKey, tokenVerifier } from "@/lib/auth/admission.ts";
import { cacheFigures } from "@/lib/std/caches.ts";

const SECRET = new TextEncoder().encode("a secret that only tests know, 32+");
const KEY = tokenKey(SECRET);
const NOW = 1_800_000_000;
const text = fc.string({ unit: "grapheme" });
const decoded = (part: string): JWTPayload => JSON.parse(Buffer.from(part, "base64url").toString());

Deno.test("token: issued ones are HS256 over their parts and verify, and so do those of another issuer with the key", async () => {
  const verify = tokenVerifier([KEY]);
  await fc.assert(
    fc.asyncProperty(text, text, fc.option(fc.constantFrom("archive", "a-b", "X1")), async (sub, pwd, tenant) => {
      const ours = await issueToken({ sub, pwd, tenant }, KEY, { nowSeconds: NOW, lifetimeMinutes: 10 });
      const [header, body, signature] = ours.split(".");
      const mac = createHmac("sha256", SECRET).update(`${header}.${body}`).digest("base64url");
      assert.deepEqual([decoded(header), signature], [{ alg: "HS256", typ: "JWT" }, mac]);
      const payload = decoded(body);
      assert.deepEqual(payload, { sub, pwd, ...(tenant === null ? {} : { tenant }), exp: NOW + 600 });
      assert.deepEqual(await verify(ours, NOW), { sub, pwd, tenant });
      const theirs = await new SignJWT(payload).setProtectedHeader({ alg: "HS256" }).sign(SECRET);
      assert.deepEqual(await verify(theirs, NOW), { sub, pwd, tenant });
    }),
    { numRuns: 50 },
  );
});

Deno.test("token: expires to the second, also once it is cached, which makes its claims a matter of no wait", async () => {
  const verify = tokenVerifier([KEY]);
  const token = await issueToken({ sub: "u", pwd: "p", tenant: null }, KEY, { nowSeconds: NOW, lifetimeMinutes: 1 });
  const claims = await verify(token, NOW + 59);
  assert.equal(claims.sub, "u");
  assert.equal(await verify(token, NOW + 59.5), claims);
  await assert.rejects(async () => await verify(token, NOW + 60), { detail: "Token has expired" });
});

Deno.test("token: other algorithms, spellings and lengths do not verify, claims without a password do", async () => {
  const verify = tokenVerifier([KEY]);
  const token = await issueToken({ sub: "u", pwd: "p", tenant: "t" }, KEY, { nowSeconds: NOW, lifetimeMinutes: 10 });
  const signed = (alg: string) => new SignJWT({ sub: "u", exp: NOW + 9 }).setProtectedHeader({ alg }).sign(SECRET);
  const others = [await signed("HS384"), await signed("HS512"), `${token}=`, "x.".repeat(MAX_TOKEN_CHARACTERS)];
  for (const other of others) {
    await assert.rejects(async () => await verify(other, NOW), { status: 401, detail: "Invalid token" });
  }
  assert.deepEqual(await verify(await signed("HS256"), NOW), { sub: "u", pwd: "", tenant: null });
});

Deno.test("token: signed claims that are not those of a token are rejected", async () => {
  const verify = tokenVerifier([KEY]);
  const cases: readonly (readonly [claims: Record<string, unknown>, detail: string])[] = [
    [{ sub: "u" }, "Invalid token"],
    [{ sub: "u", exp: "soon" }, "Invalid token"],
    [{ sub: 1, exp: NOW + 9 }, "Invalid token"],
    [{ sub: "u", pwd: null, exp: NOW + 9 }, "Invalid token"],
    [{ sub: "u", tenant: "../x", exp: NOW + 9 }, "Invalid token"],
    [{ sub: "u", exp: NOW + 9, nbf: NOW + 5 }, "Invalid token"],
    [{ exp: NOW + 9 }, "Invalid token: no subject"],
    [{ sub: "u", exp: NOW }, "Token has expired"],
    [{ sub: "u", pwd: "x".repeat(MAX_TOKEN_CHARACTERS), exp: NOW + 9 }, "Invalid token"],
  ];
  for (const [claims, detail] of cases) {
    const token = await new SignJWT(claims).setProtectedHeader({ alg: "HS256" }).sign(SECRET);
    await assert.rejects(
      async () => await verify(token, NOW),
      { status: 401, detail },
      JSON.stringify(claims).slice(0, 80),
    );
  }
});

Deno.test("token: credentials too long for a token are rejected when it is issued", async () => {
  const claims = { sub: "u", pwd: "\u0001".repeat(1024), tenant: null };
  await assert.rejects(issueToken(claims, KEY, { nowSeconds: NOW, lifetimeMinutes: 1 }), { status: 422 });
});

Deno.test("token: an encrypted one shows nothing of its claims and verifies with its key alone", async () => {
  const verify = tokenVerifier([KEY]);
  await fc.assert(
    fc.asyncProperty(text, text, fc.option(fc.constantFrom("archive", "a-b", "X1")), async (sub, pwd, tenant) => {
      const token = await issueToken({ sub, pwd, tenant }, KEY, {
        nowSeconds: NOW,
        lifetimeMinutes: 10,
        format: "encrypted",
      });
      const [header, none, ...rest] = token.split(".");
      assert.deepEqual(decoded(header), { alg: "dir", enc: "A256GCM", typ: "JWT" });
      assert.deepEqual([none, rest.length], ["", 3]);
      assert.deepEqual(await verify(token, NOW), { sub, pwd, tenant });
      const others = tokenVerifier([tokenKey(new TextEncoder().encode("another secret that only tests know"))]);
      await assert.rejects(async () => await others(token, NOW), { status: 401, detail: "Invalid token" });
    }),
    { numRuns: 50 },
  );
  const token = await issueToken({ sub: "u", pwd: "p", tenant: "t" }, KEY, {
    nowSeconds: NOW,
    lifetimeMinutes: 1,
    format: "encrypted",
  });
  await assert.rejects(async () => await verify(token, NOW + 60), { status: 401, detail: "Token has expired" });
});

Deno.test("token: an encrypted one with another algorithm is rejected", async () => {
  const verify = tokenVerifier([KEY]);
  for (const enc of ["A128GCM", "A128CBC-HS256"]) {
    const secret = new Uint8Array(enc === "A128GCM" ? 16 : 32);
    const token = await new EncryptJWT({ sub: "u", exp: NOW + 9 }).setProtectedHeader({ alg: "dir", enc }).encrypt(
      secret,
    );
    await assert.rejects(async () => await verify(token, NOW), { status: 401, detail: "Invalid token" });
  }
});

Deno.test("token: those of each accepted key and format verify while a key is replaced", async () => {
  const next = tokenKey(new TextEncoder().encode("the secret after the one of the tests"));
  const verify = tokenVerifier([next, KEY]);
  const claims = { sub: "u", pwd: "p", tenant: null };
  for (const key of [KEY, next]) {
    for (const format of ["signed", "encrypted"] as const) {
      assert.deepEqual(
        await verify(await issueToken(claims, key, { nowSeconds: NOW, lifetimeMinutes: 1, format }), NOW),
        claims,
      );
    }
  }
  const old = await issueToken(claims, KEY, { nowSeconds: NOW, lifetimeMinutes: 1 });
  await assert.rejects(async () => await verify(old, NOW + 60), { detail: "Token has expired" });
  await assert.rejects(async () => await tokenVerifier([next])(old, NOW), { detail: "Invalid token" });
});

Deno.test("token: expired ones leave the cache while others are verified", async () => {
  const entries = () => cacheFigures().find(({ name }) => name === "tokens")!.size;
  const verify = tokenVerifier([KEY]);
  const before = entries();
  for (let n = 0; n < 500; n++) {
    const now = NOW + n * 2;
    await verify(
      await issueToken({ sub: `u${n}`, pwd: "p", tenant: null }, KEY, { nowSeconds: now, lifetimeMinutes: 1 }),
      now,
    );
    assert.ok(entries() - before <= 100, `${entries() - before} tokens after ${n}, of which 30 are valid`);
  }
});
