import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { request } from "node:http";

/** The gateway as a client sees it: a base URL and a bearer token. */
export interface GatewayClient {
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Response>;
  json(method: string, path: string, body?: unknown): Promise<Record<string, unknown>>;
  authorization: string;
  base: string;
}

/** Logs in with a form, as `tenant/username` or `username`. */
export async function logIn(site: string, username: string, password = "stackroom-demo"): Promise<GatewayClient> {
  const base = `${site}api/v1`;
  const response = await fetch(`${base}/auth/token`, {
    method: "POST",
    body: new URLSearchParams({ username, password }),
  });
  assert.equal(response.status, 200);
  const { access_token, token_type } = await response.json();
  assert.equal(token_type, "bearer");
  const authorization = `Bearer ${access_token}`;
  const call: GatewayClient["call"] = (method, path, body, headers) =>
    fetch(base + path, {
      method,
      headers: { authorization, ...headers },
      body: body === undefined ? undefined : typeof body === "string" ? body : JSON.stringify(body),
    });
  return {
    base,
    authorization,
    call,
    async json(method, path, body) {
      const answer = await call(method, path, body);
      const text = await answer.text();
      assert.ok(answer.ok, `${method} ${path}: ${answer.status} ${text}`);
      return JSON.parse(text);
    },
  };
}

/** Logs in to the results store as a page does, and gives the session's cookie. */
export async function resultsCookie(site: string, username = "reader", password = "stackroom-demo"): Promise<string> {
  const response = await fetch(`${site}results/_login`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: new URL(site).origin, "content-type": "application/json" },
    body: JSON.stringify({ username, password }),
  });
  assert.equal(response.status, 204, await response.text());
  return (response.headers.get("set-cookie") ?? "").split(";")[0];
}

/** A body that is made as it is sent: blocks that differ from each other, the same for the same seed. */
export function* madeBody(size: number, seed: number): Generator<Buffer> {
  const block = Buffer.alloc(1024 * 1024);
  for (let i = 0; i < block.length; i += 4) block.writeUInt32LE(Math.imul(i + 1, 2654435761 + seed) >>> 0, i);
  for (let sent = 0, n = 0; sent < size; n++) {
    const part = Buffer.from(block.subarray(0, Math.min(block.length, size - sent)));
    part.writeUInt32LE(n, 0);
    sent += part.length;
    yield part;
  }
}

/** SHA-256 of a made body, hexadecimal. */
export function madeDigest(size: number, seed: number): string {
  const hash = createHash("sha256");
  for (const part of madeBody(size, seed)) hash.update(part);
  return hash.digest("hex");
}

/**
 * PUTs a body of known length as it is made, which `fetch` cannot (it sends streams chunked). It begins when the server
 * asks for the body: from then on the request is under way there, and not only in the buffers of a socket. `onPart` is
 * called after each part that the socket took, and may hold the next one back.
 */
export function putMade(
  url: string,
  headers: Record<string, string>,
  size: number,
  seed: number,
  onPart: (sent: number) => void | Promise<void> = () => {},
): Promise<{ status: number; text: string }> {
  return new Promise((resolve, reject) => {
    const sentHeaders = { ...headers, "content-length": String(size), expect: "100-continue" };
    const put = request(url, { method: "PUT", headers: sentHeaders }, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part) => parts.push(part));
      answer.on("end", () => resolve({ status: answer.statusCode ?? 0, text: Buffer.concat(parts).toString() }));
      answer.on("error", reject);
    });
    put.on("error", reject);
    const parts = madeBody(size, seed);
    let sent = 0;
    const next = () => {
      const { done, value } = parts.next();
      if (done) return void put.end();
      put.write(value, async () => {
        sent += value.length;
        await onPart(sent);
        next();
      });
    };
    put.on("continue", next);
    put.flushHeaders();
  });
}

/** SHA-256 and size of a streamed body. */
export async function streamDigest(body: AsyncIterable<Uint8Array> | null): Promise<{ digest: string; size: number }> {
  const hash = createHash("sha256");
  let size = 0;
  for await (const part of body ?? []) {
    hash.update(part);
    size += part.length;
  }
  return { digest: hash.digest("hex"), size };
}

/** Resident memory of a process, in bytes. */
export function residentBytes(pid: number): number {
  const status = Deno.readTextFileSync(`/proc/${pid}/status`);
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1]) * 1024;
}
