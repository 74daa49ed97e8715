import {
  AUDIT_PATH,
  auditPath,
  FIXITY_PATH,
  fixityPath,
  TASKS_PATH,
  tasksPath,
} from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";

interface StoragePlacesProps {
  readonly account: string;
  /** The path of this page. */
  readonly here: string;
  /** The folder or the object of this page, whose fixity can be checked; null: the page is of none. */
  readonly subject: { readonly bucket: string; readonly prefix: string } | null;
  /** Whether the account may read the audit trail. */
  readonly hasTrail: boolean;
}

/** The pages of an account beside its buckets. */
export function StoragePlaces({ account, here, subject, hasTrail }: StoragePlacesProps) {
  return (
    <nav class="storage-places" aria-label={STORAGE_LABELS.places}>
      <a href={fixityPath({ account, ...subject })} aria-current={here === FIXITY_PATH ? "page" : undefined}>
        {subject === null ? STORAGE_LABELS.fixity : STORAGE_LABELS.checkFixity}
      </a>
      <a href={tasksPath({ account })} aria-current={here === TASKS_PATH ? "page" : undefined}>
        {STORAGE_LABELS.tasks}
      </a>
      {hasTrail && (
        <a href={auditPath({ account })} aria-current={here === AUDIT_PATH ? "page" : undefined}>
          {STORAGE_LABELS.audit}
        </a>
      )}
    </nav>
  );
}
