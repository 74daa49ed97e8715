import { unprocessable } from "@/lib/http/errors.ts";
import { compareText } from "@/lib/std/text_order.ts";
import type { Task } from "@/lib/tasks/task.ts";
import { type Entry, expectedEntry } from "./expected.ts";
import type { FixityProgress } from "./fixity.ts";
import { readRows, type ReportRow } from "./report_rows.ts";
import { copiedChunks, type ReadBlobs, type StoredLines } from "./stored_lines.ts";

/** What the names of the blobs begin with that a check copies from the one before. */
const BASELINE = "baseline";

/** The rows of an earlier check, copied for another one, which may outlive it. */
interface CopiedBaseline {
  readonly rows: StoredLines;
  readonly blobs: ReadonlyMap<string, Uint8Array>;
}

/**
 * Copies the rows of an earlier check.
 *
 * @throws HttpError 422 where they do not say the SHA-256 of every object
 */
export async function copyBaseline(
  task: Pick<Task, "state">,
  progress: FixityProgress,
  read: ReadBlobs,
): Promise<CopiedBaseline> {
  const { request, rows, checkedAt } = progress;
  if (task.state === "running") {
    throw unprocessable("baseline: that check has not ended yet", { code: "baseline_running" });
  }
  if (!request.full || request.allVersions || checkedAt === null || rows.leftOut > 0) {
    throw unprocessable("baseline: that check has no rows of all objects: it needs full, without all_versions", {
      code: "baseline_incomplete",
    });
  }
  const blobs = await copiedChunks(rows, "rows", BASELINE, read);
  if (blobs === null) throw unprocessable("baseline: the rows of that check are gone", { code: "baseline_gone" });
  return { rows, blobs };
}

interface BaselineOptions {
  readonly rows: StoredLines;
  readonly read: ReadBlobs;
  /** Keys outside of it are left out. */
  readonly prefix: string;
  /** Only keys behind it come; null: all. */
  readonly after: string | null;
}

/** The keys that an earlier check has read, in their order, with the SHA-256 of their bytes. */
export async function* baselineKeys({ rows, read, prefix, after }: BaselineOptions): AsyncGenerator<Entry> {
  for await (const chunk of readRows(rows, read, BASELINE)) {
    for (const row of chunk) {
      const { key, etag } = row;
      const sha256 = knownSha256(row);
      if (sha256 === null || !key.startsWith(prefix)) continue;
      if (after !== null && compareText(key, after) <= 0) continue;
      const proved = { proof: "baseline", algorithm: "sha256", expected: sha256, parts: null } as const;
      yield expectedEntry(key, [{ ...proved, etag: etag ?? null }]);
    }
  }
}

/** What the bytes of an object should be by an earlier check: damage that was found then is not forgotten. */
function knownSha256({ result, sha256, algorithm, expected, proved_by }: ReportRow): string | null {
  switch (result) {
    case "intact":
    case "unproven":
    case "not_in_manifest":
      return sha256 ?? null;
    case "missing":
      return algorithm === "sha256" ? expected ?? null : null;
    case "changed":
      return algorithm === "sha256" && proved_by === "baseline" ? expected ?? null : null;
    default:
      return null;
  }
}
