import { useSignal } from "@preact/signals";

import { Meter } from "@/components/meter.tsx";
import { SmallButton } from "@/components/chip.tsx";
import { KeyName } from "./key_name.tsx";
import type { ShownTask, TaskList } from "@/lib/pages/storage/task_list_client.ts";
import type { TaskFault } from "@/lib/pages/storage/task_record.ts";
import {
  faultsTitle,
  isTroubled,
  reason,
  TASK_LABELS,
  taskSentence,
  taskTitle,
} from "@/lib/pages/storage/task_sentences.ts";

/** The tasks of an account, the newest first: how far each is, how it ended, and what can be done with it. */
export function TaskRows({ list }: { readonly list: TaskList }) {
  const tasks = list.tasks.value;
  return (
    <>
      {tasks.filter(({ state }) => state.value.end !== null).length > 1 && (
        <div class="controls">
          <SmallButton label={TASK_LABELS.dismissFinished} onClick={() => list.dismissFinished()} />
        </div>
      )}
      <ul>{tasks.toReversed().map((task) => <TaskRow key={task.id} task={task} list={list} />)}</ul>
    </>
  );
}

function TaskRow({ task, list }: { readonly task: ShownTask; readonly list: TaskList }) {
  const { id, plan } = task;
  const state = task.state.value;
  const { end, total, done, failed, skipped, faults } = state;
  const isUndoing = useSignal(false);
  const undo = async () => {
    const { place, name, rows, keys, prefixes } = plan;
    const [since, until] = [state.startedAt ?? 0, state.endedAt ?? Date.now()].map((ms) => new Date(ms).toISOString());
    const json = { mode: "undo", keys, prefixes, since, until };
    isUndoing.value = true;
    const undoing = { kind: "undo", place, name, rows, keys, prefixes } as const;
    if (await list.startShown(undoing, () => Promise.resolve({ json }))) list.dismiss(id);
    else isUndoing.value = false;
  };
  return (
    <li>
      <p class="title">
        <bdi>{taskTitle(plan)}</bdi>
      </p>
      <Meter
        parts={[{ tone: "done", count: end?.how === "done" && total === null ? 1 : done + skipped }, {
          tone: "bad",
          count: failed,
        }]}
        total={total ?? (end === null ? 0 : 1)}
      />
      <p class={isTroubled(state) ? "sub bad" : "sub"}>
        {taskSentence(plan, state, task.isAway.value)}
      </p>
      {end !== null && faults.length > 0 && (
        <details>
          <summary>{faultsTitle(state)}</summary>
          <ul>
            {faults.map((fault) => (
              <li key={fault.key}>
                <KeyName name={fault.key} /> {faultReason(fault)}
              </li>
            ))}
          </ul>
        </details>
      )}
      <div class="btns">
        {end === null && plan.kind !== "zip" && !state.isCanceling && (
          <SmallButton
            label={TASK_LABELS.cancel}
            onClick={() => list.cancel(id)}
          />
        )}
        {plan.kind === "delete" && plan.canUndo && end !== null && state.startedAt !== null &&
          (done > 0 || end.how === "gone") && !isUndoing.value &&
          <SmallButton label={TASK_LABELS.undo} onClick={() => void undo()} />}
        {state.download !== null && <a class="btn small" href={state.download} download="">{TASK_LABELS.saveAgain}</a>}
        {end !== null && <SmallButton label={TASK_LABELS.dismiss} onClick={() => list.dismiss(id)} />}
      </div>
    </li>
  );
}

/** The store's own words where nothing else is known; "" for objects that are missing in an archive. */
function faultReason({ status, message }: TaskFault): string {
  return status === 0 ? message : reason(status, message);
}
