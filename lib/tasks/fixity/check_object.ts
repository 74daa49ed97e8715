import { HttpError } from "@/lib/http/errors.ts";
import { headBucket } from "@/lib/s3/buckets.ts";
import { listObjects, listVersions, MAX_KEYS } from "@/lib/s3/listing.ts";
import { headObject, type VersionRef } from "@/lib/s3/objects.ts";
import { proveCredentials } from "@/lib/s3/probes.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import type { Digest } from "@/lib/std/digest.ts";
import { startDigest } from "@/lib/std/digests.ts";
import { problemOf } from "@/lib/tasks/zip/entry_read.ts";
import { type Claim, ownClaims, startPartsDigest } from "./claims.ts";
import { type PartSizes, partSizes } from "./part_sizes.ts";
import { type OpenedObject, type ReadBytes, readObject, type ReadSource, WrongLength } from "./read_object.ts";
import type { ReportRow } from "./report_row.ts";

/** An object that was listed. */
export interface Entry {
  readonly key: string;
  /** Of a listing of versions. */
  readonly versionId: string | null;
  /** As listed; null where it was not. */
  readonly etag: string | null;
}

/** So often an object is read that is overwritten meanwhile. */
const MAX_READS = 5;

/**
 * Reads an object and compares its bytes. One that differs is read again before that is reported, and so is one that is
 * overwritten meanwhile.
 *
 * @throws HttpError where the store refuses the credentials or does not work, the reason of the signal
 */
export async function checkObject(source: ReadSource, bucket: string, entry: Entry): Promise<ReportRow> {
  const check = new Check(source, bucket, entry);
  try {
    return await check.run();
  } catch (error) {
    return await check.unread(error);
  }
}

/** Digests of one reading. */
interface Comparison {
  readonly claim: Claim | null;
  /** Any of them may be the claim's: none where nothing is known that the bytes could be compared with. */
  readonly digests: readonly Digest[];
  readonly isGuessed: boolean;
  readonly sha256: Digest;
}

class Check {
  readonly #source: ReadSource;
  readonly #bucket: string;
  readonly #entry: Entry;
  readonly #ref: VersionRef;

  constructor(source: ReadSource, bucket: string, entry: Entry) {
    this.#source = source;
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
        if (row.result !== "changed" || hasDiffered) return row;
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
        return this.#row("unreadable", { detail: "The login may not read it" });
      case "changed":
        return this.#row("unreadable", { detail: "It was overwritten each time it was read" });
      case "retry":
        // The store may be away, or fail with this object alone.
        await read(() => headBucket(s3, caller, this.#bucket));
    }
    return this.#row("unreadable", { detail: detailOf(error) });
  }

  async #read(etag: string | null, isExact: boolean): Promise<ReportRow> {
    const parted = await this.#parted(etag, isExact);
    let comparison: Comparison | null = null;
    const opened = await readObject(this.#source, this.#ref, parted?.etag ?? etag, (opened) => {
      const begun = compare(this.#claimOf(opened, parted), parted);
      comparison = begun;
      return (chunk) => {
        for (const digest of new Set([begun.sha256, ...begun.digests])) digest.update(chunk);
      };
    });
    return this.#compared(opened, comparison as Comparison | null);
  }

  /** What the digest of an object in parts needs beforehand; null for others. */
  async #parted(etag: string | null, isExact: boolean): Promise<Parted | null> {
    if (etag !== null && !/-[0-9]{1,5}"?$/.test(etag)) return null;
    const { s3, caller, read } = this.#source;
    const response = await read(() => headObject(s3, caller, this.#ref, { headers: CHECKSUM_MODE }));
    const size = announcedLength(response);
    const claim = ownClaims(response.headers)[0] ?? null;
    if (claim === null || claim.parts === null || size === null) return null;
    const object = { ...this.#ref, size, parts: claim.parts };
    return {
      claim,
      etag: response.headers.get("etag"),
      sizes: await read(() => partSizes(s3, caller, object, isExact)),
    };
  }

  #claimOf({ headers }: OpenedObject, parted: Parted | null): Claim | null {
    if (parted) return parted.claim;
    return ownClaims(headers).find(({ parts }) => parts === null) ?? null;
  }

  #compared({ etag, size }: ReadBytes, comparison: Comparison | null): ReportRow {
    if (!comparison) throw new WrongLength("no body came");
    const { claim, digests, isGuessed } = comparison;
    const sha256 = comparison.sha256.hex();
    const known = { etag: etag ?? undefined, size, sha256 };
    if (!claim || digests.length === 0) return this.#row("unproven", known);
    const found = digests.map((digest) => digest === comparison.sha256 ? sha256 : digest.hex());
    const isEqual = found.includes(claim.expected);
    if (!isEqual && isGuessed) return this.#row("unproven", { ...known, detail: "The store does not say its parts" });
    return this.#row(isEqual ? "intact" : "changed", {
      ...known,
      proved_by: claim.proof,
      algorithm: claim.algorithm,
      expected: claim.expected,
      actual: isEqual ? claim.expected : found[0],
    });
  }

  /** An object that was deleted since it was listed, or one that is lost. */
  async #gone(): Promise<ReportRow> {
    if (await this.#source.read(() => this.#isStillListed())) {
      return this.#row("unreadable", { detail: "The store lists it and does not find it" });
    }
    return this.#row("deleted", {});
  }

  async #isStillListed(): Promise<boolean> {
    const { s3, caller } = this.#source;
    const { key, versionId } = this.#entry;
    if (versionId === null) {
      const { objects } = await listObjects(s3, caller, this.#bucket, { prefix: key, maxKeys: 1 });
      return objects.some(({ Key }) => Key === key);
    }
    const { versions } = await listVersions(s3, caller, this.#bucket, { prefix: key, maxKeys: MAX_KEYS });
    return versions.some(({ Key, VersionId }) => Key === key && VersionId === versionId);
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

interface Parted {
  readonly claim: Claim;
  readonly etag: string | null;
  readonly sizes: PartSizes;
}

const CHECKSUM_MODE = { "x-amz-checksum-mode": "ENABLED" } as const;

function compare(claim: Claim | null, parted: Parted | null): Comparison {
  const sha256 = startDigest("sha256");
  if (!claim) return { claim, digests: [], isGuessed: false, sha256 };
  if (parted && claim.parts !== null) {
    const { layouts, isGuessed } = parted.sizes;
    return { claim, digests: layouts.map((sizes) => startPartsDigest(claim.algorithm, sizes)), isGuessed, sha256 };
  }
  // One digest for both where they are the same.
  const digests = claim.algorithm === "sha256" ? [sha256] : [startDigest(claim.algorithm)];
  return { claim, digests, isGuessed: false, sha256 };
}

function detailOf(error: unknown): string {
  if (error instanceof WrongLength) return "The store sends another number of bytes than it says";
  return error instanceof HttpError ? error.message : "Its bytes break off each time it is read";
}
