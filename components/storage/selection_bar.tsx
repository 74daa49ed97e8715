import { useSignal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { Icon } from "@/components/icon.tsx";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import type { StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import { STORAGE_LABELS, STORAGE_SENTENCES } from "@/lib/pages/storage/storage_sentences.ts";

interface SelectionBarProps {
  readonly rows: readonly StorageRow[];
  readonly selected: readonly StorageRow[];
  /** Number of selected rows that are not shown. */
  readonly hidden: number;
  /** Whether all rows are among the selected ones, of which others may be. */
  readonly isAllSelected: boolean;
  /** Whether the folder has further rows that were not read. */
  readonly isMore: boolean;
  /** The name of the folder where all of it is selected, also what was not read; else null. */
  readonly whole: string | null;
  /** Selects that; null: it cannot be. */
  readonly onWhole: (() => void) | null;
  /** Whether the folder has changed since the rows were read. */
  readonly isOutdated: boolean;
  onRefresh(): void;
  onClear(): void;
  /** Actions on what is selected. */
  readonly children?: ComponentChildren;
}

/** The size of the folder, or of a selection with its actions. It always has the same height. */
export function SelectionBar(props: SelectionBarProps) {
  const { rows, selected, hidden, isAllSelected, isMore, whole, isOutdated, onRefresh } = props;
  const isChosen = selected.length > 0;
  const isAllListed = isChosen && isMore && whole === null && isAllSelected;
  return (
    <div
      class={["actions", isChosen && "chosen", (isAllListed || hidden > 0) && "wordy"].filter(Boolean).join(" ")}
      role={isChosen ? "toolbar" : undefined}
      aria-label={isChosen ? STORAGE_LABELS.withSelected(formatCount(selected.length)) : undefined}
    >
      {/* One live region whatever is selected: one that comes with its text is not read out. */}
      <p role="status">
        {isChosen ? <ChosenText {...props} isAllListed={isAllListed} /> : (
          <>
            {isMore ? STORAGE_SENTENCES.firstRows(rows.length) : STORAGE_SENTENCES.rows(rows.length)}{" "}
            {isOutdated && <span class="sr">{STORAGE_SENTENCES.outdated}</span>}
          </>
        )}
      </p>
      {isChosen && <ChosenMenu {...props} />}
      {!isChosen && isOutdated && (
        <button type="button" class="btn small" onClick={onRefresh}>{STORAGE_LABELS.showChanges}</button>
      )}
    </div>
  );
}

function ChosenText({ selected, hidden, whole, isAllListed }: SelectionBarProps & { readonly isAllListed: boolean }) {
  const bytes = selected.reduce((sum, { size }) => sum + size, 0);
  const hasFolders = selected.some(({ kind }) => kind === "folder");
  return (
    <>
      {whole === null ? STORAGE_LABELS.selected(formatCount(selected.length)) : STORAGE_LABELS.wholeSelected(whole)}
      {" "}
      {hidden > 0 && whole === null && <span>· {STORAGE_SENTENCES.notShownHere(hidden)}</span>} {isAllListed
        ? <span>· {STORAGE_SENTENCES.moreBelow}</span>
        : !hasFolders && whole === null && <span>· {formatBytes(bytes)}</span>}
    </>
  );
}

/** The actions, which are a menu where the bar is too narrow for them. */
function ChosenMenu({ onWhole, onClear, children }: SelectionBarProps) {
  const isOpen = useSignal(false);
  const menu = useRef<HTMLButtonElement>(null);
  // A tap beside it need not move the focus.
  useEffect(() => {
    const tap = ({ target }: PointerEvent) => {
      if (target instanceof Node && !menu.current?.parentElement?.contains(target)) isOpen.value = false;
    };
    addEventListener("pointerdown", tap);
    return () => removeEventListener("pointerdown", tap);
  }, []);
  // An action may open a dialog, which gives the focus back to the button of the menu.
  const close = () => {
    if (!isOpen.peek()) return;
    isOpen.value = false;
    menu.current?.focus();
  };
  return (
    <>
      <div
        class="action-menu"
        onKeyDown={(event) => {
          if (event.key !== "Escape" || !isOpen.peek()) return;
          event.stopPropagation();
          close();
        }}
        onFocusOut={({ currentTarget, relatedTarget }) => {
          if (relatedTarget instanceof Node && !currentTarget.contains(relatedTarget)) isOpen.value = false;
        }}
      >
        <button
          type="button"
          class="btn small"
          aria-expanded={isOpen.value}
          ref={menu}
          onClick={() => isOpen.value = !isOpen.peek()}
        >
          {STORAGE_LABELS.actions} <Icon name="down" />
        </button>
        <div class={isOpen.value ? "choices open" : "choices"} onClick={close}>
          {onWhole && (
            <button type="button" class="btn small" onClick={onWhole}>
              <Icon name="folder" /> {STORAGE_LABELS.wholeFolder}
            </button>
          )}
          {children}
        </div>
      </div>
      <button
        type="button"
        class="btn small square"
        aria-label={STORAGE_LABELS.clearSelection}
        title={STORAGE_LABELS.clearSelection}
        onClick={onClear}
      >
        <Icon name="close" />
      </button>
    </>
  );
}
