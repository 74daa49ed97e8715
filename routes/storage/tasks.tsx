import { ActiveTasks } from "@/components/storage/active_tasks.tsx";
import { StorageSection } from "@/components/storage/storage_section.tsx";
import { parseForm, readBytes } from "@/lib/http/body.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { ACTIVE_TASK_LABELS, ACTIVE_TASK_SENTENCES } from "@/lib/presentation/storage/active_task.ts";
import { tasksPath } from "@/lib/presentation/storage/storage_paths.ts";
import { storageProblem } from "@/lib/presentation/storage/storage_sentences.ts";
import { requireSameOrigin } from "@/lib/results/browser_origin.ts";
import { cancelBody } from "@/lib/std/body_reader.ts";
import type { ActiveTasks as Listed } from "@/lib/tasks/task_responses.ts";
import {
  LoginEnded,
  SeeOther,
  statusWithout,
  storagePage,
  type StoragePageDeps,
  type StorageView,
  type StorageVisit,
} from "./storage_page.tsx";

const MAX_FORM_BYTES = 1024;
/** Rows of the page. */
const MAX_ROWS = 500;
const UUID = /^[0-9a-f-]{36}$/;

/** `/storage/tasks`: the account's unfinished tasks; for administrators those of the tenant, or of all. */
export function tasksPage(deps: StoragePageDeps) {
  return storagePage(deps, async (visit) => {
    const { account, accounts } = visit;
    const { status, body } = await listed(deps, visit);
    const title = ACTIVE_TASK_LABELS.title;
    return {
      title,
      status: statusWithout(status),
      body: <StorageSection account={account} accounts={accounts} title={title}>{body}</StorageSection>,
    } satisfies StorageView;
  });
}

/** POST /storage/tasks: cancels a task, and leads back to the list. */
export function tasksForm(deps: StoragePageDeps) {
  const page = storagePage(deps, async ({ context, account, login }) => {
    const bytes = await readBytes(context.request, MAX_FORM_BYTES);
    const task = (await parseForm(bytes, context.header("Content-Type") ?? "")).get("task") ?? "";
    const { status } = UUID.test(task)
      ? await deps.gateway.sendJson("POST", `/tasks/${task}/cancel`, undefined, login, context)
      : { status: 404 };
    if (status === 401) throw new LoginEnded();
    throw new SeeOther(tasksPath({ account, canceled: status === 200 ? "yes" : "no" }));
  });
  return async function tasksForm(context: RequestContext): Promise<Response> {
    requireSameOrigin(context.request);
    try {
      return await page(context);
    } finally {
      cancelBody(context.request);
    }
  };
}

async function listed({ gateway, now }: StoragePageDeps, { account, login, context, query }: StorageVisit) {
  const { status, json } = await gateway.read("/tasks", login, context);
  if (status === 401) throw new LoginEnded();
  if (status !== 200) {
    return { status, body: <p class="banner warn" role="alert">{storageProblem(status, "buckets")}</p> };
  }
  const { scope, tasks } = json as Listed;
  const canceled = query.get("canceled");
  return {
    status,
    body: (
      <>
        {canceled && (
          <p class={canceled === "yes" ? "banner" : "banner warn"} role="status">
            {canceled === "yes" ? ACTIVE_TASK_SENTENCES.canceled : ACTIVE_TASK_SENTENCES.gone}
          </p>
        )}
        <p class="remark">{ACTIVE_TASK_SENTENCES[scope]}</p>
        {tasks.length > MAX_ROWS && <p class="remark">{ACTIVE_TASK_SENTENCES.shown(MAX_ROWS, tasks.length)}</p>}
        {tasks.length > 0
          ? <ActiveTasks account={account} tasks={tasks.slice(0, MAX_ROWS)} now={now()} />
          : <p class="empty">{ACTIVE_TASK_SENTENCES.none}</p>}
      </>
    ),
  };
}
