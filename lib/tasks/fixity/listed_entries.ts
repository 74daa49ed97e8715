import type { Caller } from "@/lib/auth/store_credentials.ts";
import { HttpError, listingStuck } from "@/lib/http/errors.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { listObjects, listVersions, MAX_KEYS } from "@/lib/s3/listing.ts";
import { compareText } from "@/lib/std/text_order.ts";
import type { Entry } from "./expected.ts";
import type { Position } from "./fixity.ts";

interface ListingSource {
  readonly s3: S3;
  readonly caller: Caller;
  readonly bucket: string;
  readonly prefix: string;
  /** Where the listing begins; null: with the first key. */
  readonly after: Position | null;
  readonly allVersions: boolean;
  /** As `Job.read`. */
  readonly read: <T>(work: () => Promise<T>) => Promise<T>;
}

/**
 * The objects of a listing in the order of their keys, page by page; with all versions, those of a key as the store orders
 * them.
 *
 * @throws HttpError 501 where the store does not list in the order of keys or from a key on; as {@link listObjects}
 */
export async function* listedEntries(source: ListingSource): AsyncGenerator<Entry> {
  let last = source.after?.key ?? null;
  for await (const page of source.allVersions ? versionPages(source) : objectPages(source)) {
    for (const entry of page) {
      const order = last === null ? 1 : compareText(entry.key, last);
      if (order < 0 || (order === 0 && entry.versionId === null)) throw unordered(source.bucket);
      last = entry.key;
      yield entry;
    }
  }
}

/** So many keys are listed again for a gap: usually its end alone, but some may have come meanwhile. */
const GAP_KEYS = 10;

/**
 * Looks once more for keys that a listing lacks. One short listing answers for all keys between two objects, however many
 * are absent there.
 */
export class GapLookUps {
  readonly #source: Omit<ListingSource, "after" | "allVersions">;
  /** What the last listing shows, up to which key; null: up to the end. */
  #known: { readonly keys: ReadonlySet<string>; readonly until: string | null } | null = null;

  constructor(source: Omit<ListingSource, "after" | "allVersions">) {
    this.#source = source;
  }

  /** Ends a gap: what was listed for it may be out of date for the next one. */
  endGap(): void {
    this.#known = null;
  }

  /**
   * Whether the store lists a key.
   *
   * @param behind the last key that was looked at; null: none
   * @throws as {@link listObjects}
   */
  async has(key: string, behind: string | null): Promise<boolean> {
    if (!this.#covers(key)) {
      const { prefix } = this.#source;
      const { objects, is_truncated } = await this.#list({
        prefix,
        startAfter: behind ?? undefined,
        maxKeys: GAP_KEYS,
      });
      const keys = new Set(objects.map(({ Key }) => Key));
      this.#known = { keys, until: is_truncated ? objects.at(-1)?.Key ?? "" : null };
    }
    if (this.#covers(key)) return this.#known?.keys.has(key) === true;
    const { objects } = await this.#list({ prefix: key, maxKeys: 1 });
    return objects.some(({ Key }) => Key === key);
  }

  #covers(key: string): boolean {
    return this.#known !== null && (this.#known.until === null || compareText(key, this.#known.until) <= 0);
  }

  #list(options: Parameters<typeof listObjects>[3]) {
    const { s3, caller, bucket, read } = this.#source;
    return read(() => listObjects(s3, caller, bucket, options));
  }
}

async function* objectPages(source: ListingSource): AsyncGenerator<Entry[]> {
  const { s3, caller, bucket, prefix, read } = source;
  let startAfter = source.after?.key;
  for (;;) {
    const options = { prefix, startAfter, maxKeys: MAX_KEYS };
    const page = await read(() => listObjects(s3, caller, bucket, options));
    yield page.objects.map(({ Key, ETag }) => ({
      key: Key,
      versionId: null,
      isListed: true,
      etag: ETag,
      expectations: [],
    }));
    if (!page.is_truncated) return;
    const last = page.objects.at(-1)?.Key;
    if (last === undefined) throw unordered(bucket);
    startAfter = last;
  }
}

async function* versionPages(source: ListingSource): AsyncGenerator<Entry[]> {
  const { s3, caller, bucket, prefix, read, after } = source;
  let [keyMarker, versionIdMarker] = [after?.key, after?.versionId ?? undefined];
  for (;;) {
    const options = { prefix, keyMarker, versionIdMarker, maxKeys: MAX_KEYS };
    const page = await read(() => listVersions(s3, caller, bucket, options));
    yield page.versions.map(({ Key, VersionId, ETag }) => ({
      key: Key,
      versionId: VersionId ?? "null",
      isListed: true,
      etag: ETag,
      expectations: [],
    }));
    if (!page.is_truncated) return;
    const [nextKey, nextVersion] = [page.next_key_marker, page.next_version_id_marker ?? undefined];
    const isStuck = nextKey === null || (nextKey === keyMarker && nextVersion === versionIdMarker);
    if (isStuck) throw listingStuck(bucket);
    [keyMarker, versionIdMarker] = [nextKey, nextVersion];
  }
}

function unordered(bucket: string): HttpError {
  return new HttpError(501, `bucket '${bucket}': the store does not list keys from a given one on`, {
    coded: { code: "listing_not_resumable", params: { bucket } },
  });
}
