import { type BatchJob, type BatchPod, readPod } from "@/lib/campaigns/projection/cluster_objects.ts";
import { POD_JOB_LABEL } from "@/lib/campaigns/projection/conventions.ts";
import { isEnding } from "@/lib/campaigns/projection/phase.ts";
import { listAll } from "@/lib/kubernetes/cluster_reads.ts";
import type { ClusterConnection } from "@/lib/kubernetes/connection.ts";
import { podsPath } from "@/lib/kubernetes/object_paths.ts";
import { compareText } from "@/lib/std/text.ts";

const PAGE_SIZE = 250;

/**
 * The succeeded pods of a Job that ended before it counted all of its volumes, without those of volumes that it did count;
 * none for any other Job, whose index sets say enough.
 *
 * @throws {ClusterUnavailable}
 */
export async function succeededPods(connection: ClusterConnection, job: BatchJob): Promise<readonly BatchPod[]> {
  const isCounted = (index: number) => job.completed.has(index) || job.failed.has(index);
  if (!job.conditions.some(isEnding) || job.completed.size + job.failed.size >= (job.completions ?? 0)) return [];
  return await listAll(connection, {
    path: podsPath(job.namespace),
    labelSelector: `${POD_JOB_LABEL}=${job.name}`,
    fieldSelector: "status.phase=Succeeded",
    pageSize: PAGE_SIZE,
  }, (object) => {
    const pod = readPod(object);
    return pod?.phase === "Succeeded" && pod.index !== null && !isCounted(pod.index) ? pod : null;
  });
}

/** Both lists of pods in the order of their names, in which a server lists them. */
export function joinedPods(pods: readonly BatchPod[], succeeded: readonly BatchPod[]): readonly BatchPod[] {
  if (succeeded.length === 0) return pods;
  return [...pods, ...succeeded].sort((a, b) => compareText(a.name, b.name));
}
