import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError, unprocessable } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { readCountPage } from "@/lib/s3/count_page.ts";
import { copyBaseline } from "./baseline.ts";
import { FIXITY, type ManifestComparison, newFixity } from "./fixity.ts";
import { type FixityOrder, mustFitTogether } from "./order.ts";
import type { TaskRunner } from "@/lib/tasks/task_runner.ts";
import { findBag, namedManifest } from "./find_manifests.ts";

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
 * @throws HttpError 422 for what cannot be asked for together, and for a manifest or bag that is not there; as
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
  const { prefix, rate, full, etags, write, overwrite } = order;
  await readCountPage(s3, caller, bucket, { prefix, delimiter: "", token: null, after: null, maxKeys: 1 });
  const comparison = await comparisonOf(s3, caller, bucket, order);
  const baseline = order.baseline === null ? null : await baselineOf(tasks, caller, bucket, order.baseline);
  const request = {
    prefix,
    rate,
    full,
    etags,
    write,
    overwrite,
    schedule,
    allVersions: order.all_versions,
    reportTo: order.report_to,
    baseline: order.baseline,
  };
  return await tasks.create(FIXITY, {
    id,
    caller,
    bucket,
    progress: newFixity({ request, comparison, baseline: baseline && baseline.rows, startedAt: Date.now() }),
    blobs: baseline?.blobs,
  });
}

async function baselineOf(tasks: TaskRunner, caller: Caller, bucket: string, id: string) {
  try {
    const { task, progress } = await tasks.find(FIXITY, bucket, id, caller);
    return await copyBaseline(task, progress, (names) => tasks.store.readBlobs(id, names));
  } catch (error) {
    if (!(error instanceof HttpError) || error.status !== 404) throw error;
    throw unprocessable("baseline: there is no such check of this login in this bucket", {
      code: "baseline_not_found",
    });
  }
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
      manifests: [...manifests],
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
