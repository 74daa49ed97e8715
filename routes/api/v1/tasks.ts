import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { notFound } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { isAdministratorOfTasks } from "@/lib/mapi/administrators.ts";
import type { Mapi } from "@/lib/mapi/mapi_client.ts";
import type { TaskSummary } from "@/lib/tasks/task.ts";
import { ownerOf } from "@/lib/tasks/task_keys.ts";
import { type ActiveTasks, activeTasks, iso } from "@/lib/tasks/task_responses.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import type { GatewayOperation } from "./operation.ts";
import { TASKS_TAG } from "./task_progress.ts";

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
          description: "Cancellation requested, or the state in which it had ended",
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
