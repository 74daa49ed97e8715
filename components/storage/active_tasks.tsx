import { Chip } from "@/components/chip.tsx";
import { Moment } from "@/components/moment.tsx";
import { ACTIVE_TASK_KINDS, ACTIVE_TASK_LABELS, ACTIVE_TASK_STATES } from "@/lib/presentation/storage/active_task.ts";
import { tasksPath } from "@/lib/presentation/storage/storage_paths.ts";
import type { ActiveTasks as Listed } from "@/lib/tasks/task_responses.ts";
import { KeyName } from "./key_name.tsx";

type ActiveTask = Listed["tasks"][number];

interface ActiveTasksProps {
  /** The account of the page. */
  readonly account: string;
  readonly tasks: readonly ActiveTask[];
  /** ms since 1970 */
  readonly now: number;
}

/** The tasks of the server, the oldest first, each with a button that cancels it; on a phone each is a block. */
export function ActiveTasks({ account, tasks, now }: ActiveTasksProps) {
  const { kind, state, account: who, bucket, started, cancel } = ACTIVE_TASK_LABELS;
  return (
    <section class="records active-tasks" aria-label={ACTIVE_TASK_LABELS.title}>
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

function Row({ account, task, now }: Omit<ActiveTasksProps, "tasks"> & { readonly task: ActiveTask }) {
  const { id, kind, state, bucket, started_at } = task;
  const { account: who, bucket: where, started, cancel, cancelOf, unknown } = ACTIVE_TASK_LABELS;
  const name = task.account === null ? unknown : task.tenant === null ? task.account : `${task.tenant}/${task.account}`;
  return (
    <tr>
      <th scope="row">{ACTIVE_TASK_KINDS[kind]}</th>
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
        <Chip text={ACTIVE_TASK_STATES[state]} tone={TONES[state]} />
      </td>
      <td class="act">
        {state !== "canceling" && (
          <form method="post" action={tasksPath({ account })}>
            <input type="hidden" name="task" value={id} />
            <button class="btn small" type="submit" aria-label={cancelOf(ACTIVE_TASK_KINDS[kind], name, bucket)}>
              {cancel}
            </button>
          </form>
        )}
      </td>
    </tr>
  );
}
