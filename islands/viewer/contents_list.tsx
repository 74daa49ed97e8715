import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { useBatches } from "@/lib/client/batches.ts";
import type { ViewerStore } from "@/lib/client/viewer/viewer_store.ts";
import type { Range } from "@/lib/presentation/iiif/manifest.ts";
import { VIEWER_LABELS } from "@/lib/presentation/viewer_sentences.ts";

/** Entries that a browser renders within a few milliseconds. */
const ENTRIES_A_GROUP = 100;
/** Parts of an entry that are shown without being unfolded. */
const MAX_UNFOLDED = 20;
/** What the arrows go through: the link of an entry, or the button of one without a page. */
const ENTRY = "[data-entry]";

interface ContentsListProps {
  readonly ranges: readonly Range[];
  readonly store: ViewerStore;
}

/**
 * The table of contents. One stop of the Tab key leads into it and arrows go through it, since a table may have thousands of
 * entries.
 */
export function ContentsList({ ranges, store }: ContentsListProps) {
  return (
    <div
      role="group"
      aria-labelledby="contents-title"
      aria-describedby="contents-keys"
      onFocusIn={({ target, currentTarget }) => {
        if (!(target instanceof HTMLElement) || !target.matches(ENTRY)) return;
        currentTarget.querySelectorAll<HTMLElement>(`${ENTRY}[tabindex="0"]`).forEach((entry) => entry.tabIndex = -1);
        target.tabIndex = 0;
      }}
      onKeyDown={(event) => {
        const { target, currentTarget } = event;
        if (event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
        if (!(target instanceof HTMLElement) || !goByKey(event.key, target, currentTarget)) return;
        // The arrows turn no pages here.
        event.preventDefault();
        event.stopPropagation();
      }}
    >
      <Entries ranges={ranges} store={store} level={1} />
    </div>
  );
}

interface EntriesProps extends ContentsListProps {
  /** From 1. */
  readonly level: number;
}

/** A level of the table; the levels below are rendered once they are unfolded. */
function Entries({ ranges, store, level }: EntriesProps) {
  const groups = useBatches(Math.ceil(ranges.length / ENTRIES_A_GROUP), ranges);
  return (
    <>
      {Array.from(
        { length: groups },
        (_, place) => (
          <EntryGroup key={place} ranges={ranges} store={store} level={level} from={place * ENTRIES_A_GROUP} />
        ),
      )}
    </>
  );
}

interface EntryGroupProps extends EntriesProps {
  /** Place of the first entry of the group. */
  readonly from: number;
}

/** Entries that are not compared again while others are added: Preact leaves out a component whose element is the same. */
function EntryGroup(props: EntryGroupProps) {
  const { ranges, store, level, from } = props;
  return useMemo(() => <EntryList {...props} />, [ranges, store, level, from]);
}

function EntryList({ ranges, store, level, from }: EntryGroupProps) {
  const own = ranges.slice(from, from + ENTRIES_A_GROUP);
  /** Places of the entries that name a page that is shown, as one value: the list is rendered again when it changes. */
  const current = useComputed(() => {
    const shown = store.shown.value;
    return own.map(({ canvases }) => canvases.some((index) => shown.includes(index)) ? "1" : "0").join("");
  });
  return (
    <ol class={`toc${from > 0 ? " later" : ""}`} start={from + 1}>
      {own.map((range, at) => (
        <Entry
          key={at}
          range={range}
          store={store}
          level={level}
          isFirst={from + at === 0}
          isCurrent={current.value[at] === "1"}
        />
      ))}
    </ol>
  );
}

interface EntryProps {
  readonly range: Range;
  readonly store: ViewerStore;
  readonly level: number;
  /** Of its level. */
  readonly isFirst: boolean;
  readonly isCurrent: boolean;
}

function Entry({ range, store, level, isFirst, isCurrent }: EntryProps) {
  const { children, label } = range;
  const isUnfolded = useSignal(level === 1 && children.length <= MAX_UNFOLDED);
  const first = firstCanvas(range);
  const tabIndex = level === 1 && isFirst ? 0 : -1;
  return (
    <li>
      <span class="entry">
        {children.length > 0 && (
          <button
            class="unfold"
            type="button"
            tabIndex={first === null ? tabIndex : -1}
            data-entry={first === null ? true : undefined}
            aria-label={VIEWER_LABELS.partsOf(label)}
            aria-expanded={isUnfolded.value}
            onClick={() => isUnfolded.value = !isUnfolded.value}
          >
            {isUnfolded.value ? "−" : "+"}
          </button>
        )}
        {first === null ? <span>{label}</span> : (
          <a
            href={store.addressOf(first)}
            tabIndex={tabIndex}
            data-entry
            aria-current={isCurrent ? "location" : undefined}
            onClick={(event) => {
              if (event.ctrlKey || event.metaKey || event.shiftKey) return;
              event.preventDefault();
              store.goTo(first);
            }}
          >
            {label}
          </a>
        )}
      </span>
      {isUnfolded.value && children.length > 0 && (
        <div class="parts">
          <Entries ranges={children} store={store} level={level + 1} />
        </div>
      )}
    </li>
  );
}

/** Moves the focus among entries, or unfolds and folds one. @returns whether the key does anything here */
function goByKey(key: string, entry: HTMLElement, list: HTMLElement): boolean {
  const entries = () => [...list.querySelectorAll<HTMLElement>(ENTRY)];
  const unfold = entry.closest(".entry")?.querySelector<HTMLElement>(".unfold");
  const isUnfolded = unfold?.ariaExpanded === "true";
  switch (key) {
    case "ArrowDown":
    case "ArrowUp": {
      const all = entries();
      all[all.indexOf(entry) + (key === "ArrowDown" ? 1 : -1)]?.focus();
      return true;
    }
    case "Home":
    case "End":
      entries().at(key === "Home" ? 0 : -1)?.focus();
      return true;
    case "ArrowRight":
      if (isUnfolded) entry.closest("li")?.querySelector<HTMLElement>(`:scope > .parts ${ENTRY}`)?.focus();
      else unfold?.click();
      return true;
    case "ArrowLeft":
      if (isUnfolded) unfold?.click();
      else entry.closest("li")?.parentElement?.closest("li")?.querySelector<HTMLElement>(ENTRY)?.focus();
      return true;
    default:
      return false;
  }
}

/** The first canvas of a range or of its parts; null: it has none. */
function firstCanvas({ canvases, children }: Range): number | null {
  if (canvases.length > 0) return canvases[0];
  for (const child of children) {
    const first = firstCanvas(child);
    if (first !== null) return first;
  }
  return null;
}
