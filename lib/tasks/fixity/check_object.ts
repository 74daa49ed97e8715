import { HttpError } from "@/lib/http/errors.ts";
import { headBucket } from "@/lib/s3/buckets.ts";
import { listObjects, listVersions, MAX_KEYS } from "@/lib/s3/listing.ts";
import { headObject, type VersionRef } from "@/lib/s3/objects.ts";
import { proveCredentials } from "@/lib/s3/probes.ts";
import type { ProblemCode } from "@/lib/std/coded.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import type { Digest } from "@/lib/std/digest.ts";
import { type DigestAlgorithm, startDigest } from "@/lib/std/digests.ts";
import { problemOf } from "@/lib/tasks/zip/entry_read.ts";
import type { EtagJudge } from "./etag_judge.ts";
import { type Entry, type ExpectedDigest, storedDigests } from "./expected.ts";
import { type PartSizes, partSizes, startPartsDigest } from "./part_sizes.ts";
import {
  askAgain,
  type OpenedObject,
  type ReadBytes,
  readObject,
  type ReadSource,
  WrongLength,
} from "./read_object.ts";
import type { ReportRow } from "./report_rows.ts";

/** So often an object is read that is overwritten meanwhile. */
const MAX_READS = 5;
/** Pages of newer versions, of a thousand each, that are looked through for one that cannot be found. */
const MAX_VERSION_PAGES = 100;

interface CheckedEntry extends Entry {
  /** Whether a manifest should name it and does not. */
  readonly isUnnamed: boolean;
}

/**
 * Reads an object and compares its bytes. One that differs is read again before that is reported, and so is one that is
 * overwritten meanwhile.
 *
 * @throws HttpError where the store refuses the credentials or does not work, the reason of the signal
 */
export async function checkObject(
  source: ReadSource,
  bucket: string,
  entry: CheckedEntry,
  etags: EtagJudge,
): Promise<ReportRow> {
  const check = new Check(source, bucket, entry, etags);
  try {
    return await check.run();
  } catch (error) {
    return await check.unread(error);
  }
}

/** Digests of one reading. */
interface Comparison {
  readonly expectations: readonly ExpectedDigest[];
  readonly stored: ExpectedDigest | null;
  /** Any of them may be that of `stored`: none where nothing is known that the bytes could be compared with. */
  readonly ofStored: readonly Digest[];
  readonly isGuessed: boolean;
  /** Of all bytes. */
  readonly digests: ReadonlyMap<DigestAlgorithm, Digest>;
}

/** What came of the comparison with the stored digest. */
type OwnResult = "equal" | "differs" | "unknown";

class Check {
  readonly #source: ReadSource;
  readonly #bucket: string;
  readonly #entry: CheckedEntry;
  readonly #ref: VersionRef;
  readonly #etags: EtagJudge;

  constructor(source: ReadSource, bucket: string, entry: CheckedEntry, etags: EtagJudge) {
    this.#source = source;
    this.#etags = etags;
    this.#bucket = bucket;
    this.#entry = entry;
    this.#ref = { bucket, key: entry.key, ...entry.versionId === null ? {} : { versionId: entry.versionId } };
  }

  async run(): Promise<ReportRow> {
    let etag = this.#entry.etag;
    let hasDiffered = false;
    for (let reads = 1;; reads++) {
      try {
        const row = await this.#read(etag, hasDiffered);
        if (row.result !== "changed") return row;
        if (hasDiffered) return await this.#judged(row);
        hasDiffered = true;
      } catch (error) {
        const isReplaced = error instanceof HttpError && error.status === 412;
        if (!isReplaced || reads >= MAX_READS) throw error;
        etag = null;
        hasDiffered = false;
      }
    }
  }

  /** What is reported of an object that could not be read. @throws what all objects suffer from */
  async unread(error: unknown): Promise<ReportRow> {
    const { s3, caller, read } = this.#source;
    caller.signal.throwIfAborted();
    const problem = problemOf(error);
    switch (problem) {
      case "fatal":
        throw error;
      case "gone":
        return await this.#gone();
      case "denied":
        // A response to HEAD does not say whether the object is denied or the credentials are wrong.
        await read(() => proveCredentials(s3, caller));
        return this.#row("unreadable", ROW_TEXTS.object_forbidden);
      case "changed":
        return this.#row("unreadable", ROW_TEXTS.object_overwritten);
      case "retry":
        // The store may be away, or fail with this object alone.
        await read(() => headBucket(s3, caller, this.#bucket));
    }
    return this.#row("unreadable", detailOf(error));
  }

  async #read(etag: string | null, isExact: boolean): Promise<ReportRow> {
    const parted = await this.#parted(etag, isExact);
    let comparison: Comparison | null = null;
    const opened = await readObject(this.#source, this.#ref, parted?.etag ?? etag, (opened) => {
      const begun = compare(this.#expectationsOf(opened), this.#storedOf(opened, parted), parted);
      comparison = begun;
      const digests = new Set([...begun.digests.values(), ...begun.ofStored]);
      return (chunk) => {
        for (const digest of digests) digest.update(chunk);
      };
    });
    return this.#compared(opened, comparison as Comparison | null);
  }

  /** Those that hold for the object as it is: an earlier check says nothing of one that was overwritten since. */
  #expectationsOf({ etag }: OpenedObject): ExpectedDigest[] {
    return this.#entry.expectations.filter((expectation) => expectation.etag === null || expectation.etag === etag);
  }

