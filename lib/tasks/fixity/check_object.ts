import { HttpError } from "@/lib/http/errors.ts";
import { headBucket } from "@/lib/s3/buckets.ts";
import { listObjects, listVersions, MAX_KEYS } from "@/lib/s3/listing.ts";
import { headObject, type VersionRef } from "@/lib/s3/objects.ts";
import { proveCredentials } from "@/lib/s3/probes.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import { codedSentence, type SentenceCode } from "@/lib/std/coded.ts";
import { startDigest } from "@/lib/std/digests.ts";
import { problemOf, retried } from "@/lib/tasks/zip/entry_read.ts";
import {
  type Entry,
  type ExpectedDigest,
  isOfEtag,
  type PartSizes,
  partSizes,
  startPartsDigest,
  storedDigests,
} from "./expected.ts";
import { readObject, type ReadSource, WrongLength } from "./object_digests.ts";
import type { ReportRow } from "./report.ts";

/** How often an object is read that is overwritten meanwhile. */
const MAX_READS = 5;
/** Pages of newer versions, of a thousand each, that are looked through for one that cannot be found. */
const MAX_VERSION_PAGES = 100;
const CHECKSUM_MODE = { "x-amz-checksum-mode": "ENABLED" } as const;

interface CheckedEntry extends Entry {
  /** Whether a manifest should name it and does not. */
  readonly isUnnamed: boolean;
}

/** The digest of an object in parts by itself, with what is needed to compute it. */
interface Parted extends PartSizes {
  readonly stored: ExpectedDigest;
  readonly etag: string | null;
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

class Check {
  readonly #ref: VersionRef;

  constructor(
    readonly source: ReadSource,
    readonly bucket: string,
    readonly entry: CheckedEntry,
    readonly etags: EtagJudge,
  ) {
    this.#ref = { bucket, key: entry.key, versionId: entry.versionId ?? undefined };
  }

  async run(): Promise<ReportRow> {
    let { etag } = this.entry;
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

  /** The row of an object that could not be read. @throws what all objects suffer from */
  async unread(error: unknown): Promise<ReportRow> {
    const { s3, caller, read } = this.source;
    caller.signal.throwIfAborted();
    switch (problemOf(error)) {
      case "fatal":
        throw error;
      case "gone":
        return await this.#gone();
      case "denied":
        // A response to HEAD does not say whether the object is denied or the credentials are wrong.
        await read(() => proveCredentials(s3, caller));
        return this.#row("unreadable", said("object_forbidden"));
      case "changed":
        return this.#row("unreadable", said("object_overwritten"));
      case "retry":
        // The store may be away, or fail with this object alone.
        await read(() => headBucket(s3, caller, this.bucket));
    }
    if (error instanceof HttpError) return this.#row("unreadable", { detail: error.message, ...error.coded });
    return this.#row("unreadable", said(error instanceof WrongLength ? "object_wrong_length" : "object_broken_off"));
  }

  /** Reads the object once. @param isExact as that of {@link partSizes} */
  async #read(etag: string | null, isExact: boolean): Promise<ReportRow> {
    const parted = await this.#parted(etag, isExact);
    const { receiver, ...read } = await readObject(
      this.source,
      this.#ref,
      parted?.etag ?? etag,
      ({ headers, etag }) => {
        // An earlier check says nothing of an object that was overwritten since.
        const expectations = this.entry.expectations.filter((one) => one.etag === null || one.etag === etag);
        const stored = this.#stored(headers).find(({ parts }) => parts === null) ?? null;
        return comparison(expectations, stored, parted);
      },
    );
    return this.#compared({ etag: read.etag ?? undefined, size: read.size }, receiver);
  }

