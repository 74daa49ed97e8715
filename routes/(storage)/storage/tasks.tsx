import { Chip } from "@/components/chip.tsx";
import { Moment } from "@/components/moment.tsx";
import { KeyName } from "@/components/storage/key_name.tsx";
import { StorageSection } from "@/components/storage/storage_frame.tsx";
import { parseForm, readBytes } from "@/lib/http/body.ts";
import { seeOther } from "@/lib/http/header_values.ts";
import { ACTIVE_TASKS } from "@/lib/pages/storage/task_sentences.ts";
import { tasksPath } from "@/lib/pages/storage/storage_paths.ts";
import { storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { defineStorage } from "@/lib/site/state.ts";
import { statusWithout } from "@/lib/site/storage/storage_visit.ts";
import type { ActiveTasks } from "@/lib/tasks/task_responses.ts";

const MAX_FORM_BYTES = 1024;
/** Rows of the page. */
const MAX_ROWS = 500;
const UUID = /^[0-9a-f-]{36}$/;

/** `/storage/tasks`: the account's unfinished tasks; for administrators those of the tenant, or of all. */
export const handler = defineStorage.handlers({
  async GET({ state }) {
    const { status, found } = await state.visit.read<ActiveTasks>("/tasks");
    state.title = ACTIVE_TASKS.LABELS.title;
    return await state.visit.page({ status, found }, statusWithout(status));
  },
  /** Cancels a task, and redirects to the list. */
  async POST({ state: { visit }, info, req }) {
    const bytes = await readBytes(req, MAX_FORM_BYTES);
    const task = (await parseForm(bytes, info.header("Content-Type") ?? "")).get("task") ?? "";
    const { status } = UUID.test(task) ? await visit.send("POST", `/tasks/${task}/cancel`) : { status: 404 };
    return seeOther(tasksPath({ account: visit.account, canceled: status === 200 ? "yes" : "no" }));
  },
});

export default defineStorage.page<typeof handler>(function Tasks({ data: { status, found }, state }) {
  const { account, accounts, query } = state.visit;
  const { title } = ACTIVE_TASKS.LABELS;
  if (found === null) {
    return (
      <StorageSection account={account} accounts={accounts} title={title}>
        <p class="banner warn" role="alert">{storageProblem(status, "buckets")}</p>
      </StorageSection>
    );
  }
  const { scope, tasks } = found;
  const canceled = query.get("canceled");
  return (
    <StorageSection account={account} accounts={accounts} title={title}>
      {canceled && (
        <p class={canceled === "yes" ? "banner" : "banner warn"} role="status">
          {canceled === "yes" ? ACTIVE_TASKS.SENTENCES.canceled : ACTIVE_TASKS.SENTENCES.gone}
        </p>
      )}
      <p class="remark">{ACTIVE_TASKS.SENTENCES[scope]}</p>
      {tasks.length > MAX_ROWS && <p class="remark">{ACTIVE_TASKS.SENTENCES.shown(MAX_ROWS, tasks.length)}</p>}
      {tasks.length > 0
        ? <TaskTable account={account} tasks={tasks.slice(0, MAX_ROWS)} now={state.now()} />
        : <p class="empty">{ACTIVE_TASKS.SENTENCES.none}</p>}
    </StorageSection>
  );
});

interface TaskTableProps {
  /** The account of the page. */
  readonly account: string;
  readonly tasks: ActiveTasks["tasks"];
  /** ms since 1970 */
  readonly now: number;
}

/** The tasks of the server, the oldest first, each with a button that cancels it; on a phone each is a block. */
function TaskTable({ account, tasks, now }: TaskTableProps) {
  const { kind, state, account: who, bucket, started, cancel } = ACTIVE_TASKS.LABELS;
  return (
    <section class="records active-tasks" aria-label={ACTIVE_TASKS.LABELS.title}>
      <table>
        <thead>
          <tr>
            {[kind, who, bucket, started, state].map((name) => <th key={name} scope="col">{name}</th>)}
            <th scope="col">
              <span class="sr">{cancel}</span>
            </th>
          </tr>
        </thead>
        <tbody>
          {tasks.map((task) => <Row key={task.id} account={account} task={task} now={now} />)}
        </tbody>
      </table>
    </section>
  );
}

const TONES = { running: "run", canceling: "warn", ready: "done" } as const;

function Row({ account, task, now }: Omit<TaskTableProps, "tasks"> & { readonly task: ActiveTasks["tasks"][number] }) {
  const { id, kind, state, bucket, started_at } = task;
  const { account: who, bucket: where, started, cancel, cancelOf, unknown } = ACTIVE_TASKS.LABELS;
  const name = task.account === null ? unknown : task.tenant === null ? task.account : `${task.tenant}/${task.account}`;
  return (
    <tr>
      <th scope="row">{ACTIVE_TASKS.KINDS[kind]}</th>
      <td>
        <span class="cell-name">{who}</span>
        {task.account === null ? name : <KeyName name={name} />}
      </td>
      <td>
        <span class="cell-name">{where}</span>
        <KeyName name={bucket} />
      </td>
      <td>
        <span class="cell-name">{started}</span>
        <Moment at={started_at} style={{ zone: "UTC", now }} /> UTC
      </td>
      <td>
        <Chip text={ACTIVE_TASKS.STATES[state]} tone={TONES[state]} />
      </td>
      <td class="act">
        {state !== "canceling" && (
          <form method="post" action={tasksPath({ account })}>
            <input type="hidden" name="task" value={id} />
            <button class="btn small" type="submit" aria-label={cancelOf(ACTIVE_TASKS.KINDS[kind], name, bucket)}>
              {cancel}
            </button>
          </form>
        )}
      </td>
    </tr>
  );
}
