import { S3Client, S3ServiceException } from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { SAMPLE_PASSWORD } from "@/embedded/store/server/sample_data.ts";
import { account, archiveMapi } from "./mapi_fixture.ts";
import { s3Keys, type Store } from "./store_fixture.ts";

/** Creates a user of the tenant archive without any permission. Returns its GUID. */
export async function makeUser(store: Store, username: string, further: Record<string, unknown> = {}): Promise<string> {
  const made = await archiveMapi(store, "PUT", `/userAccounts?password=${SAMPLE_PASSWORD}`, account(username, further));
  assert.equal(made.status, 200, made.text);
  return await guidOf(store, username);
}

export async function guidOf(store: Store, username: string): Promise<string> {
  return (await archiveMapi(store, "GET", `/userAccounts/${username}?verbose=true`)).json().userGUID;
}

/** A client in its default settings. */
export function clientOf(store: Store, user: string): S3Client {
  return new S3Client({
    endpoint: store.s3("archive"),
    region: "us-east-1",
    forcePathStyle: true,
    credentials: s3Keys(user, SAMPLE_PASSWORD),
    maxAttempts: 1,
  });
}

/** The HTTP status that a promise of a client ends in. */
export async function statusOf(promise: Promise<{ $metadata: { httpStatusCode?: number } }>): Promise<number> {
  try {
    return (await promise).$metadata.httpStatusCode ?? 0;
  } catch (error) {
    if (error instanceof S3ServiceException) return error.$metadata.httpStatusCode ?? 0;
    throw error;
  }
}

/** An unsigned request; path and query follow the store's address. */
export async function anonymous(store: Store, method: string, path: string, init: RequestInit = {}) {
  const response = await fetch(`${store.s3("archive")}${path}`, { method, ...init });
  const text = await response.text();
  return { status: response.status, text, headers: response.headers };
}
