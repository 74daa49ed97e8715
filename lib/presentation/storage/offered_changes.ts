import { STORAGE_SENTENCES } from "./storage_sentences.ts";

/** Changes of a bucket that stores allow apart: `write` new and replaced objects and their tags. */
export type Change = "write" | "delete";

/** Which changes of a bucket are offered: all but those that the store is known to forbid. */
export type OfferedChanges = Readonly<Record<Change, boolean>>;

/** Why changes of a bucket are not offered; null where all are. */
export function notOfferedSentence(offered: OfferedChanges): string | null {
  if (!offered.write) return offered.delete ? STORAGE_SENTENCES.noWriting : STORAGE_SENTENCES.readOnly;
  return offered.delete ? null : STORAGE_SENTENCES.noDeleting;
}