  /** What the digest of an object in parts needs beforehand; null for others. */
  async #parted(etag: string | null, isExact: boolean): Promise<Parted | null> {
    if (etag !== null && !/-[0-9]{1,5}"?$/.test(etag)) return null;
    const { s3, caller, read } = this.#source;
    const head = () => headObject(s3, caller, this.#ref, { headers: CHECKSUM_MODE });
    const response = await askAgain(this.#source, () => read(head));
    const size = announcedLength(response);
    const stored = this.#stored(response.headers)[0] ?? null;
    if (stored === null || stored.parts === null || size === null) return null;
    const object = { ...this.#ref, size, parts: stored.parts };
    return {
      stored,
      etag: response.headers.get("etag"),
      sizes: await askAgain(this.#source, () => read(() => partSizes(s3, caller, object, isExact))),
    };
  }

  #storedOf({ headers }: OpenedObject, parted: Parted | null): ExpectedDigest | null {
    if (parted) return parted.stored;
    return this.#stored(headers).find(({ parts }) => parts === null) ?? null;
  }

  #stored(headers: Headers): ExpectedDigest[] {
    const found = storedDigests(headers);
    return this.#etags.isIgnored ? found.filter(({ proof }) => !isOfEtag(proof)) : found;
  }

  #compared({ etag, size }: ReadBytes, comparison: Comparison | null): ReportRow {
    if (!comparison) throw new WrongLength("no body came");
    const { expectations, stored } = comparison;
    const hex = new Map([...comparison.digests].map(([algorithm, digest]) => [algorithm, digest.hex()]));
    // A digest says its value once.
    const ofStored = stored && stored.parts === null && comparison.ofStored.length > 0
      ? [hex.get(stored.algorithm) ?? ""]
      : comparison.ofStored.map((digest) => digest.hex());
    const own = ownResult(stored, ofStored, comparison.isGuessed);
    if (stored && isOfEtag(stored.proof)) this.#etags.saw(own === "equal");
    const known = { etag: etag ?? undefined, size, sha256: hex.get("sha256") };
    const actual = ({ algorithm }: ExpectedDigest) => hex.get(algorithm);
    const differing = expectations.find((one) => actual(one) !== one.expected);
    const compared = differing ?? expectations[0];
    if (compared) {
      const { proof, algorithm, expected } = compared;
      return this.#row(differing ? "changed" : "intact", {
        ...known,
        proved_by: proof,
        algorithm,
        expected,
        actual: actual(compared),
        ...differing && own === "equal" ? ROW_TEXTS.object_replaced : {},
      });
    }
    if (!stored || ofStored.length === 0) return this.#named(this.#row("unproven", known));
    if (own === "unknown") {
      return this.#named(this.#row("unproven", { ...known, ...ROW_TEXTS.object_parts_unknown }));
    }
    const isEqual = own === "equal";
    const row = this.#row(isEqual ? "intact" : "changed", {
      ...known,
      proved_by: stored.proof,
      algorithm: stored.algorithm,
      expected: stored.expected,
      actual: isEqual ? stored.expected : ofStored[0],
    });
    return isEqual ? this.#named(row) : row;
  }

  /** What a manifest does not name is not intact, whatever else proves its bytes. */
  #named(row: ReportRow): ReportRow {
    const isFolder = row.size === 0 && row.key.endsWith("/");
    return this.#entry.isUnnamed && !isFolder ? { ...row, result: "not_in_manifest" } : row;
  }

  /** An ETag that differs proves damage only where the ETags of the store are MD5s. */
  async #judged(row: ReportRow): Promise<ReportRow> {
    if (row.proved_by === undefined || !isOfEtag(row.proved_by)) return row;
    const verdict = await this.#etags.verdict(this.#entry.key);
    if (verdict === "md5") return row;
    if (verdict === null) return { ...row, ...ROW_TEXTS.object_etags_unknown };
    const { proved_by: _, actual: __, ...rest } = row;
    return this.#named({ ...rest, result: "unproven", ...ROW_TEXTS.object_etags_not_md5 });
  }

  /** An object that was deleted since it was listed, one that is lost, or one that never was there. */
  async #gone(): Promise<ReportRow> {
    const { expectations } = this.#entry;
    const isListed = await this.#source.read(() => this.#isStillListed());
    if (isListed === null) {
      return this.#row("unreadable", ROW_TEXTS.object_versions_too_many);
    }
    if (isListed) return this.#row("unreadable", ROW_TEXTS.object_listed_not_found);
    if (expectations.length === 0) return this.#row("deleted", {});
    return missingRow(this.#entry);
  }

  /** Null where that cannot be found out. */
  async #isStillListed(): Promise<boolean | null> {
    const { s3, caller } = this.#source;
    const { key, versionId } = this.#entry;
    if (versionId === null) {
      const { objects } = await listObjects(s3, caller, this.#bucket, { prefix: key, maxKeys: 1 });
      return objects.some(({ Key }) => Key === key);
    }
    let keyMarker: string | undefined;
    let versionIdMarker: string | undefined;
    for (let pages = 0; pages < MAX_VERSION_PAGES; pages++) {
      const options = { prefix: key, keyMarker, versionIdMarker, maxKeys: MAX_KEYS };
      const page = await listVersions(s3, caller, this.#bucket, options);
      if (page.versions.some(({ Key, VersionId }) => Key === key && (VersionId ?? "null") === versionId)) return true;
      // The key is the first of those that begin with it.
      if (!page.is_truncated || page.next_key_marker !== key) return false;
      const next = page.next_version_id_marker ?? undefined;
      if (next === undefined || next === versionIdMarker) return null;
      [keyMarker, versionIdMarker] = [key, next];
    }
    return null;
  }

  #row(result: ReportRow["result"], known: Partial<ReportRow>): ReportRow {
    const { key, versionId } = this.#entry;
    return {
      key,
      result,
      ...versionId === null ? {} : { version_id: versionId },
      ...Object.fromEntries(Object.entries(known).filter(([, value]) => value !== undefined)),
    };
  }
}