  /** Null for an object whose digest by itself is not of its parts. */
  async #parted(etag: string | null, isExact: boolean): Promise<Parted | null> {
    if (etag !== null && !/-[0-9]{1,5}"?$/.test(etag)) return null;
    const { s3, caller, read, retryMs } = this.source;
    const ask = <T>(work: () => Promise<T>) => retried({ retryMs, signal: caller.signal }, () => read(work));
    const response = await ask(() => headObject(s3, caller, this.#ref, CHECKSUM_MODE));
    const size = announcedLength(response);
    const stored = this.#stored(response.headers)[0] ?? null;
    if (stored === null || stored.parts === null || size === null) return null;
    const object = { ...this.#ref, size, parts: stored.parts };
    const sizes = await ask(() => partSizes(s3, caller, object, isExact));
    return { stored, etag: response.headers.get("etag"), ...sizes };
  }

  #stored(headers: Headers): ExpectedDigest[] {
    const found = storedDigests(headers);
    return this.etags.isIgnored ? found.filter(({ proof }) => !isOfEtag(proof)) : found;
  }

  #compared(bytes: Partial<ReportRow>, { expectations, stored, result }: Comparison): ReportRow {
    const { whole, ofStored, own } = result();
    if (stored && isOfEtag(stored.proof)) this.etags.saw(own === "equal");
    const known = { ...bytes, sha256: whole.get("sha256") };
    const differing = expectations.find(({ algorithm, expected }) => whole.get(algorithm) !== expected);
    const compared = differing ?? expectations[0];
    if (compared) {
      const { proof: proved_by, algorithm, expected } = compared;
      const detail = differing && own === "equal" ? said("object_replaced") : {};
      const values = { proved_by, algorithm, expected, actual: whole.get(algorithm) };
      return this.#row(differing ? "changed" : "intact", { ...known, ...values, ...detail });
    }
    if (!stored || ofStored.length === 0) return this.#named(this.#row("unproven", known));
    if (own === "unknown") return this.#named(this.#row("unproven", { ...known, ...said("object_parts_unknown") }));
    const { proof: proved_by, algorithm, expected } = stored;
    const isEqual = own === "equal";
    const values = { proved_by, algorithm, expected, actual: isEqual ? expected : ofStored[0] };
    const row = this.#row(isEqual ? "intact" : "changed", { ...known, ...values });
    return isEqual ? this.#named(row) : row;
  }

  /** An object that a manifest does not name is not intact, whatever else proves its bytes. */
  #named(row: ReportRow): ReportRow {
    const isFolder = row.size === 0 && row.key.endsWith("/");
    return this.entry.isUnnamed && !isFolder ? { ...row, result: "not_in_manifest" } : row;
  }

  /** An ETag that differs proves damage only where the ETags of the store are MD5s. */
  async #judged(row: ReportRow): Promise<ReportRow> {
    if (row.proved_by === undefined || !isOfEtag(row.proved_by)) return row;
    const verdict = await this.etags.verdict(this.entry.key);
    if (verdict === "md5") return row;
    if (verdict === null) return { ...row, ...said("object_etags_unknown") };
    const { proved_by: _, actual: __, ...rest } = row;
    return this.#named({ ...rest, result: "unproven", ...said("object_etags_not_md5") });
  }

  /** An object that was deleted since it was listed, one that is lost, or one that never was there. */
  async #gone(): Promise<ReportRow> {
    const isListed = await this.source.read(() => this.#isStillListed());
    if (isListed === null) return this.#row("unreadable", said("object_versions_too_many"));
    if (isListed) return this.#row("unreadable", said("object_listed_not_found"));
    return this.entry.expectations.length === 0 ? this.#row("deleted", {}) : missingRow(this.entry);
  }

  /** Null where that cannot be found out. */
  async #isStillListed(): Promise<boolean | null> {
    const { s3, caller } = this.source;
    const { key, versionId } = this.entry;
    if (versionId === null) {
      const { objects } = await listObjects(s3, caller, this.bucket, { prefix: key, maxKeys: 1 });
      return objects.some(({ Key }) => Key === key);
    }
    let keyMarker: string | undefined;
    let versionIdMarker: string | undefined;
    for (let pages = 0; pages < MAX_VERSION_PAGES; pages++) {
      const options = { prefix: key, keyMarker, versionIdMarker, maxKeys: MAX_KEYS };
      const page = await listVersions(s3, caller, this.bucket, options);
      if (page.versions.some(({ Key, VersionId }) => Key === key && (VersionId ?? "null") === versionId)) return true;
      // The key comes before all longer keys with this prefix.
      if (!page.is_truncated || page.next_key_marker !== key) return false;
      const next = page.next_version_id_marker ?? undefined;
      if (next === undefined || next === versionIdMarker) return null;
      [keyMarker, versionIdMarker] = [key, next];
    }
    return null;
  }

  #row(result: ReportRow["result"], known: Partial<ReportRow>): ReportRow {
    const { key, versionId } = this.entry;
    return { key, version_id: versionId ?? undefined, result, ...known };
  }
}

type Comparison = ReturnType<typeof comparison>;

