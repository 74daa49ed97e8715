import { integerAt, member, parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { type Collection, selection } from "./cluster_reads.ts";
import { ClusterUnavailable } from "./cluster_unavailable.ts";
import type { StreamingConnection } from "./connection.ts";
import { LineTooLong } from "./line_splitter.ts";

/** A change of one object. */
export interface Change {
  readonly type: "put" | "removed";
  readonly object: unknown;
}

interface WatchRequest {
  readonly collection: Collection;
  /** The resource version after which changes are wanted. */
  readonly position: string;
  /** After which the server should end the watch, whole seconds. */
  readonly seconds: number;
  /** Idle timeout of the connection beyond that time, ms. */
  readonly idleMs: number;
  readonly signal: AbortSignal;
}

interface WatchReceiver {
  change(change: Change): void;
  /** What came so far can be followed from here. */
  position(version: string): void;
}

/**
 * How a watch ended: after its time; because this account may not watch; because the server no longer has the
 * changes from the position on, or the next one cannot be read; or by any other failure, after which it can go on from its
 * position.
 */
export type WatchEnd = "ended" | "forbidden" | "expired" | "failed";

const METADATA = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json";

/**
 * Follows a collection once (Kubernetes, "Efficient detection of changes"). A connection that is idle is
 * cancelled shortly after the server should have ended it. Never throws for what a server does.
 */
export async function watchOnce(
  connection: StreamingConnection,
  { collection, position, seconds, idleMs, signal }: WatchRequest,
  receiver: WatchReceiver,
): Promise<WatchEnd> {
  const query = selection(collection);
  query.set("watch", "1");
  query.set("allowWatchBookmarks", "true");
  query.set("timeoutSeconds", String(seconds));
  if (position !== "") query.set("resourceVersion", position);
  let early: WatchEnd | null = null;
  const limits = { idleMs: seconds * 1000 + idleMs, totalMs: seconds * 2000 + idleMs };
  const stop = new AbortController();
  try {
    const status = await connection.stream(
      {
        method: "GET",
        path: collection.path,
        query,
        headers: collection.metadataOnly ? { Accept: METADATA } : {},
        signal: AbortSignal.any([signal, stop.signal]),
      },
      limits,
      (line) => {
        if (early !== null) return;
        early = take(line, receiver);
        // Nothing that comes after it can be trusted to follow what came before.
        if (early !== null) stop.abort();
      },
    );
    return early ?? endOf(status);
  } catch (error) {
    if (!(error instanceof ClusterUnavailable)) throw error;
    // The same line would come again from the same position.
    return early ?? (error.cause instanceof LineTooLong ? "expired" : "failed");
  }
}

/** Null while the watch continues. */
function take(line: Uint8Array, receiver: WatchReceiver): WatchEnd | null {
  const event = parsedJson(line);
  if (event === undefined) return "failed";
  const object = member(event, "object");
  const type = stringAt(event, "type");
  if (type === "ERROR") return endOf(integerAt(object, "code"), "failed");
  if (type === "ADDED" || type === "MODIFIED") receiver.change({ type: "put", object });
  else if (type === "DELETED") receiver.change({ type: "removed", object });
  else if (type !== "BOOKMARK") return null;
  const version = stringAt(object, "metadata", "resourceVersion");
  if (version) receiver.position(version);
  return null;
}

function endOf(status: number, otherwise: WatchEnd = status === 200 ? "ended" : "failed"): WatchEnd {
  if (status === 410) return "expired";
  // A server without watches returns 405.
  return status === 403 || status === 405 ? "forbidden" : otherwise;
}
