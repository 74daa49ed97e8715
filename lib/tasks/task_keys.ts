import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { codedError } from "@/lib/http/errors.ts";
import { derivedKey, openText, sealText } from "@/lib/std/sealed_text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import type { Blobs, Task } from "./task.ts";
import type { TaskType } from "./task_handler.ts";

/** Keys of the task operations, each for one purpose. */
export type TaskKeys = ReturnType<typeof taskKeys>;

/** Derives the keys from the secret that signs tokens (`API_SECRET_KEY`), equal in all processes. */
export function taskKeys(secret: Uint8Array) {
  return {
    /** Seals the credentials of running tasks, with what they may be used for. */
    seal: derivedKey(secret, "task credentials"),
    /** Seals how far tasks are. */
    progress: derivedKey(secret, "task progress"),
    /** Derives the owner of a task from credentials. */
    owner: derivedKey(secret, "task owner"),
    /** Signs the tickets of archives. */
    ticket: derivedKey(secret, "zip ticket"),
  };
}

/**
 * A name for the processes with one secret (`API_SECRET_KEY`), under which they share tasks apart from those with another
 * one. It does not reveal the secret.
 */
export function deploymentOf(secret: Uint8Array): string {
  return derivedKey(secret, "task store").export().subarray(0, 8).toString("hex");
}

const SEALED = z.object({
  username: z.string(),
  tenant: z.string().nullable(),
  s3: z.object({ accessKey: z.string(), secretKey: z.string() }),
  named: z.boolean(),
  /** The request that started the task; none for a schedule, and in tasks of earlier versions. */
  request: z.object({ id: z.string(), address: z.string().nullable() }).optional(),
  /** When it was sealed, ms since 1970 by the clock of the process that created the task. */
  at: z.number(),
  /** SHA-256 of the task's blobs by their names, as base64url; none where its blobs may change. */
  digests: z.record(z.string(), z.string()),
});

/** A seal is bound to these: it does not open for another task, kind or bucket. */
export type SealedTask = Pick<Task, "id" | "kind" | "bucket">;

/**
 * The owner of tasks: a digest of a caller's user, tenant and S3 keys, so that other credentials are another owner. Names
 * of users compare without case, and access keys encode them: otherwise each spelling would get its own limits.
 */
export function ownerOf({ username, tenant, s3, named }: Caller, { owner }: TaskKeys): string {
  const name = named ? username.normalize("NFC").toLowerCase() : username;
  const accessKey = named ? Buffer.from(name).toString("base64") : s3.accessKey;
  const text = JSON.stringify([tenant?.toLowerCase() ?? null, name, accessKey, s3.secretKey]);
  return createHmac("sha256", owner).update(text).digest("base64url");
}

/** The tenant and account of a caller whose keys the store has accepted, as far as these keys prove the names. */
export function provenName({ username, tenant, s3, named }: Caller): Pick<Task, "tenant" | "account"> {
  if (named) return { tenant: tenant?.toLowerCase() ?? null, account: username };
  // A generic store knows access keys alone; keys of the gateway prove no name.
  return { tenant: null, account: s3.accessKey === username ? username : null };
}

/** SHA-256 of a blob, as base64url. */
export function blobDigest(blob: Uint8Array): string {
  return createHash("sha256").update(blob).digest("base64url");
}

/** The digests of blobs by their names. */
export function blobDigests(blobs: Blobs): Record<string, string> {
  return Object.fromEntries([...blobs].map(([name, blob]) => [name, blobDigest(blob)]));
}

/**
 * Seals the derived S3 keys of a caller for one task of one kind and bucket; its password and its MAPI credentials are
 * left out.
 */
export function sealCaller(
  { username, tenant, s3, named, request }: Caller,
  task: SealedTask,
  terms: Pick<z.output<typeof SEALED>, "at" | "digests">,
  { seal }: TaskKeys,
): Uint8Array {
  const { accessKey, secretKey } = s3;
  const sealed: z.output<typeof SEALED> = { username, tenant, s3: { accessKey, secretKey }, named, request, ...terms };
  return sealText(JSON.stringify(sealed), seal, associatedData(task));
}

/**
 * The caller of a task, without MAPI credentials.
 *
 * @returns null where it was sealed with another `API_SECRET_KEY`, or for another task, kind or bucket
 */
export function openCaller(sealed: Uint8Array, task: SealedTask, { seal }: TaskKeys) {
  const text = openText(sealed, seal, associatedData(task));
  const { data } = SEALED.safeParse(text === null ? undefined : parsedJson(text));
  if (!data) return null;
  const { at, digests, request, ...caller } = data;
  const sentFor = request && { request: { ...request, isByTask: true } };
  const opened: Caller = { ...caller, ...sentFor, mapiAuthorization: null };
  return { caller: opened, at, digests };
}

/** Seals a progress, JSON, for one task of one kind and bucket. @returns base64url */
export function sealProgress(progress: string, task: SealedTask, { progress: key }: TaskKeys): string {
  return sealText(progress, key, associatedData(task)).toString("base64url");
}

/** A sealed progress; null where it was sealed with another `API_SECRET_KEY` or for another task, or was changed. */
export function openProgress(sealed: string, task: SealedTask, { progress: key }: TaskKeys): string | null {
  return openText(Buffer.from(sealed, "base64url"), key, associatedData(task));
}

function associatedData({ id, kind, bucket }: SealedTask): string {
  return JSON.stringify([id, kind, bucket]);
}

/** A progress as it is stored. */
export function progressText<P>({ isSealed }: TaskType<P>, task: SealedTask, progress: P, keys: TaskKeys): string {
  const text = JSON.stringify(progress);
  return isSealed ? sealProgress(text, task, keys) : text;
}

/** @throws HttpError 410 for the progress of another version, and for a sealed one that was changed */
export function progressOf<P>(
  { isSealed, progress }: TaskType<P>,
  task: SealedTask & Pick<Task, "progress">,
  keys: TaskKeys,
): P {
  const text = isSealed ? openProgress(task.progress, task, keys) : task.progress;
  const { data, success } = progress.safeParse(text === null ? undefined : parsedJson(text));
  if (!success) throw codedError(410, text === null ? "task_progress_changed" : "task_other_version");
  return data;
}

/** Null for a progress that cannot be read. */
export function readableProgress<P>(
  type: TaskType<P>,
  task: SealedTask & Pick<Task, "progress">,
  keys: TaskKeys,
): P | null {
  try {
    return progressOf(type, task, keys);
  } catch {
    return null;
  }
}

/** @throws HttpError 410 for a blob that is not the one whose digest was sealed */
export function mustBeSealed(
  names: readonly string[],
  blobs: readonly (Uint8Array | null)[],
  digests: Readonly<Record<string, string>>,
): void {
  names.forEach((name, index) => {
    const blob = blobs[index];
    const isSealed = blob && Object.hasOwn(digests, name) && blobDigest(blob) === digests[name];
    if (!isSealed) throw codedError(410, "task_input_changed");
  });
}

/** Whether the blobs of a task are those that it was created with. */
export function hasFixedBlobs({ isSealed, writesBlobs }: TaskType<unknown>): boolean {
  return isSealed === true && !writesBlobs;
}
