import { z } from "zod";
import type { Task } from "@/lib/tasks/task.ts";
import { TASK_STATUS } from "@/lib/tasks/task_times.ts";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { tooManyRequests } from "@/lib/http/errors.ts";
import { BrokenStream, guardedStream } from "@/lib/http/guarded_stream.ts";
import { InFlight } from "@/lib/http/in_flight.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { PROCESS_CLOCK } from "@/lib/tasks/task_clock.ts";
import { TaskEvents, type TaskView } from "@/lib/tasks/task_events.ts";
import { ownerOf } from "@/lib/tasks/task_keys.ts";
import type { TaskType } from "@/lib/tasks/task_handler.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { bucketTarget } from "./audited_objects.ts";
import { bucketParams } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";

/** The tag of all operations of tasks. */
export const TASKS_TAG = "Background tasks";
/** Event streams of one owner, and of all, at a time. */
const MAX_STREAMS_PER_OWNER = 16;
const MAX_STREAMS = 256;
const RETRY_AFTER_SECONDS = 5;

/** What the task operations work with. */
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
export const OTHER_VERSION = { description: "The task was started by another version of the gateway" };

export const EVENTS_DESCRIPTION =
  "With `Accept: text/event-stream` as events: `progress` when it changes, `end` at the end";

/** Limits the event streams of this process. */
export class TaskStreams {
  readonly #ofOwner = new InFlight(MAX_STREAMS_PER_OWNER);
  readonly #all = new InFlight(MAX_STREAMS);

  /** @throws HttpError 429 when there are too many */
  enter(owner: string, context: RequestContext): void {
    const leaveOwner = this.#ofOwner.enter(owner);
    const leave = leaveOwner && this.#all.enter();
    if (leaveOwner) context.hold(leaveOwner);
    if (!leave) {
      throw tooManyRequests(
        "Too many event streams at a time: poll instead",
        RETRY_AFTER_SECONDS,
        "event_streams_full",
      );
    }
    context.hold(leave);
  }
}

/**
 * Responds to a poll of a task: with events where the client wants them, else with what `respond` returns. A caller whose
 * credentials were not accepted lately is proven first.
 *
 * @param view reads the task again
 * @throws HttpError as `view` and `respond`; 401 for rejected credentials, 429 for too many event streams
 */
export async function pollResponse<View extends TaskView>(
  routes: TaskRoutes,
  caller: Caller,
  context: RequestContext,
  view: () => Promise<View>,
  respond: (view: View) => Response | Promise<Response>,
): Promise<Response> {
  await caller.prove?.();
  const found = await view();
  return wantsEvents(context) ? progressEvents(routes, caller, context, view) : await respond(found);
}

/** How tasks of a kind are followed below its path. */
interface Followed<P> {
  readonly type: TaskType<P>;
  readonly path: string;
  /** Such as `deletion`. */
  readonly noun: string;
  /** Of the schema of a cancellation. */
  readonly name: string;
  readonly schema: z.ZodType;
  /** What a cancellation leaves. */
  readonly canceled: string;
  readonly failed?: Readonly<Record<number, { readonly description: string }>>;
  view(task: Task, progress: P): TaskView;
  /** @throws HttpError where a task that failed is an error response */
  check?(task: Task): void;
}

/** Reading the progress of a task, and cancelling it. */
export function followOperations<P>(
  operation: GatewayOperation,
  routes: TaskRoutes,
  { type, path, noun, name, schema, canceled, failed, view, check }: Followed<P>,
): Operation[] {
  const { tasks } = routes;
  const { kind } = type;
  const unknown = { 404: { description: `No such ${noun} of this user in this bucket` }, 410: OTHER_VERSION };
  const canceling = z.object({ task_id: z.string(), status: z.enum(["canceling", "done", "canceled", "failed"]) })
    .meta({ id: `${name}Canceling` });
  return [
    operation({
      id: `get_${kind}`,
      method: "GET",
      path: `${path}/{task_id}`,
      tag: TASKS_TAG,
      summary: `The progress or the result of a ${noun}`,
      description: `It can be read for ten minutes after the end. ${EVENTS_DESCRIPTION}.`,
      params: taskParams,
      responses: { 200: { description: "How far it is, and how it ended", schema }, ...unknown, ...failed },
      handler({ caller, params: { bucket, task_id } }, context) {
        const read = async () => {
          const { task, progress } = await tasks.find(type, bucket, task_id, caller);
          return { task, ...view(task, progress) };
        };
        return pollResponse(routes, caller, context, read, ({ task, body }) => {
          check?.(task);
          return Response.json(body);
        });
      },
    }),
    operation({
      id: `cancel_${kind}`,
      method: "POST",
      path: `${path}/{task_id}/cancel`,
      tag: TASKS_TAG,
      summary: `Cancel a ${noun}`,
      description: canceled,
      params: taskParams,
      responses: { 200: { description: "It ends soon, or how it ended before", schema: canceling }, ...unknown },
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

/** Whether a client wants events. */
function wantsEvents(context: RequestContext): boolean {
  return /(?:^|,)\s*text\/event-stream\s*(?:;|,|$)/i.test(context.header("Accept") ?? "");
}

/** The progress of a task as an event stream, which ends with the task, with its client or after ten minutes. */
function progressEvents(
  { tasks, streams }: TaskRoutes,
  caller: Caller,
  context: RequestContext,
  view: () => Promise<TaskView>,
): Response {
  streams.enter(ownerOf(caller, tasks.keys), context);
  const events = new TaskEvents({ clock: PROCESS_CLOCK, view, signal: tasks.stopping });
  const body = guardedStream(events, {
    broken: () => new BrokenStream("BrokenEvents", "an event stream broke off"),
    unread: () => context.info?.breakOff?.(),
  });
  // A proxy must not hold events back.
  return new Response(body, { headers: { "Content-Type": "text/event-stream", "X-Accel-Buffering": "no" } });
}
