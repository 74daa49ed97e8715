import { codedText } from "@/lib/presentation/coded_sentences.ts";
import { entries, stringAt } from "@/lib/std/untrusted.ts";
import { countOf, failure, followGatewayTask, startGatewayTask, timesOf } from "./gateway_task.ts";
import type { TaskControl } from "./task_control.ts";
import type { DeletePlan, TaskEnd, TaskFault } from "@/lib/presentation/storage/task_record.ts";

const PATH = "/buckets/:bucket/objects/delete-task";

/** Deletes objects by a task of the gateway, which also cancels it. @throws TaskStopped */
export async function runDelete(control: TaskControl, { place: { bucket }, keys, prefixes }: DeletePlan) {
  const id = await startGatewayTask(control, PATH, bucket, { keys, prefixes });
  if (typeof id !== "string") return id;
  const parameters = { bucket, task_id: id };
  let wasCanceled = false;
  const look = async () => {
    if (control.state.isCanceling && !wasCanceled) {
      const answer = await control.call(`${PATH}/:task_id/cancel`, parameters, { method: "POST" });
      wasCanceled = answer.status === 200;
      if (!wasCanceled) return answer;
    }
    return await control.call(`${PATH}/:task_id`, parameters);
  };
  return await followGatewayTask(control, look, (answer): TaskEnd | null => {
    if (answer.status !== 200) return failure(answer);
    control.change({
      total: countOf(answer, "total"),
      done: countOf(answer, "deleted"),
      failed: countOf(answer, "failed"),
      faults: faultsOf(answer.json),
      ...timesOf(answer),
    });
    switch (stringAt(answer.json, "status")) {
      case "processing":
        return null;
      case "canceled":
        return { how: "canceled" };
      case "failed":
        return { how: "failed", status: 0, message: codedText(answer.json, "error") };
      default:
        return { how: "done" };
    }
  });
}

function faultsOf(json: unknown): TaskFault[] {
  const errors = json && typeof json === "object" && "errors" in json ? json.errors : [];
  return entries(errors).map((error) => ({
    key: stringAt(error, "Key") ?? "",
    status: stringAt(error, "Code") === "AccessDenied" ? 403 : 0,
    message: stringAt(error, "Message") ?? stringAt(error, "Code") ?? "",
  }));
}
