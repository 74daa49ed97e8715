import type { AuditRecorder } from "@/lib/http/audit_event.ts";
import { integerAt } from "@/lib/std/untrusted.ts";
import type { LeasedTask } from "./held_task.ts";
import { readSentence, type TaskEnd } from "./task.ts";
import { openCaller, readableProgress, type TaskHandler, type TaskKeys } from "./task_keys.ts";

/** The kind of tasks of another version, which this one does not know. */
const UNKNOWN = "unknown";

/** Members of a progress that are recorded of each kind, by their names in the record. */
const RECORDED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  delete: { deleted: "deleted", not_deleted: "failed" },
  transfer: { done: "done", deleted: "deleted", failed: "failed" },
};

/** Reports how the tasks of a process end: to their handlers, to the audit trail, and as counts. */
export class TaskEnds {
  /** Tasks that ended in this process, by kind and then by state. */
  readonly counts: ReadonlyMap<string, Record<TaskEnd["state"], number>>;

  /** @param recorder records how tasks end; null or absent: nothing does */
  constructor(
    private readonly handlers: ReadonlyMap<string, TaskHandler<unknown>>,
    private readonly keys: TaskKeys,
    private readonly recorder?: AuditRecorder | null,
  ) {
    const kinds = [...handlers.keys(), UNKNOWN];
    this.counts = new Map(kinds.map((kind) => [kind, { ready: 0, failed: 0, canceled: 0 }]));
  }

  /** Called before an end is stored. */
  async announce(task: LeasedTask, { state, error, progress }: TaskEnd): Promise<void> {
    const { keys } = this;
    const handler = this.handlers.get(task.kind);
    if (!handler?.onEnd) return;
    const { id, bucket, owner } = task;
    const tenant = task.sealedCaller && openCaller(task.sealedCaller, task, keys)?.caller.tenant;
    const sentence = error === null ? null : readSentence(error).text;
    const known = { id, bucket, owner, state, error: sentence, tenant: tenant ?? null };
    await handler.onEnd({ ...known, progress: readableProgress(handler, { ...task, progress }, keys) });
  }

  count({ kind }: LeasedTask, { state }: TaskEnd): void {
    const ended = this.counts.get(kind) ?? this.counts.get(UNKNOWN);
    if (ended) ended[state]++;
  }

  /** Counts alone change nothing. */
  record(task: LeasedTask, { state, progress }: TaskEnd): void {
    const { recorder, keys, handlers } = this;
    if (!recorder || task.kind === "count") return;
    const counted = RECORDED[task.kind] ?? {};
    const caller = task.sealedCaller && openCaller(task.sealedCaller, task, keys)?.caller;
    const handler = handlers.get(task.kind);
    const counts = handler && readableProgress(handler, { ...task, progress }, keys);
    recorder.note({
      action: "task_end",
      tenant: caller ? caller.tenant : null,
      actor: caller ? { name: caller.username, tenant: caller.tenant } : null,
      address: caller?.request?.address ?? null,
      requestId: caller?.request?.id ?? null,
      role: null,
      target: { kind: "bucket", bucket: task.bucket },
      result: state === "failed" ? "failed" : "succeeded",
      status: null,
      details: {
        task: task.kind,
        task_id: task.id,
        state,
        ...Object.fromEntries(Object.entries(counted).map(([name, member]) => [name, integerAt(counts, member)])),
      },
    });
  }
}
