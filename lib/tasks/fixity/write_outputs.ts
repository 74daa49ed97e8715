import { HttpError } from "@/lib/http/errors.ts";
import { headObject } from "@/lib/s3/objects.ts";
import { isTransient } from "@/lib/tasks/task_error.ts";
import { folderOf } from "./find_manifests.ts";
import { damageOf, type FixityProgress } from "./fixity.ts";
import { manifestKey, writeBag, writeManifest } from "./manifest_outputs.ts";
import { manifestLine } from "./manifest_line.ts";
import type { ReadSource } from "./read_object.ts";
import { csvReport, jsonReport } from "./report.ts";
import type { ReportRow } from "./report_row.ts";
import { readRows } from "./report_rows.ts";
import { type ReadBlobs, readLines, type StoredLines, withLine, type WriteBlobs } from "./stored_lines.ts";
import { type Output, writeOutput, type WrittenOutput } from "./write_object.ts";

/** What the names of the blobs begin with that hold the lines of a manifest. */
export const DIGESTS = "digests";
/** Most bytes of such lines, packed: about a million objects. */
const MAX_BYTES = 64 * 1024 * 1024;

const LINES_GONE = "The digests for the manifest are gone from the store of tasks: start the check again";

/** The lines of the manifest that is written, behind one more object. */
export async function withDigest(
  { request, digests }: FixityProgress,
  { key, size, sha256, result }: ReportRow,
  write: WriteBlobs,
): Promise<StoredLines> {
  const isFolder = size === 0 && key.endsWith("/");
  if (request.write === null || sha256 === undefined || result === "changed" || isFolder) return digests;
  const line = manifestLine(sha256, key.slice(folderOf(request.prefix).length));
  return await withLine(digests, line, { name: DIGESTS, maxLines: Infinity, maxBytes: MAX_BYTES }, write);
}

interface OutputSource {
  readonly source: ReadSource;
  readonly bucket: string;
  /** Of the task. */
  readonly id: string;
  readonly progress: FixityProgress;
  readonly readBlobs: ReadBlobs;
}

/**
 * Writes the manifests and the report that a check was asked for.
 *
 * @returns what was written, and why something was not
 * @throws HttpError for errors that may pass
 */
export async function writeOutputs(
  options: OutputSource,
): Promise<{ written: WrittenOutput[]; error: string | null }> {
  const written: WrittenOutput[] = [];
  const errors: string[] = [];
  for (const write of [writeManifests, writeReport]) {
    try {
      written.push(...await write(options));
    } catch (error) {
      if (!(error instanceof HttpError) || isTransient(error)) throw error;
      errors.push(error.message);
    }
  }
  return { written, error: errors.length === 0 ? null : errors.join("; ") };
}

async function writeManifests({ source, bucket, progress, readBlobs }: OutputSource): Promise<WrittenOutput[]> {
  const { request: { write, overwrite, prefix }, digests, payload, totals, checkedAt } = progress;
  if (write === null) return [];
  const folder = folderOf(prefix);
  const damaged = damageOf(totals);
  if (damaged > 0) {
    throw new HttpError(409, `'${manifestKey(folder)}' was not written, since ${damaged} objects are damaged`);
  }
  if (digests.leftOut > 0) {
    throw new HttpError(409, `'${manifestKey(folder)}' was not written: there are too many objects for one manifest`);
  }
  const sources = {
    folder,
    lines: () => soundLines(digests, readBlobs),
    write: (output: Output) => writeOutput(source, bucket, output, overwrite),
    has: (key: string) => hasObject(source, bucket, key),
    now: checkedAt ?? Date.now(),
  };
  if (write === "manifest") return await writeManifest(sources);
  const written = await writeBag(sources, payload);
  if (written === null) throw new HttpError(409, `No bag was written: no object lies below '${folder}data/'`);
  return written;
}

async function* soundLines(digests: StoredLines, read: ReadBlobs): AsyncGenerator<string> {
  for await (const lines of readLines(digests, DIGESTS, read)) {
    if (lines === null) throw new HttpError(410, LINES_GONE);
    yield lines;
  }
}

/** The names have the id of the task, so no object of another task is replaced. */
async function writeReport({ source, bucket, id, progress, readBlobs }: OutputSource): Promise<WrittenOutput[]> {
  const { reportTo } = progress.request;
  if (reportTo === null) return [];
  const subject = { id, bucket, status: "done", error: null, progress };
  const rows = () => readRows(progress.rows, readBlobs);
  const outputs = [
    { key: `${reportTo}fixity-${id}.json`, type: "application/json", text: () => jsonReport(subject, rows()) },
    { key: `${reportTo}fixity-${id}.csv`, type: "text/csv; charset=utf-8", text: () => csvReport(rows()) },
  ];
  const written: WrittenOutput[] = [];
  for (const output of outputs) written.push(await writeOutput(source, bucket, output, true));
  return written;
}

async function hasObject({ s3, caller }: ReadSource, bucket: string, key: string): Promise<boolean> {
  try {
    await headObject(s3, caller, { bucket, key });
    return true;
  } catch (error) {
    if (error instanceof HttpError && error.status === 404) return false;
    throw error;
  }
}
