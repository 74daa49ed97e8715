import { listObjects, MAX_KEYS } from "@/lib/s3/listing.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { startDigest } from "@/lib/std/digests.ts";
import { problemOf } from "@/lib/tasks/zip/entry_read.ts";
import { storedDigests } from "./expected.ts";
import { readObject, type ReadSource } from "./read_object.ts";

/** What the ETags of a store are; null where that is not known. */
type EtagMeaning = "md5" | "other" | null;

/** Objects that are read to find out, and the largest of them, bytes. */
const MAX_PROBES = 8;
const MAX_PROBE_BYTES = 16 * 1024 * 1024;
/** So many objects besides one whose ETag differs must differ too before ETags are taken for something else. */
const MIN_DIFFERING = 2;

interface EtagJudgeOptions {
  readonly source: ReadSource;
  readonly bucket: string;
  /** What an earlier run of the check found. */
  readonly known: EtagMeaning;
  readonly isIgnored: boolean;
}

/**
 * Finds out whether the ETags of a store are MD5s. Some stores encrypt or number their objects, and give ETags that look
 * the same: those differ from the bytes of every object. One ETag that is the MD5 of its object shows that they are MD5s.
 */
export class EtagJudge {
  readonly isIgnored: boolean;
  readonly #source: ReadSource;
  readonly #bucket: string;
  #meaning: EtagMeaning;
  #probe: Promise<void> | null = null;

  constructor({ source, bucket, known, isIgnored }: EtagJudgeOptions) {
    this.#source = source;
    this.#bucket = bucket;
    this.#meaning = known;
    this.isIgnored = isIgnored;
  }

  get meaning(): EtagMeaning {
    return this.#meaning;
  }

  /** Notes an ETag that was compared. */
  saw(isEqual: boolean): void {
    if (isEqual) this.#meaning = "md5";
  }

  /**
   * What the ETags are, for an object whose ETag differs. Others of the bucket are read where that is not known yet.
   *
   * @throws as `readObject`, where the store does not work
   */
  async verdict(key: string): Promise<EtagMeaning> {
    if (this.#meaning === null) await (this.#probe ??= this.#look(key));
    return this.#meaning;
  }

  async #look(key: string): Promise<void> {
    const { s3, caller, read } = this.#source;
    const { objects } = await read(() => listObjects(s3, caller, this.#bucket, { maxKeys: MAX_KEYS }));
    const probes = objects
      .filter(({ Key, Size, ETag }) => Key !== key && Size > 0 && Size <= MAX_PROBE_BYTES && PLAIN.test(ETag ?? ""))
      .sort((a, b) => a.Size - b.Size).slice(0, MAX_PROBES);
    let differing = 0;
    for (const { Key } of probes) {
      const isEqual = await this.#isMd5(Key);
      if (isEqual) this.#meaning = "md5";
      if (this.#meaning !== null) return;
      if (isEqual === false) differing++;
    }
    if (differing >= MIN_DIFFERING) this.#meaning = "other";
  }

  /** Whether the ETag of an object is its MD5; null where it cannot be read, or says that it is none. */
  async #isMd5(key: string): Promise<boolean | null> {
    const digest = startDigest("md5");
    let expected: string | null = null;
    let isRestarted = false;
    try {
      await readObject(this.#source, { bucket: this.#bucket, key }, null, ({ headers }) => {
        isRestarted = expected !== null;
        expected = storedDigests(headers).find(({ proof }) => proof === "etag")?.expected ?? null;
        return (chunk) => digest.update(chunk);
      });
    } catch (error) {
      this.#source.caller.signal.throwIfAborted();
      if (error instanceof HttpError && problemOf(error) === "fatal") throw error;
      return null;
    }
    return expected === null || isRestarted ? null : digest.hex() === expected;
  }
}

const PLAIN = /^"?[0-9a-f]{32}"?$/i;
