import { percentDecoded } from "@/lib/std/percent_decoded.ts";
import type { FixityCheck } from "./fixity_check.ts";
import type { DoorParameters } from "./storage_paths.ts";

/** What the form of a new check holds, as typed. */
export interface FixityFields {
  readonly bucket: string;
  readonly prefix: string;
  /** The key of a manifest, its bucket, and what its paths begin with. */
  readonly manifest: string;
  readonly manifestBucket: string;
  readonly manifestRoot: string;
  /** Whether the keys are those of a bag (BagIt, RFC 8493), which has manifests. */
  readonly isBag: boolean;
  /** The id of an earlier check. */
  readonly baseline: string;
  readonly ignoresEtags: boolean;
  /** `manifest`, `bag`, or "" for nothing. */
  readonly write: string;
  readonly overwrite: boolean;
  readonly reportTo: string;
  /** MB per second. */
  readonly rate: string;
  readonly allVersions: boolean;
  readonly full: boolean;
}
export type FixityField = keyof FixityFields;

/** What fields are called in the form, and in the body of the operation that starts a check. */
export const FIELD_NAMES = {
  bucket: "bucket",
  prefix: "prefix",
  manifest: "manifest",
  manifestBucket: "manifest_bucket",
  manifestRoot: "manifest_root",
  isBag: "bag",
  baseline: "baseline",
  ignoresEtags: "etags",
  write: "write",
  overwrite: "overwrite",
  reportTo: "report_to",
  rate: "rate",
  allVersions: "all_versions",
  full: "full",
} as const satisfies Readonly<Record<FixityField, string>>;

/** The paths of a manifest begin at the start of the bucket: an empty field says that they begin at its folder. */
const BUCKET_START = "/";

/** The unit of the field of a rate, bytes per second. */
export const BYTES_PER_MB = 1_000_000;
/** The lowest rate that the form takes, MB per second. Requests may ask for a third less. */
export const LEAST_RATE = 0.1;

/** What a form or an address holds by name. */
interface Values {
  get(name: string): string | null | undefined;
  has(name: string): boolean;
}

/** Reads the fields of a form. A key with line breaks is sent escaped, under the name {@link exactName}. */
export function fixityFieldsOf(values: Values): FixityFields {
  const text = (field: FixityField) => values.get(FIELD_NAMES[field]) ?? "";
  const isSet = (field: FixityField) => values.has(FIELD_NAMES[field]);
  const key = (field: FixityField) => {
    const exact = values.get(exactName(field));
    return exact == null ? text(field) : percentDecoded(exact) ?? exact;
  };
  return {
    bucket: text("bucket"),
    prefix: key("prefix"),
    manifest: key("manifest"),
    manifestBucket: text("manifestBucket"),
    manifestRoot: key("manifestRoot"),
    isBag: isSet("isBag"),
    baseline: text("baseline"),
    ignoresEtags: isSet("ignoresEtags"),
    write: text("write"),
    overwrite: isSet("overwrite"),
    reportTo: key("reportTo"),
    rate: text("rate"),
    allVersions: isSet("allVersions"),
    full: isSet("full"),
  };
}

/** Reads the fields that a link fills in: those that write something are not among them. */
export function linkedFieldsOf(query: URLSearchParams): FixityFields {
  return { ...fixityFieldsOf(query), write: "", overwrite: false, reportTo: "" };
}

/** What a link fills in that asks for the same check again, by the names of the fields. */
export function choicesOf(
  { manifest, bag, bucket, baseline, allVersions, isFull, ignoresEtags, rateLimit }: FixityCheck,
): DoorParameters {
  const set = (isSet: boolean) => isSet ? "1" : undefined;
  const [key] = bag === null ? manifest?.keys ?? [] : [];
  return {
    ...manifest && key !== undefined
      ? {
        [FIELD_NAMES.manifest]: key,
        [FIELD_NAMES.manifestBucket]: manifest.bucket === bucket ? undefined : manifest.bucket,
        [FIELD_NAMES.manifestRoot]: rootField(manifest.root, key),
      }
      : {},
    [FIELD_NAMES.isBag]: set(bag !== null),
    [FIELD_NAMES.baseline]: baseline ?? undefined,
    [FIELD_NAMES.ignoresEtags]: set(ignoresEtags),
    [FIELD_NAMES.rate]: rateLimit === null ? undefined : Math.max(LEAST_RATE, rateLimit / BYTES_PER_MB),
    [FIELD_NAMES.allVersions]: set(allVersions),
    [FIELD_NAMES.full]: set(isFull),
  };
}

/** The field of the start of a manifest's paths. */
function rootField(root: string, key: string): string | undefined {
  if (root === key.slice(0, key.lastIndexOf("/") + 1)) return undefined;
  return root === "" ? BUCKET_START : root;
}

/** The name under which a field is sent whose text has line breaks, which a form would change. */
export function exactName(field: FixityField): string {
  return `exact_${FIELD_NAMES[field]}`;
}

/** Whether a check is more than one of the stored checksums below a prefix. */
export function hasChoices({ bucket: _, prefix: __, ...choices }: FixityFields): boolean {
  return Object.values(choices).some((value) => value !== "" && value !== false);
}

/** The body of the operation that starts a check. @param rate bytes per second; null: as the gateway allows */
export function fixityBody(fields: FixityFields, rate: number | null): Record<string, unknown> {
  const { prefix, manifest, manifestBucket, manifestRoot, isBag, baseline, ignoresEtags, write, overwrite } = fields;
  const { reportTo, allVersions, full } = fields;
  return {
    prefix,
    rate,
    all_versions: allVersions,
    full,
    ...manifest === "" ? {} : { manifest },
    ...manifestBucket === "" ? {} : { manifest_bucket: manifestBucket },
    ...manifestRoot === "" ? {} : { manifest_root: manifestRoot === BUCKET_START ? "" : manifestRoot },
    ...isBag ? { bag: true } : {},
    ...baseline === "" ? {} : { baseline },
    ...ignoresEtags ? { etags: "ignore" } : {},
    ...write === "" ? {} : { write },
    ...overwrite ? { overwrite } : {},
    ...reportTo === "" ? {} : { report_to: reportTo },
  };
}
