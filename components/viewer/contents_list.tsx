import { useComputed, useSignal } from "@preact/signals";
import { useMemo } from "preact/hooks";

import { useBatches } from "@/lib/pages/browser/steps_client.ts";
import { goByKey, moveStop, onPlainClick } from "@/lib/pages/browser/focus_client.ts";
import type { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import type { Range } from "@/lib/pages/iiif/manifest.ts";
import { VIEWER_LABELS } from "@/lib/pages/viewer/viewer_sentences.ts";

/** Entries that a browser renders within a few milliseconds. */
const ENTRIES_A_GROUP = 100;
/** Parts of an entry that are shown without being unfolded. */
const MAX_UNFOLDED = 20;
/** Arrows go through the links of entries, and the buttons of those without a page. */
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
      onFocusIn={({ target, currentTarget }) => moveStop({ list: currentTarget, entries: ENTRY }, entryOf(target))}
      // A click may not move the focus, and folding an entry must move the Tab stop out of its parts.
      onClick={({ target, currentTarget }) => moveStop({ list: currentTarget, entries: ENTRY }, entryOf(target))}
      onKeyDown={(event) => {
        const entry = entryOf(event.target);
        goByKey(event, { list: event.currentTarget, entries: ENTRY }, entry, (key) => foldByKey(key, entry));
      }}
    >
      <Entries ranges={ranges} store={store} level={1} stop={ranges.findIndex(isEntry)} />
    </div>
  );
}

interface EntriesProps extends ContentsListProps {
  /** 1 for the outermost. */
  readonly level: number;
  /** Place of the entry that the Tab key leads to at first; -1: none of this level. */
  readonly stop: number;
}

/** A level of the table; the levels below are rendered once they are unfolded. */
function Entries({ ranges, store, level, stop }: EntriesProps) {
  const groups = useBatches(Math.ceil(ranges.length / ENTRIES_A_GROUP), ranges);
  return (
    <>
      {Array.from(
        { length: groups },
        (_, place) => (
          <EntryGroup
            key={place}
            ranges={ranges}
            store={store}
            level={level}
            stop={stop}
            from={place * ENTRIES_A_GROUP}
          />
        ),
      )}
    </>
  );
}

interface EntryGroupProps extends EntriesProps {
  /** Place of the first entry of the group. */
  readonly from: number;
}

/** Memoized: entries are not compared again while others are added. */
function EntryGroup(props: EntryGroupProps) {
  const { ranges, store, level, stop, from } = props;
  return useMemo(() => <EntryList {...props} />, [ranges, store, level, stop, from]);
}

function EntryList({ ranges, store, level, stop, from }: EntryGroupProps) {
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
          isStop={from + at === stop}
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
  /** The Tab key leads to it at first. */
  readonly isStop: boolean;
  readonly isCurrent: boolean;
}

function Entry({ range, store, level, isStop, isCurrent }: EntryProps) {
  const { children, label } = range;
  const isUnfolded = useSignal(level === 1 && children.length <= MAX_UNFOLDED);
  const first = firstCanvas(range);
  const tabIndex = isStop ? 0 : -1;
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
            onClick={onPlainClick(() => store.goTo(first))}
          >
            {label}
          </a>
        )}
      </span>
      {isUnfolded.value && children.length > 0 && (
        <div class="parts">
          <Entries ranges={children} store={store} level={level + 1} stop={-1} />
        </div>
      )}
    </li>
  );
}

/** Unfolds or folds an entry, or moves the focus between it and its parts. @returns whether the key does anything here */
function foldByKey(key: string, entry: HTMLElement | null): boolean {
  const unfold = entry?.closest(".entry")?.querySelector<HTMLElement>(".unfold");
  const isUnfolded = unfold?.ariaExpanded === "true";
  const item = entry?.closest("li");
  switch (key) {
    case "ArrowRight":
      if (isUnfolded) item?.querySelector<HTMLElement>(`:scope > .parts ${ENTRY}`)?.focus();
      else unfold?.click();
      return true;
    case "ArrowLeft":
      if (isUnfolded) unfold?.click();
      else item?.parentElement?.closest("li")?.querySelector<HTMLElement>(ENTRY)?.focus();
      return true;
    default:
      return false;
  }
}

/** The link of the entry that an element belongs to, or its button; null: it is in no entry that has one. */
function entryOf(target: EventTarget | null): HTMLElement | null {
  return target instanceof Element ? target.closest(".entry")?.querySelector<HTMLElement>(ENTRY) ?? null : null;
}

/** Whether a range has a link or a button. */
function isEntry(range: Range): boolean {
  return range.children.length > 0 || firstCanvas(range) !== null;
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
