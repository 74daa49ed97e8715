import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError, notFound, tooManyRequests } from "@/lib/http/errors.ts";
import { namesType } from "@/lib/http/header_values.ts";
import { guardedStream } from "@/lib/http/upstream.ts";
import { type RequestContext, Slots } from "@/lib/http/request_context.ts";
import type { Operation, ResponseSpec } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import type { BodyReader } from "@/lib/std/body_reader.ts";
import type { Task, TaskSummary } from "@/lib/tasks/task.ts";
import { ownerOf, PROCESS_CLOCK, type TaskClock, type TaskType } from "@/lib/tasks/task_keys.ts";
import { type ActiveTasks, activeTasks, iso, TASK_STATUS } from "@/lib/tasks/task_responses.ts";
import type { FoundTask, TaskRunner } from "@/lib/tasks/task_runner.ts";
import { isAdministratorOfTasks } from "@/lib/mapi/administrators.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import { bucketParams, bucketTarget, type GatewayOperation } from "./operation.ts";

/** The tag of all operations of tasks. */
export const TASKS_TAG = "Background tasks";
/** Event streams of one owner, and of all, at a time. */
const MAX_STREAMS_PER_OWNER = 16;
const MAX_STREAMS = 256;
const RETRY_AFTER_SECONDS = 5;
/** Shortest time between two events, ms. */
const EVENT_MS = 250;
/** After so long without an event a comment shows that the connection stands, ms. */
const COMMENT_MS = 15_000;
/** Longest time of one stream, ms; its client opens another one. */
const TOTAL_MS = 600_000;

/** Parts that the task operations work with. */
export interface TaskRoutes {
  readonly s3: S3;
  readonly tasks: TaskRunner;
  readonly streams: TaskStreams;
}

/** Which task, in the path. */
export const taskParams = bucketParams.extend({
  task_id: z.string().min(1).meta({ examples: ["0b6d1c0e-54a8-4a0b-9f6e-0c6f3c1d2e4f"] }),
});

/** The response where the stored progress of a task cannot be read. */
export const OTHER_VERSION = { description: "The task belongs to another version of the gateway" };

export const EVENTS_DESCRIPTION =
  "With `Accept: text/event-stream`, sends `progress` events on changes and one `end` event";

/** Limits the event streams of this process. */
export class TaskStreams {
  readonly #slots = new Slots(MAX_STREAMS, MAX_STREAMS_PER_OWNER);

  /** @throws HttpError 429 when there are too many */
  enter(owner: string, context: RequestContext): void {
    const leave = this.#slots.enter(owner);
    if (typeof leave === "string") {
      throw tooManyRequests(
        "Too many event streams at a time: poll instead",
        RETRY_AFTER_SECONDS,
        "event_streams_full",
      );
    }
    context.hold(leave);
  }
}

/** The body of a response that says how far a task is. */
type TaskBody = Readonly<Record<string, unknown>>;

/** A task as its owner is shown it. */
type ShownTask<P> = FoundTask<P> & { readonly body: TaskBody };

/** A poll of a task. */
interface Poll<P> {
  readonly type: TaskType<P>;
  readonly caller: Caller;
  readonly params: z.output<typeof taskParams>;
  bodyOf(task: Task, progress: P): TaskBody;
  /** The response to a client that does not want events; the body as JSON when absent. */
  respond?(shown: ShownTask<P>): Response | Promise<Response>;
}

/**
 * Responds to a poll of a task, with events where the client wants them. A caller whose credentials were not accepted
 * lately is proven first.
 *
 * @throws HttpError as {@link TaskRunner.find} and `respond`; 401 for rejected credentials, 429 for too many event streams
 */
export async function pollResponse<P>(
  { tasks, streams }: TaskRoutes,
  context: RequestContext,
  { type, caller, params: { bucket, task_id }, bodyOf, respond = ({ body }) => Response.json(body) }: Poll<P>,
): Promise<Response> {
  const view = async (): Promise<ShownTask<P>> => {
    const { task, progress } = await tasks.find(type, bucket, task_id, caller);
    return { task, progress, body: bodyOf(task, progress) };
  };
  await caller.prove?.();
  const shown = await view();
  if (!namesType(context.header("Accept"), "text/event-stream")) return await respond(shown);
  streams.enter(ownerOf(caller, tasks.keys), context);
  const body = guardedStream(new TaskEvents({ clock: PROCESS_CLOCK, view, signal: tasks.stopping }), {
    what: "an event stream",
    unread: () => context.info?.breakOff?.(),
  });
  // A proxy must not hold events back.
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" } });
}

