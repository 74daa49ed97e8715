import { type Conventions, POD_JOB_LABEL, selectors } from "@/lib/campaigns/projection/conventions.ts";
import type { Collection } from "@/lib/kubernetes/cluster_reads.ts";
import { ClusterUnavailable } from "@/lib/kubernetes/cluster_unavailable.ts";
import type { StreamingConnection } from "@/lib/kubernetes/connection.ts";
import { configMapsPath, jobsPath, podsPath } from "@/lib/kubernetes/object_paths.ts";
import { watchOnce } from "@/lib/kubernetes/watch.ts";
import { parsedJson, stringAt } from "@/lib/std/untrusted.ts";

interface MayWatchOptions {
  readonly connection: StreamingConnection;
  readonly conventions: Conventions;
  readonly namespaces: readonly string[];
  readonly signal: AbortSignal;
}

/** The shortest duration of a watch. */
const TRIAL_SECONDS = 1;
/** Idle timeout of the connection beyond that, ms. */
const IDLE_MS = 3_000;

/**
 * Whether the account may watch all campaign objects, found out by short watches: an access review need not show rules
 * from outside of the cluster. False when the cluster does not respond. Never throws for a response of the server.
 */
export async function mayWatch({ connection, conventions, namespaces, signal }: MayWatchOptions): Promise<boolean> {
  const { campaignJobs, records } = selectors(conventions);
  for (const namespace of namespaces) {
    const collections: readonly Collection[] = [
      { path: jobsPath(namespace), labelSelector: campaignJobs },
      { path: podsPath(namespace), labelSelector: POD_JOB_LABEL },
      { path: configMapsPath(namespace), labelSelector: records, metadataOnly: true },
    ];
    for (const collection of collections) {
      if (!await isWatched(connection, collection, signal)) return false;
    }
  }
  return true;
}

async function isWatched(
  connection: StreamingConnection,
  collection: Collection,
  signal: AbortSignal,
): Promise<boolean> {
  const position = await positionOf(connection, collection, signal);
  if (position === null) return false;
  const request = { collection, position, seconds: TRIAL_SECONDS, idleMs: IDLE_MS, signal };
  return await watchOnce(connection, request, { change() {}, position() {} }) === "ended";
}

/** The resource version to watch from, because a watch without one begins with all objects. Null: unknown. */
async function positionOf(
  connection: StreamingConnection,
  { path, labelSelector }: Collection,
  signal: AbortSignal,
): Promise<string | null> {
  const query = new URLSearchParams({ limit: "1", ...(labelSelector && { labelSelector }) });
  try {
    const { status, body } = await connection.send({ method: "GET", path, query, signal });
    return status === 200 ? stringAt(parsedJson(body), "metadata", "resourceVersion") : null;
  } catch (error) {
    if (error instanceof ClusterUnavailable) return null;
    throw error;
  }
}
