import type { FixityProgress } from "./fixity.ts";
import { reportHead, type ShownTask } from "./responses.ts";
import { manifestLine } from "./manifest_line.ts";
import { mustBePlain } from "./manifest_outputs.ts";
import { CSV_HEAD, csvLine, type ReportRow } from "./report_rows.ts";

/** A report as JSON, in chunks. Each row is a line of its own, so that it can be read line by line. */
export async function* jsonReport(
  task: ShownTask,
  progress: FixityProgress,
  rows: AsyncIterable<readonly ReportRow[]>,
): AsyncGenerator<string> {
  yield `${JSON.stringify(reportHead(task, progress)).slice(0, -1)},"rows":[`;
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
