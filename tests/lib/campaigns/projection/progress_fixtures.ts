import type { StoredProgress } from "@/lib/campaigns/projection/types.ts";
import { volumeLinks } from "@/lib/campaigns/projection/urls.ts";

const linksOf = volumeLinks("https://r", "ns", "p");

export function counted(id: string) {
  return { id, links: linksOf(id) };
}

export function progress(parts: Partial<StoredProgress> = {}): StoredProgress {
  return {
    done: 1,
    total: 2,
    failed: 0,
    lastPage: null,
    stage: "stream",
    updatedAt: null,
    lastError: null,
    errors: 0,
    viewerPublished: false,
    quality: null,
    ...parts,
  };
}