/** How tasks of a kind are followed below its path. */
interface Followed<P> {
  readonly type: TaskType<P>;
  readonly path: string;
  /** Such as `deletion`. */
  readonly noun: string;
  readonly schema: z.ZodType;
  /** How long it can be read; ten minutes when absent. */
  readonly availability?: string;
  readonly failed?: Readonly<Record<number, ResponseSpec>>;
  /** The operation that cancels it: what it leaves, and the name of its response's schema; absent: there is none. */
  readonly cancel?: {
    readonly method: "POST" | "DELETE";
    readonly description: string;
    readonly name: string;
  };
  bodyOf(task: Task, progress: P): TaskBody;
  /** @throws HttpError where a task that failed is an error response */
  check?(task: Task): void;
}

/** Reading the progress of a task, and cancelling it. */
export function followOperations<P>(
  operation: GatewayOperation,
  routes: TaskRoutes,
  { type, path, noun, schema, availability = "for ten minutes after the end", failed, cancel, bodyOf, check }: Followed<
    P
  >,
): Operation[] {
  const { tasks } = routes;
  const { kind } = type;
  const unknown = { 404: { description: `No such ${noun} of this caller in this bucket` }, 410: OTHER_VERSION };
  const read = operation({
    id: `get_${kind}`,
    method: "GET",
    path: `${path}/{task_id}`,
    tag: TASKS_TAG,
    summary: `Get the progress or result of a ${noun}`,
    description: `Available ${availability}. ${EVENTS_DESCRIPTION}.`,
    params: taskParams,
    responses: { 200: { description: "Progress or result", schema }, ...unknown, ...failed },
    handler: ({ caller, params }, context) =>
      pollResponse(routes, context, {
        type,
        caller,
        params,
        bodyOf,
        respond({ task, body }) {
          check?.(task);
          return Response.json(body);
        },
      }),
  });
  if (!cancel) return [read];
  const { method, description, name } = cancel;
  const canceling = z.object({ task_id: z.string(), status: z.enum(["canceling", "done", "canceled", "failed"]) })
    .meta({ id: `${name}Canceling` });
  return [
    read,
    operation({
      id: `cancel_${kind}`,
      method,
      path: `${path}/{task_id}${method === "POST" ? "/cancel" : ""}`,
      tag: TASKS_TAG,
      summary: `Cancel a ${noun}`,
      description,
      params: taskParams,
      responses: {
        200: {
          description: "Cancellation requested, or the state in which the task had already ended",
          schema: canceling,
        },
        ...unknown,
      },
      audit: {
        action: "task_cancel",
        target: bucketTarget,
        details: ({ params: { task_id } }) => ({ task: kind, task_id }),
      },
      async handler({ caller, params: { bucket, task_id } }) {
        await caller.prove?.();
        const { task: { state } } = await tasks.find(type, bucket, task_id, caller);
        if (state === "running") await tasks.cancel(task_id);
        return Response.json({ task_id, status: state === "running" ? "canceling" : TASK_STATUS[state] });
      },
    }),
  ];
}

interface TaskEventsOptions {
  readonly clock: TaskClock;
  /** Reads the task again. @throws HttpError */
  readonly view: () => Promise<{ readonly task: Pick<Task, "state">; readonly body: TaskBody }>;
  /** Ends the stream. */
  readonly signal: AbortSignal;
}

/**
 * The progress of a task as server-sent events: one named `progress` whenever it changes, at the end one named `end`. The
 * task is read when the consumer reads, so a slow one skips states and nothing is buffered.
 */
export class TaskEvents implements BodyReader {
  readonly #cancel = new AbortController();
  readonly #signal: AbortSignal;
  readonly #end: number;
  #sentAt = -Infinity;
  #last = "";
  #isOver = false;

  constructor(private readonly options: TaskEventsOptions) {
    this.#end = options.clock.now() + TOTAL_MS;
    this.#signal = AbortSignal.any([this.#cancel.signal, options.signal]);
  }

