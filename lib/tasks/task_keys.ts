import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { codedError } from "@/lib/http/errors.ts";
import { derivedKey, openText, sealText } from "@/lib/std/sealed_text.ts";
import { sleep } from "@/lib/std/timing.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import type { Blobs, Task, TaskEnd, TaskKind } from "./task.ts";

/** A kind of tasks, and what their progress is: JSON of up to a few hundred KiB. */
export interface TaskType<P> {
  readonly kind: TaskKind;
  readonly progress: z.ZodType<P>;
  /**
   * Whether only the gateway can say what it works on: its progress is sealed, and so are the digests of its blobs, which
   * never change. False when absent.
   */
  readonly isSealed?: boolean;
  /** Whether its blobs change although its progress is sealed: that says the digests of those that count. */
  readonly writesBlobs?: boolean;
}

/** Performs the tasks of one kind. */
export interface TaskHandler<P> extends TaskType<P> {
  /** Whether a task that is ready needs its sealed keys until it expires; false when absent. */
  readonly keepsCaller?: boolean;
  /**
   * Works until the task is done. It may be called again for the same task, in this process or in another one: after an
   * interruption, or after an error of the store that may pass. Then it goes on from the last checkpoint.
   *
   * @returns the progress with which the task ends
   * @throws HttpError that ends the task as failed, its detail is shown to the owner; or what `job` throws when it is
   *   interrupted. No work may go on after that.
   */
  run(job: Job<P>): Promise<P>;
  /**
   * Called before the end of a task is stored, whatever ended it: again where this process dies before that. It must
   * never throw.
   */
  onEnd?(ended: EndedTask<P>): Promise<void>;
}

/** A task whose work has ended. */
export interface EndedTask<P> extends Pick<Task, "id" | "bucket" | "owner"> {
  readonly state: TaskEnd["state"];
  /** Why it failed; null where it did not. */
  readonly error: string | null;
  /** Null where it cannot be read. */
  readonly progress: P | null;
  /** Null: that of the system level, or it cannot be read. */
  readonly tenant: string | null;
}

/** One run of a task. */
export interface Job<P> {
  readonly id: string;
  readonly bucket: string;
  /** The owner's keys. Its signal is that of the job. */
  readonly caller: Caller;
  /** The last checkpoint, from which the work continues. */
  readonly progress: P;
  /** Aborts when the task is cancelled, and as {@link leaseSignal}. */
  readonly signal: AbortSignal;
  /**
   * Aborts when this process must no longer work on the task: it stops, or another process may have the lease. Work
   * that must not break off when the task is cancelled waits for this signal alone.
   */
  readonly leaseSignal: AbortSignal;
  /**
   * Reads from the object store when this process may: all its tasks and downloads of archives share its reads at a
   * time, fairly between tasks.
   *
   * @throws what `work` throws; the reason of {@link signal} if that aborts first
   */
  read<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Gives up the slot of a long task after a minute of work where others wait for one. Long work calls it often. Then the
   * reads that are under way count no longer, until it has a slot again.
   *
   * @returns whether it has waited
   * @throws the reason of {@link signal}; it may abort so that the task goes on from its last checkpoint
   */
  yieldTurn(): Promise<boolean>;
  /**
   * Records a progress from which the task can go on; it must not be changed afterwards. It is stored at most four times
   * a second.
   *
   * @param how `at once`: returns when it is stored. `partial`: a restart repeats the same work as without it, so it does
   *   not reset the retries of the store's errors
   * @throws when the job is interrupted. The progress is recorded all the same.
   */
  checkpoint(progress: P, how?: "at once" | "partial"): Promise<void>;
  /**
   * Reads blobs of the task, see {@link TaskStore}.
   *
   * @throws HttpError 410 for a fixed blob that was changed or is gone
   */
  readBlobs(names: readonly string[]): Promise<(Uint8Array<ArrayBuffer> | null)[]>;
  /** Replaces blobs of the task, see {@link TaskStore}. */
  writeBlobs(blobs: Blobs): Promise<void>;
}

/** The time of a process. It only moves forward, whatever is done to the clock of the machine. */
export interface TaskClock {
  /** ms since an arbitrary moment */
  now(): number;
  /** Resolves after so many ms, or at once when `signal` is aborted. */
  sleep(ms: number, signal?: AbortSignal): Promise<void>;
}

export const PROCESS_CLOCK: TaskClock = { now: () => performance.now(), sleep };

/** ms since 1970 by a clock that is read once and only moves forward, so that times of one process can be compared. */
export function steadyTime(): () => number {
  const from = Date.now() - performance.now();
  return () => Math.floor(from + performance.now());
}

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
