import {
  type CompletedPart,
  CompleteMultipartUploadCommand,
  type CompleteMultipartUploadCommandInput,
  CreateMultipartUploadCommand,
  type CreateMultipartUploadCommandInput,
  GetObjectCommand,
  type S3Client,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";

export const MIB = 1024 * 1024;
/** It keeps no versions. */
export const Bucket = "campaigns";
export const md5 = (bytes: Uint8Array | string) => createHash("md5").update(bytes).digest("hex");

/** Bytes that differ everywhere, so that a wrong offset shows. */
export function pattern(size: number, seed: number): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(size);
  const words = new Uint32Array(bytes.buffer, 0, size >> 2);
  let value = seed * 2654435761 >>> 0;
  for (let i = 0; i < words.length; i++) words[i] = value = (Math.imul(value, 1664525) + 1013904223) >>> 0;
  return bytes;
}

export async function start(client: S3Client, Key: string): Promise<string> {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  assert.ok(UploadId);
  return UploadId;
}

export async function upload(
  client: S3Client,
  Key: string,
  UploadId: string,
  PartNumber: number,
  Body: Uint8Array | string,
) {
  const { ETag } = await client.send(new UploadPartCommand({ Bucket, Key, UploadId, PartNumber, Body }));
  return { PartNumber, ETag };
}

/** Uploads an object in parts. Returns what the complete answers, the parts, and how to send it again. */
export async function uploadInParts(
  client: S3Client,
  at: { Bucket: string; Key: string },
  bodies: readonly (Uint8Array | string)[],
  create: Partial<CreateMultipartUploadCommandInput> = {},
) {
  const { UploadId } = await client.send(new CreateMultipartUploadCommand({ ...at, ...create }));
  const Parts: CompletedPart[] = [];
  for (const [i, Body] of bodies.entries()) {
    const part = { ...at, UploadId, PartNumber: i + 1, Body, ChecksumAlgorithm: create.ChecksumAlgorithm };
    Parts.push({ ...await client.send(new UploadPartCommand(part)), PartNumber: i + 1 });
  }
  const send = () => client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  return { ...await send(), Parts, again: send };
}

export type Parts = NonNullable<CompleteMultipartUploadCommandInput["MultipartUpload"]>["Parts"];

export function complete(
  client: S3Client,
  Key: string,
  UploadId: string,
  Parts: Parts,
  more: Partial<CompleteMultipartUploadCommandInput> = {},
) {
  return client.send(
    new CompleteMultipartUploadCommand({ Bucket, Key, UploadId, MultipartUpload: { Parts }, ...more }),
  );
}

export async function read(client: S3Client, Key: string, Range?: string): Promise<Uint8Array> {
  const { Body } = await client.send(new GetObjectCommand({ Bucket, Key, Range }));
  return await Body?.transformToByteArray() ?? new Uint8Array();
}

export function bodyFiles(folder: string): string[] {
  return [...Deno.readDirSync(`${folder}/bodies`)].flatMap(({ name }) =>
    [...Deno.readDirSync(`${folder}/bodies/${name}`)].map((entry) => `bodies/${name}/${entry.name}`)
  ).sort();
}
