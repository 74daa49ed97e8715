import type { ComponentChildren } from "preact";

import { Icon } from "@/components/icon.tsx";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { formatBytes } from "@/lib/presentation/storage/file_sizes.ts";
import type { StorageRow } from "@/lib/presentation/storage/listing.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES } from "@/lib/presentation/storage/storage_sentences.ts";

interface SelectionBarProps {
  readonly rows: readonly StorageRow[];
  /** How many keys are selected; some may not be among the rows any more. */
  readonly count: number;
  readonly selected: readonly StorageRow[];
  readonly isMore: boolean;
  /** Whether the folder has changed since the rows were read. */
  readonly isOutdated: boolean;
  onRefresh(): void;
  onClear(): void;
  /** Actions on what is selected. */
  readonly children?: ComponentChildren;
}

/** What the folder holds; with a selection how much that is, and what can be done with it. It always has its height. */
export function SelectionBar(
  { rows, count, selected, isMore, isOutdated, onRefresh, onClear, children }: SelectionBarProps,
) {
  if (count === 0) {
    return (
      <div class="actions">
        <p role="status">
          {isMore ? STORAGE_SENTENCES.firstRows(rows.length) : STORAGE_SENTENCES.rows(rows.length)}{" "}
          {isOutdated && <span class="sr">{STORAGE_SENTENCES.outdated}</span>}
        </p>
        {isOutdated && (
          <button type="button" class="btn small" onClick={onRefresh}>{STORAGE_LABELS.showChanges}</button>
        )}
      </div>
    );
  }
  const bytes = selected.reduce((sum, { size }) => sum + size, 0);
  const hasFolders = selected.some(({ kind }) => kind === "folder");
  return (
    <div class="actions chosen" role="toolbar" aria-label={STORAGE_LABELS.withSelected(formatCount(count))}>
      <p role="status">
        {STORAGE_LABELS.selected(formatCount(count))} {!hasFolders && <span>· {formatBytes(bytes)}</span>}
      </p>
      {children}
      <button type="button" class="btn small" aria-label={STORAGE_LABELS.clearSelection} onClick={onClear}>
        <Icon name="close" /> <span class="word">{STORAGE_LABELS.clearSelection}</span>
      </button>
    </div>
  );
}
