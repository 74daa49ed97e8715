import { formatFull } from "@/lib/pages/moments.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { checkedObjects, checkedPlace, FIXITY_SENTENCES, type FixityCheck, isBaseline } from "./fixity_check.ts";
import type { ApiParameters } from "./storage_paths.ts";

/** The empty form of a new check. Its fields have the names of the members of a request. */
const NO_FIELDS = {
  bucket: "",
  prefix: "",
  manifest: "",
  manifest_bucket: "",
  manifest_root: "",
  bag: false,
  /** The id of an earlier check. */
  baseline: "",
  /** Whether ETags are ignored. */
  etags: false,
  report_to: "",
  /** MB per second. */
  rate: "",
  all_versions: false,
  full: false,
};

/** The form of a new check as typed. */
export type FixityFields = Readonly<typeof NO_FIELDS>;
export type FixityField = keyof FixityFields;
export const FIXITY_FIELDS = Object.keys(NO_FIELDS) as FixityField[];

/** In the field: paths of the manifest are relative to the bucket. Empty: to the manifest's folder. */
const BUCKET_START = "/";

/** The unit of the field of a rate, bytes per second. */
export const BYTES_PER_MB = 1_000_000;
/** The lowest rate that the form takes, MB per second. Requests may ask for a third less. */
export const LEAST_RATE = 0.1;

/** Values of a form or an address by name. */
interface Values {
  get(name: string): string | null | undefined;
  has(name: string): boolean;
}

/** Reads the fields of a form. A text with line breaks is sent escaped, under the name {@link exactName}. */
export function fixityFieldsOf(values: Values): FixityFields {
  const read = FIXITY_FIELDS.map((field) => {
    if (typeof NO_FIELDS[field] === "boolean") return [field, values.has(field)];
    const exact = values.get(exactName(field));
    return [field, exact == null ? values.get(field) ?? "" : percentDecoded(exact) ?? exact];
  });
  return Object.fromEntries(read);
}

/** Reads the fields that a link fills in: a report is not asked for by one. */
export function linkedFieldsOf(query: URLSearchParams): FixityFields {
  return { ...fixityFieldsOf(query), report_to: "" };
}

/** The fields that a link fills in to ask for the same check again. */
export function choicesOf(check: FixityCheck): ApiParameters {
  const { manifest, bag, bucket, baseline, rate_limit } = check;
  const set = (isSet: boolean) => isSet ? "1" : undefined;
  const [key] = bag === null ? manifest?.keys ?? [] : [];
  return {
    ...manifest && key !== undefined
      ? {
        manifest: key,
        manifest_bucket: manifest.bucket === null || manifest.bucket === bucket ? undefined : manifest.bucket,
        manifest_root: rootField(manifest.root, key),
      }
      : {},
    bag: set(bag !== null),
    baseline: baseline ?? undefined,
    etags: set(check.etags === "ignored"),
    rate: rate_limit === null ? undefined : Math.max(LEAST_RATE, rate_limit / BYTES_PER_MB),
    all_versions: set(check.all_versions),
    full: set(check.full),
  };
}

/** The field of the start of a manifest's paths. */
function rootField(root: string, key: string): string | undefined {
  if (root === key.slice(0, key.lastIndexOf("/") + 1)) return undefined;
  return root === "" ? BUCKET_START : root;
}

/** The name under which a field is sent whose text has line breaks, which a form would change. */
export function exactName(field: FixityField): string {
  return `exact_${field}`;
}

/** Whether a check is more than one of the stored checksums below a prefix. */
export function hasChoices({ bucket: _, prefix: __, ...choices }: FixityFields): boolean {
  return Object.values(choices).some(Boolean);
}

/** The body of the operation that starts a check. @param rate bytes per second; null: as the gateway allows */
export function fixityBody({ bucket: _, ...fields }: FixityFields, rate: number | null): Record<string, unknown> {
  const chosen = Object.entries({ ...fields, rate, etags: fields.etags && "ignore" }).filter(([, value]) => value);
  return { ...Object.fromEntries(chosen), ...fields.manifest_root === BUCKET_START ? { manifest_root: "" } : {} };
}

/** Checks to choose from. */
const MAX_BASELINES = 200;

/** An earlier check that a new one of its bucket can be compared with. Plain data, which crosses into the browser. */
export interface Baseline {
  readonly task: string;
  readonly bucket: string;
  readonly text: string;
}

/**
 * The checks to choose from. The chosen one is always among them, so that a message about it has its field.
 *
 * @param checks the newest first
 */
export function baselinesOf(checks: readonly FixityCheck[], { bucket, baseline }: FixityFields): Baseline[] {
  const choices = checks.filter(isBaseline).slice(0, MAX_BASELINES).map((check): Baseline => ({
    task: check.task_id,
    bucket: check.bucket,
    text: textOf(check),
  }));
  if (baseline === "" || choices.some((one) => one.task === baseline && one.bucket === bucket)) return choices;
  const known = checks.find(({ task_id }) => task_id === baseline);
  return [{ task: baseline, bucket, text: known ? textOf(known) : baseline }, ...choices];
}

function textOf(check: FixityCheck): string {
  return [
    // First, since a closed list may cut off the rest.
    formatFull(check.started_at, "UTC"),
    checkedPlace(check),
    FIXITY_SENTENCES.ofObjects(checkedObjects(check)),
  ].join(", ");
}
