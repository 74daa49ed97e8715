import assert from "node:assert/strict";
import { MAX_WRONG_PER_ACCOUNT } from "@/lib/auth/credential_memory.ts";
import { openSocket, type RawResponse, readUntilIdle, type SecureTarget, send } from "./raw_http.ts";
import { AMBIGUOUS, logged, smuggle } from "./smuggling.ts";

/** Stackroom behind its proxy, as a client of the network reaches it. */
export interface Proxied {
  readonly site: SecureTarget;
  readonly api: SecureTarget;
  readonly s3: SecureTarget;
  /** An account of the store. */
  readonly account: { readonly user: string; readonly password: string };
  /** The log lines of the gateway so far, each as JSON wrote it. */
  gatewayLog(): readonly Record<string, unknown>[];
  webLog(): readonly Record<string, unknown>[];
}

/** An attack, and that what it tries to reach is not reached. */
interface Attack {
  readonly name: string;
  run(proxied: Proxied): Promise<void>;
}

/** A client beside the one whose requests have to go on. */
const ATTACKER = "127.0.0.2";
const IDLE_MS = 3000;
/** More than the proxy's time for a head, ms. */
const HEAD_MS = 40_000;
/** More than the time of a body of which nothing arrives, ms. */
const BODY_MS = 100_000;
const HALF_HEADS = 300;
const STALLED_BODIES = 40;

export const ATTACKS: readonly Attack[] = [
  ...Object.keys(AMBIGUOUS).map((kind): Attack => ({
    name: `smuggling: ${kind}`,
    run: ({ api, gatewayLog }) => smuggle(kind, api, gatewayLog),
  })),
  { name: "addresses: a client names its own address, scheme and host", run: forgedAddress },
  { name: "addresses: a header that names forwarded headers as connection headers", run: strippedHeaders },
  { name: "hosts: another name in Host than in the handshake", run: foreignHost },
  { name: "guessing: wrong passwords from one address, with invented addresses", run: guesses },
  { name: "paths: keys with encoded slashes, two slashes and dots stay as they are", run: oddKeys },
  { name: "paths: leaving the folder of the site", run: traversal },
  { name: "heads: one of 64 KiB", run: longHead },
  { name: "compression: a response with a token", run: compressedToken },
  { name: "links: a presigned link, changed and unchanged", run: links },
  { name: "uploads: one that breaks off", run: brokenUpload },
  { name: "bodies: uploads that stall, and heads that never end, while a user works", run: slowness },
];

async function forgedAddress({ api, site, gatewayLog }: Proxied): Promise<void> {
  const headers = { "X-Forwarded-For": "203.0.113.9", "X-Real-IP": "203.0.113.9", Forwarded: "for=203.0.113.9" };
  await send({ ...api, localAddress: ATTACKER }, { path: "/api/v1/forged", headers });
  assert.equal((await logged(gatewayLog, "/api/v1/forged")).client_ip, ATTACKER);
  const login = await send(site, {
    method: "POST",
    path: "/results/_login",
    headers: {
      "Content-Type": "application/json",
      Origin: "https://evil.example.org",
      "X-Forwarded-Host": "evil.example.org",
      "X-Forwarded-Proto": "http",
    },
    body: JSON.stringify({ username: "a", password: "b" }),
  });
  assert.equal(login.status, 403, "the login is for pages of the site alone");
}

async function strippedHeaders({ api, gatewayLog }: Proxied): Promise<void> {
  const headers = { Connection: "close, X-Forwarded-For, X-Forwarded-Host, Authorization" };
  await send({ ...api, localAddress: ATTACKER }, { path: "/api/v1/stripped", headers });
  assert.equal((await logged(gatewayLog, "/api/v1/stripped")).client_ip, ATTACKER);
}

async function foreignHost({ site, webLog }: Proxied): Promise<void> {
  const response = await send(site, { path: "/foreign-host", headers: { Host: "evil.example.org" } });
  assert.equal(response.body.length, 0);
  await send(site, { path: "/own-host" });
  await logged(webLog, "/own-host");
  assert.ok(!webLog().some(({ path }) => path === "/foreign-host"), "the web role has seen it");
}

