import fc from "fast-check";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createCipheriv, createSecretKey, randomBytes } from "node:crypto";
import { trustProxies } from "@/lib/http/request_context.ts";
import {
  clearedCookie,
  openSession,
  sealSession,
  type Session,
  sessionCookie,
  sessionValues,
} from "@/lib/auth/session_token.ts";

const key = createSecretKey(randomBytes(32));
const NOW = 1_795_000_000_000;
const SESSION: Session = {
  user: "Kerstin Åström",
  keys: { accessKey: "S2Vyc3Rpbg==", secretKey: "5f4dcc3b5aa765d61d8327deb882cf99" },
  expiresAt: NOW / 1000 + 0.5,
  issuedAt: NOW / 1000 - 0.25,
};

function sealed(session: Session = SESSION): string {
  const token = sealSession(session, key, "results_session");
  assert.ok(token);
  return token;
}

Deno.test("session token: it opens to what was sealed, until its time", () => {
  const token = sealed();
  assert.match(token, /^[\w-]+$/);
  assert.deepEqual(openSession(token, key, "results_session", NOW), SESSION);
  assert.deepEqual(openSession(token, key, "results_session", NOW + 499), SESSION);
  assert.equal(openSession(token, key, "results_session", NOW + 500), null);
  assert.notEqual(sealed(), token, "a nonce is used once");
});

Deno.test("session token: another key or another purpose does not open it", () => {
  const token = sealed();
  assert.equal(openSession(token, createSecretKey(randomBytes(32)), "results_session", NOW), null);
  assert.equal(openSession(token, key, "htr_session", NOW), null);
  assert.equal(openSession(token, key, "", NOW), null);
});

Deno.test("session token: every changed, cut or lengthened byte is noticed, and so is another spelling", () => {
  const token = sealed();
  const bytes = Buffer.from(token, "base64url");
  for (let at = 0; at < bytes.length; at++) {
    const changed = Buffer.from(bytes);
    changed[at] ^= 1;
    assert.equal(openSession(changed.toString("base64url"), key, "results_session", NOW), null, String(at));
    assert.equal(openSession(bytes.subarray(0, at).toString("base64url"), key, "results_session", NOW), null);
  }
  for (
    const other of [token + "x", token + "=", ` ${token}`, bytes.toString("base64") + "\n", token + token, "", "å"]
  ) {
    assert.equal(openSession(other, key, "results_session", NOW), null, other);
  }
});

Deno.test("session token: the layout is nonce, ciphertext, tag over u, a, s, e and the optional i", () => {
  const seal = (text: string) => {
    const nonce = randomBytes(12);
    const cipher = createCipheriv("aes-256-gcm", key, nonce).setAAD(Buffer.from("results_session"));
    return Buffer.concat([nonce, cipher.update(text), cipher.final(), cipher.getAuthTag()]).toString("base64url");
  };
  const open = (text: string) => openSession(seal(text), key, "results_session", NOW);
  const e = NOW / 1000 + 60.25;
  assert.deepEqual(open(JSON.stringify({ u: "å", a: "A", s: "S", e, more: 1 })), {
    user: "å",
    keys: { accessKey: "A", secretKey: "S" },
    expiresAt: e,
    issuedAt: null,
  });
  assert.equal(open(JSON.stringify({ u: "u", a: "A", s: "S", e, i: e - 60 }))?.issuedAt, e - 60);
  for (
    const text of [
      "",
      "x",
      "null",
      "[]",
      "{}",
      JSON.stringify({ u: 1, a: "A", s: "S", e }),
      JSON.stringify({ u: "u", a: "A", s: null, e }),
      JSON.stringify({ u: "u", s: "S", e }),
      JSON.stringify({ u: "u", a: "A", s: "S" }),
      JSON.stringify({ u: "u", a: "A", s: "S", e: String(e) }),
      `{"u":"u","a":"A","s":"S","e":1e999}`,
      JSON.stringify({ u: "u", a: "A", s: "S", e, i: "0" }),
      `{"u":"u","a":"A","s":"S","e":${e},"i":-1e999}`,
    ]
  ) {
    assert.equal(open(text), null, text);
  }
});