/** The row of an object that is expected and that the store does not have. */
export function missingRow({ key, versionId, expectations }: Entry): ReportRow {
  const [{ proof, algorithm, expected }] = expectations;
  const detail = proof === "manifest" ? ROW_TEXTS.object_in_manifest : ROW_TEXTS.object_in_baseline;
  const version = versionId === null ? {} : { version_id: versionId };
  return { key, result: "missing", ...version, algorithm, expected, ...detail };
}

interface Parted {
  readonly stored: ExpectedDigest;
  readonly etag: string | null;
  readonly sizes: PartSizes;
}

const CHECKSUM_MODE = { "x-amz-checksum-mode": "ENABLED" } as const;

/** Members of rows that say more about the result, by code. */
const ROW_TEXTS = {
  object_forbidden: row("object_forbidden", "The login may not read it"),
  object_overwritten: row("object_overwritten", "It was overwritten each time it was read"),
  object_parts_unknown: row("object_parts_unknown", "The store does not say its parts"),
  object_etags_unknown: row(
    "object_etags_unknown",
    "No other object shows whether the ETags of this store are MD5s",
  ),
  object_etags_not_md5: row("object_etags_not_md5", "The ETags of this store are no MD5s"),
  object_versions_too_many: row(
    "object_versions_too_many",
    "The store does not find it, and lists too many versions to look for it",
  ),
  object_listed_not_found: row("object_listed_not_found", "The store lists it and does not find it"),
  object_in_manifest: row("object_in_manifest", "The manifest names it"),
  object_in_baseline: row("object_in_baseline", "It was there at the earlier check"),
  object_replaced: row(
    "object_replaced",
    "Its bytes are as they were stored: it was overwritten since, or what it is compared with is of other bytes",
  ),
  object_wrong_length: row("object_wrong_length", "The store sends another number of bytes than it says"),
  object_broken_off: row("object_broken_off", "Its bytes break off each time it is read"),
};

function row(code: ProblemCode, detail: string): Pick<ReportRow, "detail" | "code"> {
  return { detail, code };
}

function compare(
  expectations: readonly ExpectedDigest[],
  stored: ExpectedDigest | null,
  parted: Parted | null,
): Comparison {
  const digests = new Map<DigestAlgorithm, Digest>();
  const ofAll = (algorithm: DigestAlgorithm) => {
    const digest = digests.get(algorithm) ?? startDigest(algorithm);
    digests.set(algorithm, digest);
    return digest;
  };
  ofAll("sha256");
  for (const { algorithm } of expectations) ofAll(algorithm);
  if (!stored) return { expectations, stored, ofStored: [], isGuessed: false, digests };
  if (parted && stored.parts !== null) {
    const { layouts, isGuessed } = parted.sizes;
    const ofStored = layouts.map((sizes) => startPartsDigest(stored.algorithm, sizes));
    return { expectations, stored, ofStored, isGuessed, digests };
  }
  // One digest for both where they are the same.
  return { expectations, stored, ofStored: [ofAll(stored.algorithm)], isGuessed: false, digests };
}

function ownResult(stored: ExpectedDigest | null, found: readonly string[], isGuessed: boolean): OwnResult {
  if (!stored || found.length === 0) return "unknown";
  if (found.includes(stored.expected)) return "equal";
  return isGuessed ? "unknown" : "differs";
}

function isOfEtag(proof: string): boolean {
  return proof === "etag" || proof === "etag_of_parts";
}

function detailOf(error: unknown): Pick<ReportRow, "detail" | "code" | "params"> {
  if (error instanceof WrongLength) return ROW_TEXTS.object_wrong_length;
  return error instanceof HttpError ? { detail: error.message, ...error.coded } : ROW_TEXTS.object_broken_off;
}