async function guesses({ api, account }: Proxied): Promise<void> {
  const attacker = { ...api, localAddress: ATTACKER };
  const statuses: number[] = [];
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT + 2; n++) {
    const token = await tokenOf(attacker, account.user, `wrong ${n}`);
    const headers = { Authorization: `Bearer ${token}`, "X-Forwarded-For": `203.0.113.${n}` };
    statuses.push((await send(attacker, { path: "/api/v1/buckets", headers })).status);
  }
  assert.equal(statuses.at(-1), 429, statuses.join(" "));
  assert.equal((await call(api, account, { path: "/api/v1/buckets" })).status, 200, "another address goes on");
}

async function oddKeys({ api, account, gatewayLog }: Proxied): Promise<void> {
  const bucket = await newBucket(api, account, "odd-keys");
  const keys = ["a%2Fb", "c%252Fd", "e//f", "g/%2E%2Eh", "%C3%A5%20%2B+&'()", "i;j=k", "%7Bl%7D"];
  const stored: string[] = [];
  for (const key of keys) {
    const path = `/api/v1/buckets/${bucket}/objects/${key}`;
    const { status } = await call(api, account, { method: "PUT", path, body: key });
    await logged(gatewayLog, path);
    if (status < 300) stored.push(decodeURIComponent(key));
  }
  const { objects } = JSON.parse(text(await call(api, account, { path: `/api/v1/buckets/${bucket}/objects` })));
  assert.deepEqual(objects.map(({ Key }: { Key: string }) => Key).sort(), stored.sort());
  assert.ok(stored.length >= keys.length - 1, "a store may reject two slashes in a row, and nothing else");
}

async function traversal({ site, api }: Proxied): Promise<void> {
  for (const path of ["/../deno.json", "/%2e%2e/deno.json", "/build/..%2f..%2fdeno.json", "//deno.json", "/.%00/x"]) {
    for (const target of [site, api]) {
      const response = await send(target, { path });
      assert.ok(response.status >= 300, `${path}: ${response.status}`);
      assert.ok(!text(response).includes("nodeModulesDir"), path);
    }
  }
}

async function longHead({ api, gatewayLog }: Proxied): Promise<void> {
  const response = await send(api, { path: "/api/v1/long-head", headers: { "X-Long": "x".repeat(65_536) } });
  assert.equal(response.status, 431);
  await send(api, { path: "/api/v1/short-head" });
  await logged(gatewayLog, "/api/v1/short-head");
  assert.ok(!gatewayLog().some(({ path }) => path === "/api/v1/long-head"));
}

async function compressedToken({ api, account }: Proxied): Promise<void> {
  const body = new URLSearchParams({ username: account.user, password: account.password }).toString();
  const headers = { "Content-Type": "application/x-www-form-urlencoded", "Accept-Encoding": "gzip, br, zstd" };
  const response = await send(api, { method: "POST", path: "/api/v1/auth/token", headers, body });
  assert.equal(response.headers.get("content-encoding"), undefined);
  assert.ok(response.headers.get("strict-transport-security"));
  assert.match(response.headers.get("content-security-policy") ?? "", /frame-ancestors 'none'/);
}

async function links({ api, s3, account }: Proxied): Promise<void> {
  const bucket = await newBucket(api, account, "links");
  await call(api, account, { method: "PUT", path: `/api/v1/buckets/${bucket}/objects/secret`, body: "words" });
  const link = await call(api, account, {
    method: "POST",
    path: "/api/v1/presign",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ bucket, key: "secret" }),
  });
  const { url } = JSON.parse(text(link));
  const { pathname, search, hostname } = new URL(url);
  assert.equal(hostname, s3.host);
  assert.equal(text(await send(s3, { path: pathname + search })), "words");
  assert.equal((await send(s3, { path: `${pathname}2${search}` })).status, 403);
  assert.equal((await send(s3, { path: pathname })).status, 403);
}