Deno.test("session token: what no cookie can hold is not sealed", () => {
  const keys = { accessKey: "a", secretKey: "s".repeat(3000) };
  assert.equal(sealSession({ ...SESSION, keys }, key, "results_session"), null);
  const widest = { accessKey: Buffer.from("å".repeat(256)).toString("base64"), secretKey: "0".repeat(32) };
  assert.ok(sealSession({ ...SESSION, user: "å".repeat(256), keys: widest }, key, "results_session"));
});

Deno.test("session token: whatever is sealed comes back, whatever else is opened is none", () => {
  fc.assert(
    fc.property(fc.string({ unit: "grapheme", maxLength: 200 }), fc.string({ maxLength: 200 }), (user, secret) => {
      const session = { user, keys: { accessKey: user, secretKey: secret }, expiresAt: NOW, issuedAt: null };
      const token = sealSession(session, key, "x");
      if (token !== null) assert.deepEqual(openSession(token, key, "x", NOW), session);
    }),
  );
  fc.assert(fc.property(fc.string(), (token) => assert.equal(openSession(token, key, "x", NOW), null)));
});

function valuesOf(
  cookie: string | null,
  headers: Record<string, string> = {},
  url = "http://a.example/",
  proxies = 1,
): string[] {
  const all = new Headers(headers);
  if (cookie !== null) all.set("Cookie", cookie);
  const request = { url, headers: all };
  trustProxies(request, proxies);
  return sessionValues(request, "s");
}

Deno.test("session cookie: its value stands under the name of the browser's scheme alone", () => {
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure"), ["plain"]);
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "https" }), ["secure"]);
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "http, HTTPS" }), ["secure"]);
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure", {}, "https://a.example/"), ["secure"]);
  assert.deepEqual(valuesOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": "http" }, "https://a.example/"), [
    "plain",
  ]);
  assert.deepEqual(valuesOf("s=plain", { "X-Forwarded-Proto": "https" }), []);
  assert.deepEqual(valuesOf("s=plain", { "X-Forwarded-Proto": "gopher" }), ["plain"]);
  // Of a list, the entry of our outermost proxy; without a proxy of ours, any client may send it.
  const proto = (list: string, proxies: number) =>
    valuesOf("s=plain; __Host-s=secure", { "X-Forwarded-Proto": list }, "http://a.example/", proxies);
  assert.deepEqual(proto("http, https, http", 2), ["secure"]);
  assert.deepEqual(proto("https", 2), ["secure"]);
  assert.deepEqual(proto("https", 0), ["plain"]);
});

Deno.test("session cookie: a value that cannot be a session is none", () => {
  for (const cookie of [null, "", "s", "s=", "S=x", "xs=x", "s x=y", "s=a b", 's="a"', "s=a,b", "s=\xe5", "s=\\"]) {
    assert.deepEqual(valuesOf(cookie), [], String(cookie));
  }
  assert.equal(valuesOf(`s=${"x".repeat(4096)}`)[0].length, 4096);
  assert.deepEqual(valuesOf(`s=${"x".repeat(4097)}`), []);
  assert.deepEqual(valuesOf("a=b;s=x=y ;c"), ["x=y"]);
});

Deno.test("session cookie: several are in their order, each once, four at most, and a bad one hides no good one", () => {
  assert.deepEqual(valuesOf("s=first; x=y; s=second; s=first"), ["first", "second"]);
  assert.deepEqual(valuesOf('s="bad"; s=; s=a b; s=good'), ["good"]);
  assert.deepEqual(valuesOf("s=1; s=2; __Host-s=x; s=1; s=3; s=4; s=5"), ["1", "2", "3", "4"]);
});

Deno.test("session cookie: any header gives harmless values or none", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom("s", "=", ";", " ", "a", ",", '"', "\xe5", "\t") }), (text) => {
      for (const value of valuesOf(text)) assert.match(value, /^[\x21-\x7e]+$/);
    }),
  );
});

Deno.test("session cookie: whole seconds, and cleared under the same attributes", () => {
  assert.equal(sessionCookie("http", "s", "t", 36.9), "s=t; Max-Age=36; Path=/; HttpOnly; SameSite=Strict");
  assert.equal(clearedCookie("https", "s"), "__Host-s=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure");
});
