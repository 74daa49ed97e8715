import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { Caller, S3Keys } from "@/lib/auth/store_credentials.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { putObject } from "@/lib/s3/objects.ts";
import { ForwardQueue } from "./forward_queue.ts";
import type { SealedRecord } from "./sink.ts";

/** Records that wait for the store, and their characters: 256 MiB at worst, as for the disks. */
const MAX_RECORDS = 100_000;
const MAX_CHARACTERS = 64 * 1024 * 1024;
/** Records of an object. */
const BATCH_RECORDS = 1000;
/** How long the first record of an object waits for others, ms. */
const LINGER_MS = 30_000;
const MS_PER_DAY = 86_400_000;

interface BucketSinkOptions {
  readonly s3: S3;
  readonly bucket: string;
  /** What keys begin with. */
  readonly prefix: string;
  /** Read for each object, so that they may be replaced. @throws where they cannot be read */
  readonly keys: () => S3Keys;
  /** Object lock of what is written; null: none. */
  readonly lock: { readonly mode: "GOVERNANCE" | "COMPLIANCE"; readonly days: number } | null;
  /** How long the first record of an object waits for others, ms; {@link LINGER_MS} when absent. */
  readonly lingerMs?: number;
  readonly warn: (line: string) => void;
}

/**
 * Writes records to a bucket, some in an object, a line of JSON each. Keys are
 * `<prefix>2026/11/26/<time>-<trail>.<first number>.jsonl`, so that they sort by time, and each is written once: a batch that
 * is tried again has the same key.
 */
export function bucketSink(options: BucketSinkOptions): ForwardQueue {
  const { s3, bucket, prefix, lingerMs = LINGER_MS, warn } = options;
  return new ForwardQueue({
    name: "s3",
    maxRecords: MAX_RECORDS,
    maxCharacters: MAX_CHARACTERS,
    batchRecords: BATCH_RECORDS,
    lingerMs,
    async send(records, signal) {
      const body = Buffer.from(records.map(({ line }) => `${line}\n`).join(""));
      const headers = headersOf(body, records[0].atMs, options);
      const ref = { bucket, key: prefix + keyOf(records[0]) };
      await putObject(s3, callerOf(options.keys(), signal), ref, { body, lengthBytes: body.length, headers });
    },
    warn,
  });
}

/** Below the prefix. */
function keyOf({ record: { id, time } }: SealedRecord): string {
  const [day, clock] = time.split("T");
  return `${day.replaceAll("-", "/")}/${day.replaceAll("-", "")}T${clock.replaceAll(/[:.]/g, "")}-${id}.jsonl`;
}

/** Object lock requires a digest of the body (S3 API, PutObject). */
function headersOf(body: Uint8Array, atMs: number, { lock, s3 }: BucketSinkOptions): Headers {
  const headers = new Headers({
    "content-type": "application/x-ndjson",
    "content-md5": createHash("md5").update(body).digest("base64"),
  });
  if (lock) {
    headers.set("x-amz-object-lock-mode", lock.mode);
    const until = new Date(Math.max(atMs, s3.now()) + lock.days * MS_PER_DAY).toISOString();
    headers.set("x-amz-object-lock-retain-until-date", until);
  }
  return headers;
}

function callerOf(s3: S3Keys, signal: AbortSignal): Caller {
  return { username: "audit", tenant: null, s3, mapiAuthorization: null, named: false, signal };
}
