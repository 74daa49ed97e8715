import { bagView, damageOf, type FixityProgress, manifestView } from "./fixity.ts";
import { failureMembers } from "@/lib/tasks/task_error.ts";
import { manifestLine } from "./manifest_line.ts";
import { mustBePlain } from "./manifest_outputs.ts";
import { CSV_HEAD, csvLine, type ReportRow } from "./report_row.ts";

/** What a report is of. */
interface ReportSubject {
  readonly id: string;
  readonly bucket: string;
  /** How the task ended. */
  readonly status: string;
  readonly error: string | null;
  readonly progress: FixityProgress;
}

/** What a report says beside its rows; times are ISO 8601 in UTC. */
function reportHead({ id, bucket, status, error, progress }: ReportSubject) {
  const { request, files, bytes, totals, provedBy, rows, startedAt, checkedAt } = progress;
  return {
    task_id: id,
    bucket,
    prefix: request.prefix,
    status,
    ...failureMembers(error),
    started_at: iso(startedAt),
    checked_at: checkedAt === null ? null : iso(checkedAt),
    all_versions: request.allVersions,
    etags: request.etags === "ignore" ? "ignored" : progress.etags,
    manifest: manifestView(progress),
    bag: bagView(progress),
    baseline: request.baseline,
    schedule: request.schedule,
    files,
    bytes,
    damaged: damageOf(totals),
    ...totals,
    proved_by: provedBy,
    full: request.full,
    rows_left_out: rows.leftOut,
  };
}

/** A report as JSON, in chunks. Each row is a line of its own, so that it can be read line by line. */
export async function* jsonReport(
  subject: ReportSubject,
  rows: AsyncIterable<readonly ReportRow[]>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(reportHead(subject)).slice(0, -1)},"rows":[`;
  let isFirst = true;
  for await (const chunk of rows) {
    let text = "";
    for (const row of chunk) {
      text += `${isFirst ? "" : ","}\n${JSON.stringify(row)}`;
      isFirst = false;
    }
    yield text;
  }
  yield "\n]}\n";
}

/**
 * The rows of a report as a manifest of BagIt, in chunks.
 *
 * @param folder what its paths are relative to, a prefix of all keys
 * @throws HttpError 409 before the first chunk, for a name that a manifest cannot have
 */
export async function* manifestReport(
  folder: string,
  rows: () => AsyncIterable<readonly ReportRow[]>,
): AsyncGenerator<string> {
  for await (const chunk of rows()) {
    for (const { key } of chunk.filter(isInManifest)) mustBePlain(folder, key.slice(folder.length));
  }
  // The first chunk says whether there are rows.
  yield "";
  for await (const chunk of rows()) {
    yield chunk.filter(isInManifest).map(({ key, sha256 = "" }) => manifestLine(sha256, key.slice(folder.length)))
      .join("");
  }
}

function isInManifest({ key, size, result, sha256 }: ReportRow): boolean {
  return sha256 !== undefined && result !== "changed" && !(size === 0 && key.endsWith("/"));
}

/** The rows of a report as CSV, in chunks. */
export async function* csvReport(rows: AsyncIterable<readonly ReportRow[]>): AsyncGenerator<string> {
  yield CSV_HEAD;
  for await (const chunk of rows) yield chunk.map(csvLine).join("");
}

function iso(ms: number): string {
  return new Date(ms).toISOString();
}
