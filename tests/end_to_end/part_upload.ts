import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import type { GatewayClient } from "./gateway_client.ts";

/** How many parts are sent at once. */
const PARALLEL = 6;

export interface PartUpload {
  readonly bucket: string;
  readonly key: string;
  readonly sizeBytes: number;
  readonly partBytes: number;
  /** The part whose first try breaks off half way; 0: none. */
  readonly breaksOnce: number;
  /** The bytes of a part. */
  readonly bytes: (partNumber: number, length: number) => Buffer<ArrayBuffer>;
}

export interface SentParts {
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
