import { HttpError, sentenceOf } from "@/lib/http/errors.ts";
import type { CodedText } from "@/lib/std/coded.ts";
import { isTransient } from "@/lib/tasks/task_error.ts";
import { folderOf, tagFileBytes } from "./find_manifests.ts";
import { bagView, damageOf, type FixityProgress } from "./fixity.ts";
import { manifestKey, writeBag, writeManifest } from "./manifest_outputs.ts";
import { manifestLine } from "./manifest_line.ts";
import type { ReadSource } from "./read_object.ts";
import { csvReport, jsonReport } from "./report.ts";
import { readRows, type ReportRow } from "./report_rows.ts";
import { type ReadBlobs, readLines, type StoredLines, withLine, type WriteBlobs } from "./stored_lines.ts";
import { type Output, type PlannedOutput, planOutput, writePlanned, type WrittenOutput } from "./write_object.ts";

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

/** Writes what was planned, and notes it. */
type Write = (planned: PlannedOutput) => Promise<void>;

/**
 * Writes the manifests and the report that a check was asked for.
 *
 * @returns what was written, and why something was not
 * @throws HttpError for errors that may pass
 */
export async function writeOutputs(
  options: OutputSource,
): Promise<{ written: WrittenOutput[]; errors: CodedText[] }> {
  const { source, bucket } = options;
  const written: WrittenOutput[] = [];
  const errors: CodedText[] = [];
  const write = async (planned: PlannedOutput) => {
    await writePlanned(source, bucket, planned);
    const { key, size, sha256 } = planned;
    written.push({ key, size, sha256 });
  };
  for (const writeSome of [writeManifests, writeReport]) {
    try {
      await writeSome(options, write);
    } catch (error) {
      if (!(error instanceof HttpError) || isTransient(error)) throw error;
      errors.push(sentenceOf(error));
    }
  }
  return { written, errors };
}

async function writeManifests({ source, bucket, progress, readBlobs }: OutputSource, write: Write): Promise<void> {
  const { request, digests, payload, totals, checkedAt } = progress;
  if (request.write === null) return;
  const folder = folderOf(request.prefix);
  const damaged = damageOf(totals);
  if (damaged > 0) {
    throw new HttpError(409, `'${manifestKey(folder)}' was not written, since ${damaged} objects are damaged`, {
      coded: { code: "not_written_damaged", params: { key: manifestKey(folder), objects: damaged } },
    });
  }
  if (digests.leftOut > 0) {
    throw new HttpError(409, `'${manifestKey(folder)}' was not written: there are too many objects for one manifest`, {
      coded: { code: "not_written_too_many", params: { key: manifestKey(folder) } },
    });
  }
  const manifests = {
    folder,
    lines: () => soundLines(digests, readBlobs),
    plan: (output: Output) => planOutput(source, bucket, output),
    write,
    overwrites: request.overwrite,
  };
  if (request.write === "manifest") return await writeManifest(manifests);
  await writeBag({
    ...manifests,
    payload,
    read: (key) => tagFileBytes(source, bucket, key),
    isValidBag: bagView(progress)?.valid === true,
    now: checkedAt ?? Date.now(),
  });
}

async function* soundLines(digests: StoredLines, read: ReadBlobs): AsyncGenerator<string> {
  for await (const lines of readLines(digests, DIGESTS, read)) {
    if (lines === null) throw new HttpError(410, LINES_GONE, { coded: { code: "not_written_digests_gone" } });
    yield lines;
  }
}

/** The names have the id of the task, so no object of another task is replaced. */
async function writeReport({ source, bucket, id, progress, readBlobs }: OutputSource, write: Write): Promise<void> {
  const { reportTo } = progress.request;
  if (reportTo === null) return;
  const task = { id, bucket, state: "ready", error: null } as const;
  const rows = () => readRows(progress.rows, readBlobs);
  const outputs = [
    { key: `${reportTo}fixity-${id}.json`, type: "application/json", text: () => jsonReport(task, progress, rows()) },
    { key: `${reportTo}fixity-${id}.csv`, type: "text/csv; charset=utf-8", text: () => csvReport(rows()) },
  ];
  for (const output of outputs) await write(await planOutput(source, bucket, output));
}