/** Compares the bytes of one reading. */
function comparison(
  expectations: readonly ExpectedDigest[],
  ofWhole: ExpectedDigest | null,
  parted: Parted | null,
) {
  const stored = parted?.stored ?? ofWhole;
  const algorithms = [...expectations, ...!parted && ofWhole ? [ofWhole] : []].map(({ algorithm }) => algorithm);
  const digests = new Map([...new Set(["sha256" as const, ...algorithms])].map((one) => [one, startDigest(one)]));
  /** One for each layout of parts; any of them may be the stored digest. */
  const inParts = parted ? parted.layouts.map((sizes) => startPartsDigest(parted.stored.algorithm, sizes)) : [];
  return {
    expectations,
    stored,
    update(chunk: Uint8Array) {
      for (const digest of [...digests.values(), ...inParts]) digest.update(chunk);
    },
    /** The digests of all bytes, and the outcome for the stored one, which `ofStored` may be. Called once, at the end. */
    result() {
      const whole = new Map([...digests].map(([algorithm, digest]) => [algorithm, digest.hex()]));
      const ofStored = stored?.parts === null ? [whole.get(stored.algorithm)] : inParts.map((digest) => digest.hex());
      const isEqual = stored !== null && ofStored.includes(stored.expected);
      const isUnknown = ofStored.length === 0 || parted?.isGuessed === true;
      const own = isEqual ? "equal" as const : isUnknown ? "unknown" as const : "differs" as const;
      return { whole, ofStored, own };
    },
  };
}

/** The row of an object that is expected and that the store does not have. */
export function missingRow({ key, versionId, expectations }: Entry): ReportRow {
  const [{ proof, algorithm, expected }] = expectations;
  const detail = said(proof === "manifest" ? "object_in_manifest" : "object_in_baseline");
  return { key, version_id: versionId ?? undefined, result: "missing", algorithm, expected, ...detail };
}

/** The sentence that says more about a result. */
function said(code: Extract<SentenceCode, `object_${string}`>): Pick<ReportRow, "detail" | "code"> {
  return { detail: codedSentence(code).text, code };
}

/** The meaning of a store's ETags; null where that is not known. */
type EtagMeaning = "md5" | "other" | null;

/** Objects that are read to find out, and the largest of them, bytes. */
const MAX_PROBES = 8;
const MAX_PROBE_BYTES = 16 * 1024 * 1024;
/** Besides one whose ETag differs, so many objects must differ too before ETags are taken for something else. */
const MIN_DIFFERING = 2;
const PLAIN_ETAG = /^"?[0-9a-f]{32}"?$/i;

/**
 * Finds out whether the ETags of a store are MD5s. Some stores encrypt or number their objects, and give ETags that look
 * the same: those differ from the bytes of every object. One ETag that is the MD5 of its object shows that they are MD5s.
 */
export class EtagJudge {
  #probe: Promise<void> | null = null;

  /** @param meaning what an earlier run of the check found */
  constructor(
    readonly source: ReadSource,
    readonly bucket: string,
    public meaning: EtagMeaning,
    readonly isIgnored: boolean,
  ) {}

  /** Notes an ETag that was compared. */
  saw(isEqual: boolean): void {
    if (isEqual) this.meaning = "md5";
  }

  /**
   * The meaning of the ETags, for an object whose ETag differs. Others of the bucket are read where it is not known yet.
   *
   * @throws as `readObject`, where the store does not work
   */
  async verdict(key: string): Promise<EtagMeaning> {
    if (this.meaning === null) await (this.#probe ??= this.#look(key));
    return this.meaning;
  }

  async #look(key: string): Promise<void> {
    const { s3, caller, read } = this.source;
    const { objects } = await read(() => listObjects(s3, caller, this.bucket, { maxKeys: MAX_KEYS }));
    const probes = objects
      .filter(({ Key, Size, ETag }) =>
        Key !== key && Size > 0 && Size <= MAX_PROBE_BYTES && PLAIN_ETAG.test(ETag ?? "")
      )
      .sort((a, b) => a.Size - b.Size).slice(0, MAX_PROBES);
    let differing = 0;
    for (const { Key } of probes) {
      const isEqual = await this.#isMd5(Key);
      if (isEqual) this.meaning = "md5";
      if (this.meaning !== null) return;
      if (isEqual === false) differing++;
    }
    if (differing >= MIN_DIFFERING) this.meaning = "other";
  }

  /** Whether the ETag of an object is its MD5; null where it cannot be read, or says that it is none. */
  async #isMd5(key: string): Promise<boolean | null> {
    try {
      const { receiver } = await readObject(this.source, { bucket: this.bucket, key }, null, ({ headers }) => {
        const expected = storedDigests(headers).find(({ proof }) => proof === "etag")?.expected;
        return { ...startDigest("md5"), expected };
      });
      return receiver.expected === undefined ? null : receiver.hex() === receiver.expected;
    } catch (error) {
      this.source.caller.signal.throwIfAborted();
      if (error instanceof HttpError && problemOf(error) === "fatal") throw error;
      return null;
    }
  }
}
