import type { S3Client } from "@aws-sdk/client-s3";
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
      body: body === undefined || typeof body === "string" || body instanceof Uint8Array
        ? body as BodyInit | undefined
        : JSON.stringify(body),
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

/** What an account is made of that may log in. */
export function accountOf(username: string): Record<string, unknown> {
  return { username, fullName: username, localAuthentication: true, enabled: true, forcePasswordChange: false };
}

/** A client of the store itself, with the S3 keys of an account. */
export async function storeClient(client: GatewayClient): Promise<S3Client> {
  const { S3Client } = await import("@aws-sdk/client-s3");
  const { endpoint_url, access_key_id, secret_access_key } = await client.json("GET", "/credentials");
  return new S3Client({
    endpoint: String(endpoint_url),
    region: "us-east-1",
    forcePathStyle: true,
    credentials: { accessKeyId: String(access_key_id), secretAccessKey: String(secret_access_key) },
    maxAttempts: 1,
  });
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

/** Requests the progress of a task. */
export function poll(client: GatewayClient, path: string): Promise<Response> {
  return client.call("GET", path, undefined, { accept: "application/json" });
}

/** Whether a task is over. */
export const hasEnded = ({ ended_at }: Record<string, unknown>) => ended_at !== null;

/** The events of a task, until its end. */
export async function* taskEvents(client: GatewayClient, path: string) {
  const response = await client.call("GET", path, undefined, { Accept: "text/event-stream" });
  assert.equal(response.status, 200);
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (event) yield { event, data: JSON.parse(data) as Record<string, unknown> };
    }
  }
}

/** The last event of a task, which tells how it ended. */
export async function endOfTask(client: GatewayClient, path: string): Promise<Record<string, unknown>> {
  let last: Record<string, unknown> = {};
  for await (const { event, data } of taskEvents(client, path)) if (event === "end") last = data;
  return last;
}

/** How many parts are sent at once. */
const PARALLEL = 6;

interface PartUpload {
  readonly bucket: string;
  readonly key: string;
  readonly sizeBytes: number;
  readonly partBytes: number;
  /** The part whose first try breaks off half way; 0: none. */
  readonly breaksOnce: number;
  /** The bytes of a part. */
  readonly bytes: (partNumber: number, length: number) => Buffer<ArrayBuffer>;
}

interface SentParts {
  readonly uploadId: string;
  readonly parts: { ETag: string; PartNumber: number }[];
  /** Tries that broke off. */
  readonly broken: number;
}

/** Sends a file in parts as the reference client does: begun, presigned, six at once, a failed part sent again. */
export async function sendParts(client: GatewayClient, upload: PartUpload): Promise<SentParts> {
  const path = `/buckets/${upload.bucket}/multipart/${upload.key}`;
  const begun = await client.call("POST", path);
  assert.equal(begun.status, 201);
  const { upload_id } = await begun.json();
  const presigned = await client.json("POST", `${path}/presign`, {
    upload_id,
    file_size: upload.sizeBytes,
    part_size: upload.partBytes,
  });
  assert.equal(presigned.upload_id, upload_id);
  assert.ok(Array.isArray(presigned.urls));
  const urls = presigned.urls.map(({ part_number, url }, index) => {
    assert.equal(part_number, index + 1);
    return String(url);
  });
  const parts: SentParts["parts"] = [];
  let broken = 0;
  const queue = urls.entries();
  const worker = async () => {
    for (const [index, url] of queue) {
      const number = index + 1;
      const length = Math.min(upload.partBytes, upload.sizeBytes - index * upload.partBytes);
      const bytes = upload.bytes(number, length);
      if (number === upload.breaksOnce) {
        await assert.rejects(breakingPut(url, bytes));
        broken++;
      }
      const answer = await fetch(url, { method: "PUT", body: bytes });
      assert.equal(answer.status, 200, await answer.text());
      parts[index] = { ETag: answer.headers.get("etag") ?? "", PartNumber: number };
    }
  };
  await Promise.all(Array.from({ length: PARALLEL }, worker));
  return { uploadId: upload_id, parts, broken };
}

/** A PUT that ends after half of its body. */
async function breakingPut(url: string, bytes: Buffer): Promise<void> {
  const { hostname, port, pathname, search, host } = new URL(url);
  const connection = await Deno.connect({ hostname, port: Number(port) });
  const head = `PUT ${pathname}${search} HTTP/1.1\r\nHost: ${host}\r\nContent-Length: ${bytes.length}\r\n\r\n`;
  await connection.write(new TextEncoder().encode(head));
  await connection.write(bytes.subarray(0, Math.min(bytes.length >> 1, 64 * 1024)));
  connection.close();
  throw new Error("the connection broke");
}