async function brokenUpload({ api, account, gatewayLog }: Proxied): Promise<void> {
  const bucket = await newBucket(api, account, "broken");
  const token = await tokenOf(api, account.user, account.password);
  const path = `/api/v1/buckets/${bucket}/objects/half`;
  const socket = await openSocket(api);
  const closed = readUntilIdle(socket, IDLE_MS);
  socket.write(
    `PUT ${path} HTTP/1.1\r\nHost: ${api.host}\r\nAuthorization: Bearer ${token}\r\nContent-Length: 9000000\r\n\r\n`,
  );
  socket.write(new Uint8Array(1_000_000), () => socket.destroy());
  await closed;
  const isLogged = () => gatewayLog().some((line) => line.path === path);
  for (const end = Date.now() + BODY_MS; !isLogged(); await next()) assert.ok(Date.now() < end, "the upload goes on");
  const listed = await call(api, account, { path: `/api/v1/buckets/${bucket}/objects` });
  assert.ok(!text(listed).includes("half"));
}

/**
 * Connections that send half of a request, from another address than the user whose requests go on. Caddy has no idle
 * timeout for bodies: what has to end is the request at the gateway, with its slot.
 */
async function slowness({ api, account, gatewayLog }: Proxied): Promise<void> {
  const attacker = { ...api, localAddress: ATTACKER };
  const bucket = await newBucket(api, account, "slow-bodies");
  const token = await tokenOf(api, account.user, account.password);
  const path = `/api/v1/buckets/${bucket}/objects/slow`;
  const body = `PUT ${path} HTTP/1.1\r\nHost: ${api.host}\r\nAuthorization: Bearer ${token}\r\n` +
    `Content-Length: 9000000\r\n\r\nx`;
  const begun = Date.now();
  const half = async (request: string) => {
    const socket = await openSocket(attacker);
    const closed = readUntilIdle(socket, BODY_MS).then(() => Date.now() - begun);
    socket.write(request);
    return { socket, closed };
  };
  const heads = await Promise.all(Array.from({ length: HALF_HEADS }, () => half("GET / HTTP/1.1\r\nHost: x\r\n")));
  const bodies = await Promise.all(Array.from({ length: STALLED_BODIES }, () => half(body)));
  let headsClosed = 0;
  Promise.all(heads.map(({ closed }) => closed)).then((times) => headsClosed = Math.max(...times));
  const ended = () => gatewayLog().filter((line) => line.path === path);
  let slowest = 0;
  while (headsClosed === 0 || ended().length < STALLED_BODIES) {
    assert.ok(Date.now() - begun < BODY_MS, `${ended().length} of ${STALLED_BODIES} bodies have ended`);
    const before = Date.now();
    const headers = { Authorization: `Bearer ${token}` };
    assert.equal((await send(api, { path: "/api/v1/buckets", headers })).status, 200, "the user is kept out");
    slowest = Math.max(slowest, Date.now() - before);
    await next();
  }
  const bodiesEnded = Date.now() - begun;
  const statuses = [...new Set(ended().map(({ status }) => status))].join(", ");
  for (const { socket } of bodies) socket.destroy();
  assert.ok(headsClosed < HEAD_MS, "half heads stay open");
  console.log(
    `     heads closed after ${headsClosed} ms, bodies ended within ${bodiesEnded} ms (${statuses}); ` +
      `the user's slowest request took ${slowest} ms`,
  );
}

function next(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 50));
}

async function tokenOf(api: SecureTarget, username: string, password: string): Promise<string> {
  const headers = { "Content-Type": "application/x-www-form-urlencoded" };
  const body = new URLSearchParams({ username, password }).toString();
  const response = await send(api, { method: "POST", path: "/api/v1/auth/token", headers, body });
  assert.equal(response.status, 200, text(response));
  return JSON.parse(text(response)).access_token;
}

async function call(
  api: SecureTarget,
  { user, password }: Proxied["account"],
  request: Parameters<typeof send>[1],
): Promise<RawResponse> {
  const headers = { ...request.headers, Authorization: `Bearer ${await tokenOf(api, user, password)}` };
  return await send(api, { ...request, headers });
}

async function newBucket(api: SecureTarget, account: Proxied["account"], name: string): Promise<string> {
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ bucket: name });
  const response = await call(api, account, { method: "POST", path: "/api/v1/buckets", headers, body });
  assert.ok(response.status < 300, text(response));
  return name;
}

function text({ body }: RawResponse): string {
  return new TextDecoder().decode(body);
}
