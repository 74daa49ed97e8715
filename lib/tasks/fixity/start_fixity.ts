import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badRequest, codedError, HttpError } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { readCountPage } from "@/lib/s3/listing.ts";
import { bucketName, objectKey, wellFormed } from "@/lib/s3/objects.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { findBag, namedManifest } from "./find_manifests.ts";
import { FIXITY, hasAllRows, type ManifestComparison, newFixity } from "./fixity.ts";
import { copiedRows } from "./report.ts";

/** Slowest reading that can be asked for, bytes per second: below it, stores take a connection for dead. */
const MIN_RATE = 65_536;

/** With these members of earlier versions, a check wrote a manifest or a bag. */
const REMOVED = ["write", "overwrite"];
export const REMOVED_SENTENCE = "checks no longer write manifests and bags: leave it out";

/** A check that a request asks for. A schedule has the same members. */
export const fixityOrder = z.looseObject({
  prefix: wellFormed.default("").meta({ description: "Empty: the whole bucket", examples: ["2026/"] }),
  rate: z.int().min(MIN_RATE).nullable().default(null).meta({
    description: "Bytes per second of this check; `FIXITY_RATE` limits all checks of a process",
  }),
  all_versions: z.boolean().default(false).meta({ description: "Check older versions too" }),
  full: z.boolean().default(false).meta({ description: "Report intact objects too, up to 500,000 rows" }),
  manifest: objectKey.nullable().default(null).meta({
    description: "Key of a manifest to compare with: BagIt, or the format of sha256sum and similar tools",
    examples: ["2026/manifest-sha256.txt"],
  }),
  manifest_bucket: bucketName.nullable().default(null).meta({
    description: "Bucket of the manifest; default: this bucket",
  }),
  manifest_root: wellFormed.nullable().default(null).meta({
    description: "Prefix of the paths in the manifest; default: the folder of the manifest",
  }),
  bag: z.boolean().default(false).meta({
    description: "The prefix is a BagIt bag: compare all its manifests and its Payload-Oxum",
  }),
  baseline: z.uuid().nullable().default(null).meta({
    description: "Task id of an earlier check with `full`, to compare with its SHA-256s",
  }),
  report_to: objectKey.nullable().default(null).meta({
    description: "Prefix in this bucket for the report, as JSON and CSV",
    examples: ["reports/"],
  }),
  etags: z.enum(["compare", "ignore"]).default("compare").meta({
    description: "`ignore`: do not compare with ETags, for stores whose ETags look like MD5s but are not",
  }),
}).meta({ id: "FixityStart" });
type FixityOrder = z.output<typeof fixityOrder>;

/** @throws HttpError 400 that names a member of earlier versions, 422 that names one that does not fit */
export function mustFitTogether(order: FixityOrder): void {
  const { manifest, manifest_bucket, manifest_root, bag, all_versions, prefix, baseline } = order;
  const removed = REMOVED.find((member) => Object.hasOwn(order, member));
  if (removed) throw badRequest(`${removed}: ${REMOVED_SENTENCE}`);
  if (manifest === null && manifest_bucket !== null) throw withoutManifest("manifest_bucket");
  if (manifest === null && manifest_root !== null) throw withoutManifest("manifest_root");
  if (bag && manifest !== null) throw codedError(422, "manifest_with_bag");
  if (bag && prefix !== "" && !prefix.endsWith("/")) throw codedError(422, "bag_prefix");
  if (all_versions && (bag || manifest !== null || baseline !== null)) throw codedError(422, "versions_not_compared");
}

function withoutManifest(field: string): HttpError {
  return codedError(422, "field_without_other", { field, other: "manifest" });
}

interface FixityParts {
  readonly s3: S3;
  readonly tasks: TaskRunner;
}

interface StartOptions {
  /** Name of the schedule; null: a request asks for it. */
  readonly schedule?: string | null;
  /** A random one when absent; where there is a task of it, none is started. */
  readonly id?: string;
}

/**
 * Starts a check.
 *
 * @returns its id
 * @throws HttpError as {@link mustFitTogether}, 422 for a manifest, bag or earlier check that is not there; as
 *   {@link TaskRunner.create} and for a bucket that cannot be read
 */
export async function startFixity(
  { s3, tasks }: FixityParts,
  caller: Caller,
  bucket: string,
  order: FixityOrder,
  { schedule = null, id }: StartOptions = {},
): Promise<string> {
  mustFitTogether(order);
  const { prefix, rate, full, etags, all_versions: allVersions, report_to: reportTo, baseline } = order;
  await readCountPage(s3, caller, bucket, { prefix, maxKeys: 1 });
  const comparison = await comparisonOf(s3, caller, bucket, order);
  const earlier = baseline === null ? null : await copiedBaseline(tasks, caller, bucket, baseline);
  const request = { prefix, rate, full, etags, allVersions, reportTo, baseline, schedule };
  return await tasks.create(FIXITY, {
    id,
    caller,
    bucket,
    progress: newFixity({ request, comparison, baseline: earlier && earlier.rows, startedAt: Date.now() }),
    blobs: earlier?.blobs,
  });
}

/** Copies the rows of an earlier check, which the new one may outlive. @throws HttpError 422 */
async function copiedBaseline(tasks: TaskRunner, caller: Caller, bucket: string, id: string) {
  const { task, progress } = await tasks.find(FIXITY, bucket, id, caller).catch((error) => {
    throw error instanceof HttpError && error.status === 404 ? codedError(422, "baseline_not_found") : error;
  });
  if (task.state === "running") throw codedError(422, "baseline_running");
  if (!hasAllRows(progress)) throw codedError(422, "baseline_incomplete");
  const { rows } = progress;
  const blobs = await copiedRows(rows, (names) => tasks.store.readBlobs(id, names));
  if (blobs === null) throw codedError(422, "baseline_gone");
  return { rows, blobs };
}

async function comparisonOf(
  s3: S3,
  caller: Caller,
  bucket: string,
  { prefix, manifest, manifest_bucket, manifest_root, bag }: FixityOrder,
): Promise<ManifestComparison | null> {
  if (bag) {
    const { manifests, oxum, problems } = await findBag({ s3, caller }, bucket, prefix);
    return {
      manifests,
      scope: `${prefix}data/`,
      figures: manifests.map(() => null),
      bag: {
        oxum,
        problems: problems.map(({ text }) => text),
        codes: problems.map(({ coded }) => coded),
        bytes: 0,
        files: 0,
      },
    };
  }
  if (manifest === null) return null;
  const named = { bucket: manifest_bucket ?? bucket, key: manifest, root: manifest_root };
  const found = await namedManifest({ s3, caller }, named);
  // A tag manifest need not name all files.
  const scope = found.form === "tags" ? null : found.form === "bagit" ? `${found.root}data/` : found.root;
  return { manifests: [found], scope, figures: [null], bag: null };
}
