import { type BatchJob, keyOf } from "@/lib/campaigns/projection/cluster_objects.ts";
import { type Conventions, labelNames } from "@/lib/campaigns/projection/conventions.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";

/** Jobs that a process reports; further ones are not reported, so that memory and log stay bounded. */
export const MAX_REPORTED_JOBS = 1000;

/** Logs once for each Job why it is not listed: it has every label of a campaign or a warm-up but `managed-by`. */
export function unlistedJobs(log: RequestLog, conventions: Conventions): (job: BatchJob) => void {
  const reported = new Set<string>();
  const label = `${labelNames(conventions).managedBy}=${conventions.managedBy}`;
  return ({ namespace, name, uid }) => {
    const job = keyOf(namespace, name);
    const id = `${job} ${uid}`;
    if (reported.has(id) || reported.size >= MAX_REPORTED_JOBS) return;
    reported.add(id);
    log.write({ level: "warn", unlisted_job: job, error: `the label ${label} is missing` });
  };
}
