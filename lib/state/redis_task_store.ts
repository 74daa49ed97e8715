import { Buffer } from "node:buffer";
import { z } from "zod";
import { HttpError } from "@/lib/http/errors.ts";
import {
  type Blobs,
  type Created,
  LEASE_MS,
  type NewTask,
  type Saved,
  STORED_KINDS,
  type Task,
  TASK_KINDS,
  type TaskBounds,
  type TaskEnd,
  type TaskSelection,
  type TaskStore,
  type TaskSummary,
} from "@/lib/tasks/task.ts";
import {
  REDIS_PREFIX,
  type RedisArgument,
  type RedisClient,
  type RedisReply,
  type RedisScript,
} from "./redis_client.ts";
import {
  CANCEL,
  CLAIM,
  CREATE,
  DELETE,
  END,
  GET,
  LIST,
  POSTPONE,
  PROLONG,
  RECORD_FIELDS,
  RELEASE,
  REPLACE_NOTE,
  SAVE,
  SUMMARIES,
  SUMMARY_FIELDS,
  SWEEP,
  WRITE_BLOBS,
} from "./task_scripts.ts";

/** A part of all keys: tasks of another version are not seen, and expire by themselves. */
const LAYOUT_VERSION = 2;

const DAMAGED = "The stored record of this task is damaged: start the task again";

const text = z.instanceof(Uint8Array).transform((bytes) => Buffer.from(bytes).toString("utf8"));
const textOrNone = text.or(z.null());
const time = text.pipe(z.string().regex(/^\d{1,15}$/)).transform(Number);
const flag = text.pipe(z.enum(["0", "1"])).transform((digit) => digit === "1");

/** A reply that is a list of values, in the order of their names. */
const named = (names: readonly string[]) =>
  z.array(z.unknown()).transform((values) => Object.fromEntries(names.map((name, at) => [name, values[at]])));

const summaryFields = {
  id: text,
  kind: text.pipe(z.enum(TASK_KINDS)),
  owner: text,
  bucket: text,
  state: text.pipe(z.enum(["running", "ready", "failed", "canceled"])),
  canceling: flag,
  tenant: textOrNone,
  account: textOrNone,
  created: time,
};
const SUMMARY = named([...SUMMARY_FIELDS, "isLeased", "id"]).pipe(z.object({ ...summaryFields, isLeased: flag }))
  .transform(({ canceling, created, ...task }): TaskSummary => ({
    ...task,
    isCanceling: task.state === "running" && canceling,
    createdAt: created,
  }));
const RECORD = named([...RECORD_FIELDS, "caller", "id"]).pipe(z.object({
  ...summaryFields,
  kind: text.pipe(z.enum(STORED_KINDS)),
  error: textOrNone,
  progress: text,
  ended: time.or(z.null()),
  updated: time,
  caller: z.instanceof(Uint8Array).or(z.null()),
})).transform(({ canceling, created, ended, updated, caller, ...task }): Task => ({
  ...task,
  isCanceling: task.state === "running" && canceling,
  createdAt: created,
  endedAt: ended,
  updatedAt: updated,
  sealedCaller: caller && plainBytes(caller),
}));

const CREATED = text.pipe(z.enum(["created", "exists", "owner", "tenant", "all"]));
const SAVED = text.pipe(z.enum(["stored", "canceling", "lost"]));

interface RedisTaskStoreOptions {
  /** The name of the processes that share these tasks: a part of all keys, so that others do not see the tasks. */
  readonly deployment: string;
  /** Receives a line for the operator when a damaged task is deleted. */
  readonly warn: (line: string) => void;
  /** Added to the server's clock, ms; none when absent. */
  readonly clockOffset?: () => number;
}

/**
 * The tasks of several processes of one deployment, in Redis or Valkey. Leases and times are by the server's clock. Each
 * method is one script, which the server runs whole.
 */
export class RedisTaskStore implements TaskStore {
  /** Prefix of all its keys, which are in one slot of a cluster. */
  readonly #prefix: string;

  /** @param client closed with this store */
  constructor(private readonly client: RedisClient, private readonly options: RedisTaskStoreOptions) {
    this.#prefix = `${REDIS_PREFIX}{tasks-${LAYOUT_VERSION}-${options.deployment}}:`;
  }

