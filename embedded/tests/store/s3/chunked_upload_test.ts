import {
  GetObjectCommand,
  HeadObjectCommand,
  PutObjectCommand,
  type PutObjectCommandInput,
  type S3Client,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { checksum } from "@/embedded/tests/store/checksum.ts";
import { s3Keys, storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { bodyFiles } from "./multipart_fixture.ts";

const BODY = new Uint8Array(300_000).map((_, i) => (i * 13 + (i >> 7)) % 256);
const PIECE_BYTES = 64 * 1024;

/** How a body is sent; what is left out is as it should be. */
interface Upload {
  payload: string;
  /** `name:value` */
  trailer?: string;
  headers?: Record<string, string>;
  /** Spoils the framed body after it was signed. */
  spoil?: (framed: Buffer) => void;
}

/** Sends a body in pieces that are signed here, through the SDK, which signs the request itself. */
async function upload(client: S3Client, key: string, given: Upload): Promise<string> {
  const { payload, trailer, headers = {}, spoil } = given;
  const input: PutObjectCommandInput = { Bucket: "letters", Key: key };
  const command = new PutObjectCommand({ ...input, Body: frame(payload, trailer, null) });
  command.middlewareStack.add((next) => (args) => {
    const request = args.request as { headers: Record<string, string> };
    Object.assign(request.headers, {
      "x-amz-content-sha256": payload,
      "x-amz-decoded-content-length": String(BODY.length),
      "content-encoding": "aws-chunked",
      ...(trailer ? { "x-amz-trailer": trailer.slice(0, trailer.indexOf(":")) } : {}),
      ...headers,
    });
    for (const [name, value] of Object.entries(request.headers)) if (value === "") delete request.headers[name];
    return next(args);
  }, { step: "build", priority: "low" });
  command.middlewareStack.add((next) => (args) => {
    const request = args.request as { headers: Record<string, string>; body: Buffer };
    request.body = frame(payload, trailer, request.headers);
    spoil?.(request.body);
    return next(args);
  }, { step: "finalizeRequest", priority: "low" });
  try {
    await client.send(command);
    return "none";
  } catch (error) {
    return error instanceof Error ? error.name : String(error);
  }
}

/** The framed body; before the request is signed it is of the right length only. */
function frame(payload: string, trailer: string | undefined, headers: Record<string, string> | null): Buffer {
  const isSigned = payload.startsWith("STREAMING-AWS4");
  const [, scope = "a/b/c/d", signature = ""] =
    /Credential=[^/]+\/([^,]+),.*Signature=([0-9a-f]{64})/.exec(headers?.authorization ?? "") ?? [];
  let key: Uint8Array = new TextEncoder().encode(`AWS4${s3Keys("curator", SAMPLE_PASSWORD).secretAccessKey}`);
  for (const part of scope.split("/")) key = createHmac("sha256", key).update(part).digest();
  let previous = signature;
  const sign = (algorithm: string, ...digests: string[]) => {
    const text = [algorithm, headers?.["x-amz-date"], scope, previous, ...digests].join("\n");
    return previous = createHmac("sha256", key).update(text).digest("hex");
  };
  const sha256 = (bytes: Uint8Array | string) => createHash("sha256").update(bytes).digest("hex");
  const out: Uint8Array[] = [];
  for (let at = 0; at < BODY.length + PIECE_BYTES; at += PIECE_BYTES) {
    const piece = BODY.subarray(at, at + PIECE_BYTES);
    const extension = isSigned ? `;chunk-signature=${sign("AWS4-HMAC-SHA256-PAYLOAD", sha256(""), sha256(piece))}` : "";
    out.push(Buffer.from(`${piece.length.toString(16)}${extension}\r\n`), piece);
    if (piece.length > 0) out.push(Buffer.from("\r\n"));
  }
  if (trailer) out.push(Buffer.from(`${trailer}\r\n`));
  if (trailer && isSigned) {
    const trailerSignature = sign("AWS4-HMAC-SHA256-TRAILER", sha256(`${trailer}\n`));
    out.push(Buffer.from(`x-amz-trailer-signature:${trailerSignature}\r\n`));
  }
  return Buffer.concat([...out, Buffer.from("\r\n")]);
}

storeTest("aws-chunked: signed and unsigned bodies, with trailers and without, become objects", async ({ client }) => {
  const uploads: [string, Upload][] = [
    ["signed", { payload: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD" }],
    ["signed-trailer", {
      payload: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
      trailer: `x-amz-checksum-crc32c:${checksum("crc32c", BODY)}`,
    }],
    ["unsigned-trailer", {
      payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
      trailer: `x-amz-checksum-crc64nvme:${checksum("crc64nvme", BODY)}`,
    }],
    ["unsigned-no-trailer", { payload: "STREAMING-UNSIGNED-PAYLOAD-TRAILER" }],
  ];
  for (const [key, given] of uploads) {
    assert.equal(await upload(client, key, given), "none", key);
    const got = await client.send(new GetObjectCommand({ Bucket: "letters", Key: key, ChecksumMode: "ENABLED" }));
    assert.deepEqual(await got.Body?.transformToByteArray(), BODY, key);
    assert.equal(got.ContentEncoding, undefined);
    assert.equal(got.ChecksumCRC32C, key === "signed-trailer" ? checksum("crc32c", BODY) : undefined);
    assert.equal(got.ChecksumCRC64NVME, key === "signed-trailer" ? undefined : checksum("crc64nvme", BODY));
  }
});

storeTest("S3 aws-chunked: other content codings stay with the object", async ({ client }) => {
  const payload = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
  await upload(client, "coded", { payload, headers: { "content-encoding": "aws-chunked, gzip" } });
  const head = await client.send(new HeadObjectCommand({ Bucket: "letters", Key: "coded" }));
  assert.equal(head.ContentEncoding, "gzip");
});

storeTest("S3 aws-chunked: wrong signatures and digests are rejected and leave nothing", async ({ store, client }) => {
  const signed = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
  const unsigned = "STREAMING-UNSIGNED-PAYLOAD-TRAILER";
  const trailer = `x-amz-checksum-crc32:${checksum("crc32", BODY)}`;
  const flip = (at: number) => (framed: Buffer) => void (framed[at] ^= 1);
  const refused: [string, Upload][] = [
    ["SignatureDoesNotMatch", { payload: signed, spoil: flip(100_000) }],
    ["SignatureDoesNotMatch", { payload: `${signed}-TRAILER`, trailer, spoil: flip(299_000) }],
    ["BadDigest", { payload: unsigned, trailer, spoil: flip(200_000) }],
    ["BadDigest", { payload: unsigned, trailer: "x-amz-checksum-crc32:AAAAAA==" }],
    ["InvalidRequest", { payload: unsigned, trailer: "x-amz-checksum-crc32:AAAA" }],
    ["InvalidRequest", { payload: unsigned, trailer: "x-amz-meta-late:1" }],
    ["InvalidRequest", { payload: signed, trailer }],
    ["MalformedTrailerError", { payload: unsigned, headers: { "x-amz-trailer": "x-amz-checksum-crc32" } }],
    ["MissingContentLength", { payload: signed, headers: { "x-amz-decoded-content-length": "" } }],
    ["IncompleteBody", { payload: signed, headers: { "x-amz-decoded-content-length": "299999" } }],
    ["IncompleteBody", { payload: signed, headers: { "x-amz-decoded-content-length": "300001" } }],
    ["EntityTooLarge", { payload: signed, headers: { "x-amz-decoded-content-length": "5368709121" } }],
    ["NotImplemented", { payload: "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD" }],
  ];
  for (const [name, given] of refused) {
    assert.equal(await upload(client, "refused", given), name, JSON.stringify(given));
  }
  assert.equal(await client.send(new HeadObjectCommand({ Bucket: "letters", Key: "refused" })).catch(() => null), null);
  assert.deepEqual(bodyFiles(store.folder), []);
});
