import type { Bucket } from "@/embedded/store/buckets.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { S3Error } from "./s3_error.ts";

/**
 * It never rejects what the writer, which decides, would accept.
 *
 * @throws {S3Error} QuotaExceeded where an object of `size` bytes would not fit into the quotas, so that its body need
 *   not be received first
 */
export function requireRoom(store: StoreContext, bucket: Bucket, key: string, size: number): void {
  requireFits(store, bucket, size, () => {
    if (bucket.versioning === "enabled") {
      const { prune, pruneDays } = store.buckets.versionSettings(bucket.id);
      return prune && pruneDays === 0 ? Infinity : 0;
    }
    const version = bucket.versioning === "off" ? null : "null";
    const found = store.objects.find(bucket.id, bucket.versioning, new TextEncoder().encode(key), version);
    return found && !("marker" in found) ? found.size : 0;
  });
}

/** Does as {@link requireRoom} for a part of an upload. */
export function requireRoomForPart(
  store: StoreContext,
  bucket: Bucket,
  upload: string,
  number: number,
  size: number,
): void {
  requireFits(store, bucket, size, () => {
    const [part] = store.uploads.parts(upload, number - 1, 1);
    return part?.number === number ? part.size : 0;
  });
}

/** `replaced` returns the bytes that the write would free. */
function requireFits(store: StoreContext, bucket: Bucket, size: number, replaced: () => number): void {
  const room = store.buckets.room(bucket.id);
  if (size <= room) return;
  const growth = size - replaced();
  if (growth > 0 && growth > room) throw new S3Error("QuotaExceeded");
}
