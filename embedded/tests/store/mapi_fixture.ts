import assert from "node:assert/strict";
import type { S3Client } from "@aws-sdk/client-s3";
import { ListBucketsCommand, S3ServiceException } from "@aws-sdk/client-s3";
import { untilHolds } from "@/tests/until.ts";
import { mapiAuthorization, type Store } from "./store_fixture.ts";

/** A user, with the samples' password unless another is named. */
export type Login = string | readonly [user: string, password: string];

/** Calls the management API of a tenant, or of the system (null). */
export async function callMapi(
  store: Store,
  level: string | null,
  login: Login,
  method: string,
  path: string,
  body?: unknown,
) {
  const [user, password] = typeof login === "string" ? [login] : login;
  const response = await fetch(`${store.mapi(level)}/mapi${path}`, {
    method,
    redirect: "manual",
    headers: mapiAuthorization(user, password),
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const text = await response.text();
  return { status: response.status, text, json: () => JSON.parse(text) };
}

/** Calls the management API of the tenant archive below its path. */
export function archiveMapi(store: Store, method: string, path: string, body?: unknown, login: Login = "curator") {
  return callMapi(store, "archive", login, method, `/tenants/archive${path}`, body);
}

/** The record of a new account that may log in. */
export function account(username: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    username,
    fullName: username,
    localAuthentication: true,
    enabled: true,
    forcePasswordChange: false,
    ...more,
  };
}

/** Posts a document of the tenant archive. */
export async function post(store: Store, path: string, document: unknown): Promise<void> {
  const { status, text } = await archiveMapi(store, "POST", path, document);
  assert.equal(status, 200, `${path}: ${text}`);
}

/** The status and the text of a response of the management API. */
export async function statusAndText(response: ReturnType<typeof archiveMapi>): Promise<string> {
  const { status, text } = await response;
  return `${status} ${text}`;
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

/** The outcome of a request to the S3 of the tenant archive by a user. */
export function s3Login(store: Store, user: string, password: string): Promise<string> {
  return errorOf(store.client("archive", user, password).send(new ListBucketsCommand({})));
}

/** Asks again until the answer is the wanted one; the store does some things in the background. */
export async function eventually<T>(wanted: T, ask: () => Promise<T>): Promise<void> {
  await untilHolds(async () => assert.equal(await ask(), wanted));
}
