import { createHash } from "node:crypto";
import { type CountedVolume, PageAccumulator } from "./page_sums.ts";
import { TimelineCounts } from "./timeline.ts";
import type { StoredProgress } from "./types.ts";
import { volumeIdentity } from "./volume_identity.ts";
import type { VolumeList } from "./volumes.ts";

/**
 * The sums over the ended volumes of one run, each counted once. It is cached between the requests of a session, so that
 * the totals of a huge campaign become complete although one request reads few files. It takes one bit for each volume
 * and 1.5 KB.
 */
export class PageTally {
  /** The same volumes over time. */
  readonly timeline = new TimelineCounts();
  #seen = new Uint8Array(0);
  readonly #sums = new PageAccumulator();

  has(index: number): boolean {
    return ((this.#seen[index >> 3] ?? 0) & (1 << (index & 7))) !== 0;
  }

  /** Counts an ended volume whose file was read; a second call has no effect. */
  add(index: number, volume: CountedVolume, progress: StoredProgress | null): void {
    if (this.has(index)) return;
    this.#mark(index);
    this.#sums.add(volume, progress);
  }

  /** A copy of the sums, to which running volumes are added. */
  sums(): PageAccumulator {
    return this.#sums.copy();
  }

  #mark(index: number): void {
    const byte = index >> 3;
    if (byte >= this.#seen.length) {
      const larger = new Uint8Array(Math.max(byte + 1, this.#seen.length * 2));
      larger.set(this.#seen);
      this.#seen = larger;
    }
    this.#seen[byte] |= 1 << (index & 7);
  }
}

/**
 * The key of a tally: identifies one run of one list of volumes. It stays the same while volumes finish and after the Job
 * is gone, and differs for another start or other volumes.
 */
export function runFingerprint(namespace: string, name: string, startedAt: string | null, volumes: VolumeList): string {
  const parts = [namespace, name, startedAt ?? "", volumeIdentity(volumes).digest];
  return createHash("sha256").update(parts.join("\n").toWellFormed()).digest("base64url");
}
