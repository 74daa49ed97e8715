import assert from "node:assert/strict";
import { PutObjectCommand, type S3Client } from "@aws-sdk/client-s3";
import { forEachConcurrent } from "@/lib/std/concurrency.ts";
import { until } from "@/tests/until.ts";
import type { GatewayClient } from "./gateway_client.ts";
import type { StoreRequest } from "./held_store.ts";

/** The bucket of the tests that hold requests of tasks back. */
export const BUCKET = "parcels";
/** Its objects, below the API. */
export const OBJECTS = `/buckets/${BUCKET}/objects`;

/** What a poll of a task returns. */
type Progress = Record<string, unknown>;

/** Puts objects into the bucket. */
export async function put(s3: S3Client, entries: readonly (readonly [key: string, body: string | Uint8Array])[]) {
  await forEachConcurrent(entries, 16, async ([Key, Body]) => {
    await s3.send(new PutObjectCommand({ Bucket: BUCKET, Key, Body }));
  });
}

/** Keys such as `prefix0007`. */
export function keysOf(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, number) => prefix + String(number).padStart(4, "0"));
}

/** Short objects with these keys. */
export function small(keys: readonly string[]) {
  return keys.map((key) => [key, "letter"] as const);
}

/** Requests the progress of a task. */
export function poll(client: GatewayClient, path: string): Promise<Response> {
  return client.call("GET", path, undefined, { accept: "application/json" });
}

/** Waits until a task shows something; no poll fails before. */
export async function shows(
  client: GatewayClient,
  path: string,
  isShown: (progress: Progress) => boolean,
): Promise<Progress> {
  return await until(path, async () => {
    const response = await poll(client, path);
    const text = await response.text();
    assert.equal(response.status, 200, text);
    const progress = JSON.parse(text);
    return isShown(progress) ? progress : null;
  });
}

/** Whether a task is over. */
export const hasEnded = ({ ended_at }: Progress) => ended_at !== null;

/** Starts a task; the path of its progress. */
export async function begun(client: GatewayClient, kind: string, body?: unknown): Promise<string> {
  const { task_id } = await client.json("POST", `${OBJECTS}/${kind}`, body);
  return `${OBJECTS}/${kind.split("?")[0]}/${task_id}`;
}

/** The query of a request to the store. */
export function queryOf({ path }: Pick<StoreRequest, "path">): URLSearchParams {
  return new URL(path, "http://store").searchParams;
}

/** Whether a page of keys is read that is not the first one under this prefix. */
export function isLaterPage(request: StoreRequest, prefix: string): boolean {
  const query = queryOf(request);
  return query.get("prefix") === prefix && (query.has("continuation-token") || query.has("start-after"));
}

/** Whether keys under this prefix are counted or listed. A start reads one key, to find whether the bucket exists. */
export function isWholePage(request: Pick<StoreRequest, "path">, prefix: string): boolean {
  const query = queryOf(request);
  return query.get("prefix") === prefix && query.get("max-keys") !== "1";
}

/** Reads a body until it ends or breaks off. */
export async function received(body: ReadableStream<Uint8Array> | null, chunks: Uint8Array[]): Promise<void> {
  try {
    for await (const chunk of body ?? []) chunks.push(chunk);
  } catch (error) {
    assert.ok(error instanceof TypeError, String(error));
  }
}

/** The sum of the lengths, bytes. */
export const length = (chunks: readonly Uint8Array[]) => chunks.reduce((sum, chunk) => sum + chunk.length, 0);
