import { type BatchJob, readJob } from "@/lib/campaigns/projection/cluster_objects.ts";
import type { Conventions } from "@/lib/campaigns/projection/conventions.ts";
import { getObject } from "@/lib/kubernetes/cluster_reads.ts";
import { ClusterForbidden, ClusterUnavailable } from "@/lib/kubernetes/cluster_unavailable.ts";
import type { ClusterConnection } from "@/lib/kubernetes/connection.ts";
import { configMapPath, jobsPath } from "@/lib/kubernetes/object_paths.ts";
import { entries, member, parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { type Failures, summaryOf } from "./record_merge.ts";
import {
  planFailures,
  planSummary,
  readStoredRecord,
  type RecordWrite,
  statusRecordName,
  type StoredRecord,
} from "./record_plan.ts";

interface RecordWriterOptions {
  readonly connection: ClusterConnection;
  readonly conventions: Conventions;
  /** The results URL that records name; null where it differs from one browser to another. */
  readonly resultsUrl: string | null;
}

/** `contended`: another client writes the same record, which is not an error. `gone`: the Job no longer exists. */
export type RecordOutcome = "written" | "unchanged" | "contended" | "gone";

/** A failed write: the API server rejected it or a read that it needs, failed, or did not respond. */
export class RecordRejected extends Error {
  override readonly name = "RecordRejected";
}

/** Brings the status record of a campaign up to date. */
export interface RecordWriter {
  /**
   * Records a campaign's summary and, when `failures` are given, adds those. Both are judged by the Job and the record as
   * they stand now: nothing is written for a Job that is gone or was replaced.
   *
   * @throws {RecordRejected} when a write fails, or the account may not read Job or record
   * @throws {ClusterUnavailable} when Job or record cannot be read now
   */
  write(job: BatchJob, failures: Failures | null): Promise<RecordOutcome>;
}

/** Writes records by server-side apply (Kubernetes, "Server-Side Apply"), under a manager for each of their two halves. */
export function recordWriter({ connection, conventions, resultsUrl }: RecordWriterOptions): RecordWriter {
  return {
    async write({ namespace, name, uid }, failures) {
      const path = configMapPath(namespace, statusRecordName(name));
      if (path === null) return "gone";
      const [jobObject, recordObject] = await Promise.all([
        getObject(connection, `${jobsPath(namespace)}/${encodeURIComponent(name)}`).catch(forbidden("jobs")),
        getObject(connection, path).catch(forbidden("configmaps")),
      ]);
      const job = readJob(jobObject, conventions);
      if (job?.kind !== "campaign" || job.uid !== uid || uid === "") return "gone";
      const stored = readStoredRecord(recordObject);
      const apply = (write: RecordWrite) => applied(connection, path, objectOf(job, write), write);

      const summary = planSummary(stored, job, summaryOf(job, resultsUrl), conventions);
      const record = summary ? await apply(summary) : stored;
      if (record === "contended") return "contended";
      const done = summary ? "written" : "unchanged";
      if (!failures || !record) return done;
      const named = planFailures(stored, record.uid, job, failures, conventions);
      if (!named) return done;
      return await apply(named) === "contended" ? "contended" : "written";
    },
  };
}

/** Applies a write and returns the stored record; null when the response does not contain it. */
async function applied(
  connection: ClusterConnection,
  path: string,
  object: object,
  { manager, force }: RecordWrite,
): Promise<StoredRecord | "contended" | null> {
  const query = new URLSearchParams({ fieldManager: manager, ...(force && { force: "true" }) });
  const headers = { "Content-Type": "application/apply-patch+yaml" };
  const { status, body } = await connection.send({ method: "PATCH", path, query, headers, body: yaml(object) })
    .catch(rejected);
  if (status === 409 || (status === 422 && namesAnotherObject(parsedJson(body)))) return "contended";
  if (status !== 200 && status !== 201) throw new RecordRejected(`status ${status}`);
  return readStoredRecord(parsedJson(body));
}

/** A right that is missing is reported as a rejected write is, since without it no record is ever written. */
function forbidden(resource: string): (error: unknown) => never {
  return (error) => {
    throw error instanceof ClusterForbidden ? new RecordRejected(`status 403 of get ${resource}`) : error;
  };
}

/** Whether another object of that name replaced the record: then the uid, which cannot change, is the only cause. */
function namesAnotherObject(status: unknown): boolean {
  const causes = entries(member(status, "details", "causes"));
  return causes.length > 0 && causes.every((cause) => stringAt(cause, "field") === "metadata.uid");
}

function rejected(error: unknown): never {
  throw error instanceof ClusterUnavailable ? new RecordRejected("no response", { cause: error }) : error;
}

function objectOf({ namespace, name }: BatchJob, { labels, data, uid, version }: RecordWrite): object {
  return {
    apiVersion: "v1",
    kind: "ConfigMap",
    metadata: {
      namespace,
      name: statusRecordName(name),
      ...(Object.keys(labels).length > 0 && { labels }),
      ...(uid !== null && { uid }),
      ...(version !== null && { resourceVersion: version }),
    },
    data,
  };
}

/**
 * JSON that is valid YAML as well, because the server parses YAML: control characters from U+007F on and lone surrogates,
 * even escaped ones, are errors there, and U+2028 may end a line.
 */
function yaml(object: object): Uint8Array<ArrayBuffer> {
  const json = JSON.stringify(object, (_name, value) => typeof value === "string" ? value.toWellFormed() : value);
  const escaped = json.replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
  return new TextEncoder().encode(escaped);
}
