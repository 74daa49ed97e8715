import { signal } from "@preact/signals";
import type { UploadPage } from "@/lib/s3/multipart.ts";
import { asFault, insteadOf, NEVER, type UploadCalls } from "./upload_calls_client.ts";

/** An upload in parts that was started and neither completed nor ended. */
export interface UnfinishedUpload {
  readonly key: string;
  readonly uploadId: string;
  /** ms since 1970; null where the store does not say. */
  readonly begunAt: number | null;
  /** The bytes of the parts that have arrived; null until they were counted. */
  readonly bytes: number | null;
}

/** Most pages of the list that are read, a thousand uploads each. */
const MAX_PAGES = 10;
/** Most uploads whose parts are counted. */
const MAX_COUNTED = 100;
/** The age at which an upload counts as abandoned, ms. */
export const OLD_MS = 24 * 3600 * 1000;

/** The unfinished uploads of a folder, read on demand, and ended on demand. */
export class UnfinishedUploads {
  /** Null until they were read; a text for why they cannot be. */
  readonly list = signal<readonly UnfinishedUpload[] | "forbidden" | "failed" | null>(null);

  constructor(private readonly calls: UploadCalls, private readonly prefix: string) {}

  /** Reads the list, and then how much has arrived of each. @param own ids of those that this page has under way */
  async read(own: ReadonlySet<string>): Promise<void> {
    try {
      let found = await this.#listed(this.prefix, own);
      // MinIO lists uploads by a whole key or all of them, and says of any other prefix that there are none.
      if (found.length === 0 && this.prefix !== "") {
        // An account that may list its own folder alone may not list the bucket.
        const all = await this.#listed("", own).catch(insteadOf("forbidden", []));
        found = all.filter(({ key }) => key.startsWith(this.prefix));
      }
      this.list.value = found;
      for (const upload of found.slice(0, MAX_COUNTED)) this.#replace(upload, await this.#bytes(upload));
    } catch (error) {
      this.list.value = asFault(error).kind === "forbidden" ? "forbidden" : "failed";
    }
  }

  /** Ends uploads and deletes their parts. Those that cannot be ended stay in the list. */
  async end(uploads: readonly UnfinishedUpload[]): Promise<void> {
    for (const { key, uploadId } of uploads) {
      const isEnded = await this.calls.abort(key, uploadId).then(() => true, () => false);
      const { value } = this.list;
      if (isEnded && Array.isArray(value)) this.list.value = value.filter((one) => one.uploadId !== uploadId);
    }
  }

  /** The uploads of keys with this prefix, without those of this page. */
  async #listed(prefix: string, own: ReadonlySet<string>): Promise<UnfinishedUpload[]> {
    const found: UnfinishedUpload[] = [];
    let page: UploadPage | null = null;
    for (let pages = 0; pages < MAX_PAGES; pages++) {
      page = await this.calls.listUploads(prefix, page);
      for (const { Key, UploadId, Initiated } of page.uploads) {
        if (own.has(UploadId)) continue;
        const begunAt = Initiated === null ? NaN : Date.parse(Initiated);
        found.push({ key: Key, uploadId: UploadId, begunAt: Number.isNaN(begunAt) ? null : begunAt, bytes: null });
      }
      if (!page.is_truncated || page.next_key_marker === null) break;
    }
    return found;
  }

  #replace({ uploadId }: UnfinishedUpload, bytes: number | null): void {
    const { value } = this.list;
    if (!Array.isArray(value)) return;
    this.list.value = value.map((one) => one.uploadId === uploadId ? { ...one, bytes } : one);
  }

  /** @returns null for an upload that has ended meanwhile */
  async #bytes({ key, uploadId }: UnfinishedUpload): Promise<number | null> {
    let bytes = 0;
    try {
      for await (const { Size } of this.calls.parts(key, uploadId, NEVER)) bytes += Size;
      return bytes;
    } catch {
      return null;
    }
  }
}