  async create(task: NewTask, holder: string, bounds: TaskBounds, blobs?: Blobs): Promise<Created> {
    const { id, kind, owner, bucket, progress, sealedCaller, tenant, account } = task;
    const { maxPerOwner, maxPerTenant, max } = bounds;
    const words = [id, kind, owner, bucket, progress, sealedCaller, holder, maxPerOwner, maxPerTenant, max];
    return parsed(CREATED, await this.#run(CREATE, ...words, tenant ?? "", account ?? "", ...blobWords(blobs)));
  }

  async get(id: string): Promise<Task | null> {
    const reply = await this.#run(GET, id);
    return reply === null ? null : parsed(RECORD, reply);
  }

  async list({ owner, kind, bucket }: TaskSelection): Promise<Task[]> {
    const reply = await this.#run(LIST, owner, kind, bucket);
    return (Array.isArray(reply) ? reply : []).flatMap((record) => RECORD.safeParse(record).data ?? []);
  }

  async summaries(tenant: string | null): Promise<TaskSummary[]> {
    const reply = await this.#run(SUMMARIES, ...tenant === null ? [] : [tenant]);
    return (Array.isArray(reply) ? reply : []).flatMap((record) => SUMMARY.safeParse(record).data ?? []);
  }

  async claim(holder: string, limit: number, owner?: string, leaseMs: number = LEASE_MS): Promise<Task[]> {
    const reply = await this.#run(CLAIM, holder, limit, leaseMs, ...owner === undefined ? [] : [owner]);
    const tasks: Task[] = [];
    for (const record of Array.isArray(reply) ? reply : []) {
      const { data } = RECORD.safeParse(record);
      if (data) tasks.push(data);
      else await this.#deleteDamaged(record);
    }
    return tasks;
  }

  async save(id: string, holder: string, progress: string | null): Promise<Saved> {
    return parsed(SAVED, await this.#run(SAVE, id, holder, ...progress === null ? [] : [progress]));
  }

  async end(id: string, holder: string, { state, error, progress, keepsCaller }: TaskEnd): Promise<Saved> {
    return parsed(SAVED, await this.#run(END, id, holder, state, error ?? "", progress, keepsCaller ? 1 : 0));
  }

  async postpone(id: string, holder: string, progress: string | null, ms: number): Promise<void> {
    await this.#run(POSTPONE, id, holder, Math.round(ms), ...progress === null ? [] : [progress]);
  }

  async release(holder: string): Promise<void> {
    await this.#run(RELEASE, holder);
  }

  async cancel(id: string): Promise<void> {
    await this.#run(CANCEL, id);
  }

  async prolong(id: string): Promise<void> {
    await this.#run(PROLONG, id);
  }

  async writeBlobs(id: string, blobs: Blobs): Promise<void> {
    await this.#run(WRITE_BLOBS, id, ...blobWords(blobs));
  }

  async readBlobs(id: string, names: readonly string[]): Promise<(Uint8Array<ArrayBuffer> | null)[]> {
    if (names.length === 0) return [];
    const reply = await this.client.command("HMGET", `${this.#prefix}blobs:${id}`, ...names);
    return parsed(z.array(z.instanceof(Uint8Array).or(z.null())), reply).map((blob) => blob && plainBytes(blob));
  }

  async readNote(name: string): Promise<string | null> {
    return parsed(textOrNone, await this.client.command("GET", `${this.#prefix}note:${name}`));
  }

  async replaceNote(name: string, before: string | null, after: string): Promise<boolean> {
    return await this.#run(REPLACE_NOTE, name, after, ...before === null ? [] : [before]) === 1;
  }

  async sweep(): Promise<void> {
    await this.#run(SWEEP);
  }

  close(): Promise<void> {
    return this.client.close();
  }

  #run(script: RedisScript, ...words: readonly RedisArgument[]): Promise<RedisReply> {
    return this.client.run(script, [this.#prefix], [this.options.clockOffset?.() ?? 0, ...words]);
  }

  /** No process can work on such a task, and each one would claim it again and again. */
  async #deleteDamaged(record: RedisReply): Promise<void> {
    const id = Array.isArray(record) ? record.at(-1) : undefined;
    if (!(id instanceof Uint8Array)) return;
    this.options.warn("Redis: the record of a background task is damaged; the task is deleted");
    await this.#run(DELETE, id);
  }
}

/** @throws {HttpError} 500 where a reply does not have the form that the schema describes */
function parsed<T>(schema: z.ZodType<T>, reply: RedisReply): T {
  const { data, success } = schema.safeParse(reply);
  if (!success) throw new HttpError(500, DAMAGED);
  return data;
}

function blobWords(blobs: Blobs = new Map()): RedisArgument[] {
  return [...blobs].flat();
}

function plainBytes(bytes: Uint8Array): Uint8Array<ArrayBuffer> {
  return new Uint8Array(bytes);
}