  async read(): Promise<Uint8Array<ArrayBuffer> | null> {
    const { clock } = this.options;
    while (!this.#isOver && clock.now() < this.#end) {
      const text = await this.#next();
      if (this.#signal.aborted) return null;
      if (text !== null) {
        this.#sentAt = clock.now();
        return new TextEncoder().encode(text);
      }
      if (!this.#isOver) await clock.sleep(EVENT_MS, this.#signal);
    }
    return null;
  }

  cancel(): void {
    this.#cancel.abort();
  }

  /** The next event or comment; null where there is none now. */
  async #next(): Promise<string | null> {
    const { clock, view } = this.options;
    const wait = this.#sentAt + EVENT_MS - clock.now();
    if (wait > 0) await clock.sleep(wait, this.#signal);
    if (this.#signal.aborted) return null;
    try {
      const { task, body } = await view();
      const data = JSON.stringify(body);
      this.#isOver = task.state !== "running";
      if (this.#isOver) return `event: end\ndata: ${data}\n\n`;
      if (data !== this.#last) {
        this.#last = data;
        return `event: progress\ndata: ${data}\n\n`;
      }
    } catch (error) {
      // A task that is gone ends the stream; while the task store is not reachable, it waits.
      if (!(error instanceof HttpError)) throw error;
      if (error.status < 500) this.#isOver = true;
    }
    return clock.now() - this.#sentAt >= COMMENT_MS ? ": still here\n\n" : null;
  }
}

interface ActiveTaskRoutes {
  readonly tasks: TaskRunner;
  /** Null where the store has no accounts with roles. */
  readonly mapi: Mapi | null;
}

/** The tasks that count for the limits: for their owners, and without their content for administrators. */
export function activeTaskOperations(operation: GatewayOperation, { tasks, mapi }: ActiveTaskRoutes): Operation[] {
  /** Which tasks a caller sees besides its own: those of a tenant, or of all (null); undefined: none. */
  const administered = async (caller: Caller): Promise<string | null | undefined> => {
    if (mapi !== null && await isAdministratorOfTasks(mapi, caller)) return caller.tenant?.toLowerCase() ?? null;
    await caller.prove?.();
    return undefined;
  };
  return [
    operation({
      id: "list_tasks",
      method: "GET",
      path: "/api/v1/tasks",
      tag: TASKS_TAG,
      summary: "List unfinished tasks and downloadable archives",
      description:
        "Returns the caller's tasks. Accounts with the role ADMINISTRATOR also see those of their tenant, or of all tenants " +
        "at the system level, without keys and prefixes.",
      responses: { 200: { description: "Unfinished tasks and downloadable archives", schema: activeTasks } },
      async handler({ caller }) {
        const tenant = await administered(caller);
        const owner = ownerOf(caller, tasks.keys);
        const found = await tasks.store.summaries(tenant ?? null);
        const shown = tenant === undefined ? found.filter((task) => task.owner === owner) : found;
        const scope = tenant === undefined ? "own" : tenant === null ? "all" : "tenant";
        const body: ActiveTasks = { scope, tasks: shown.map((task) => viewOf(task, owner)) };
        return Response.json(body);
      },
    }),
    operation({
      id: "cancel_task",
      method: "POST",
      path: "/api/v1/tasks/{task_id}/cancel",
      tag: TASKS_TAG,
      summary: "Cancel a task or discard an archive",
      description:
        "Allowed for its owner, an ADMINISTRATOR of its tenant, and the system level. A cancelled archive can no longer be " +
        "downloaded.",
      params: z.object({ task_id: z.string().min(1) }),
      responses: {
        200: {
          description: "Cancellation requested, or the state in which the task had already ended",
          schema: z.object({ id: z.string(), state: z.enum(["canceling", "ready", "failed", "canceled"]) }),
        },
        404: { description: "No such task, or the account may not cancel it" },
      },
      audit: {
        action: "task_cancel",
        target: () => ({ kind: "task" }),
        details: ({ params: { task_id } }) => ({ task_id }),
      },
      async handler({ caller, params: { task_id } }, context) {
        const tenant = await administered(caller);
        const task = await tasks.get(task_id);
        const isTheirs = task?.owner === ownerOf(caller, tasks.keys);
        if (!task || !(isTheirs || tenant === null || (tenant !== undefined && task.tenant === tenant))) {
          throw notFound("Task");
        }
        const { id, kind, account, bucket } = task;
        context.noted = {
          task: kind,
          bucket,
          ...task.tenant === null ? {} : { tenant: task.tenant },
          ...account === null ? {} : { account },
        };
        await tasks.cancel(id);
        const left = await tasks.get(id) ?? task;
        return Response.json({ id, state: left.state === "running" ? "canceling" : left.state });
      },
    }),
  ];
}

function viewOf({ id, kind, state, isCanceling, tenant, account, bucket, createdAt, owner }: TaskSummary, own: string) {
  return {
    id,
    kind,
    state: isCanceling ? "canceling" as const : state === "ready" ? "ready" as const : "running" as const,
    tenant,
    account,
    bucket,
    started_at: iso(createdAt),
    own: owner === own,
  };
}
