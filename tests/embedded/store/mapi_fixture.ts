import assert from "node:assert/strict";
import type { S3Client } from "@aws-sdk/client-s3";
import { S3ServiceException } from "@aws-sdk/client-s3";
import { untilHolds } from "@/tests/until.ts";
import { mapiAuthorization, type startStore } from "./store_fixture.ts";

/** The clients and threads of the store outlive single tests. */
export const leaks = { sanitizeOps: false, sanitizeResources: false };

export type Store = Awaited<ReturnType<typeof startStore>>;

/** Calls the management API of the tenant archive below its path, as the curator unless another user is named. */
export async function archiveMapi(store: Store, method: string, path: string, body?: unknown, user = "curator") {
  const response = await fetch(`${store.mapi("archive")}/mapi/tenants/archive${path}`, {
    method,
    redirect: "manual",
    headers: mapiAuthorization(user),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) };
}

/** Creates a namespace of the tenant archive. Returns a client of its owner. */
export async function namespace(store: Store, name: string, settings: Record<string, unknown>): Promise<S3Client> {
  const made = await archiveMapi(store, "PUT", "/namespaces", { name, ...settings });
  assert.equal(made.status, 200, made.text);
  return store.client("archive", "curator");
}

/** Status and code of an S3 error; "ok" where the promise succeeds. */
export async function errorOf(promise: Promise<unknown>): Promise<string> {
  try {
    await promise;
  } catch (error) {
    if (error instanceof S3ServiceException) return `${error.$metadata.httpStatusCode} ${error.name}`;
    throw error;
  }
  return "ok";
}

/** Asks again until the answer is the wanted one; the store does some things in the background. */
export async function eventually<T>(wanted: T, ask: () => Promise<T>): Promise<void> {
  await untilHolds(async () => assert.equal(await ask(), wanted));
}
