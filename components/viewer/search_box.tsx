import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";

import { Icon, ToolButton } from "@/components/icon.tsx";
import type { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import type { VolumeSearch } from "@/lib/pages/search/volume_search_client.ts";
import type { hitsInOrder, VolumeHit } from "@/lib/pages/search/volume_index.ts";
import { SEARCH_WORDS, VIEWER_LABELS } from "@/lib/pages/viewer/viewer_sentences.ts";

/** Hits that are listed; one goes through the others by the buttons. */
const MAX_LISTED = 200;
/** A query is searched once the reader stops typing for so long, ms. */
const TYPING_MS = 150;

interface SearchBoxProps {
  readonly store: ViewerStore;
  readonly search: VolumeSearch;
  /** The hits so far, in the order of the pages. */
  readonly found: ReadonlySignal<ReturnType<typeof hitsInOrder> & { readonly isCut: boolean }>;
  /** The current hit; null: none yet. Not its place in the list, which changes while pages are read. */
  readonly current: Signal<VolumeHit | null>;
  readonly onHit: (hit: VolumeHit) => void;
}

/** The search in the text of the volume, with its hits. */
export function SearchBox({ store, search, found, current, onHit }: SearchBoxProps) {
  const box = useRef<HTMLFormElement>(null);
  const isListed = useSignal(false);
  const typed = useSignal("");
  const manifest = store.manifest.value;
  const { hits, leftOut, isCut } = found.value;
  const progress = search.progress.value;
  const query = search.query.value;
  const currentPlace = placeOf(hits, current.value);

  const applyTyped = () => {
    // Keep the current hit if the query was applied already.
    if (search.query.value === typed.value) return;
    search.query.value = typed.value;
    current.value = null;
  };
  useEffect(() => {
    const timer = setTimeout(applyTyped, TYPING_MS);
    return () => clearTimeout(timer);
  }, [typed.value]);

  if (!manifest?.canvases.some(({ altoSources }) => altoSources.length > 0)) return null;
  const begin = () => void search.start(manifest.canvases, store.current.value);
  // The hits are read at the event: those of this rendering may be of the query before.
  const goTo = (place: number) => {
    const { hits } = found.value;
    const hit = hits[(place + hits.length) % hits.length];
    if (!hit) return;
    current.value = hit;
    onHit(hit);
  };
  const next = () => {
    const { hits } = found.value;
    const place = placeOf(hits, current.value);
    // Without a current hit, start at the current page.
    goTo(place === null ? Math.max(0, placeFrom(hits, store)) : place + 1);
  };
  return (
    <form
      class="find"
      role="search"
      ref={box}
      onSubmit={(event) => {
        event.preventDefault();
        begin();
        applyTyped();
        // Without a hit, the list says how much is searched.
        isListed.value = typed.value !== "" && found.value.hits.length === 0;
        next();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") isListed.value = false;
      }}
      onFocusOut={(event) => {
        if (!box.current?.contains(event.relatedTarget as Node | null)) isListed.value = false;
      }}
    >
      <label class="field">
        <Icon name="search" />
        <span class="sr">{VIEWER_LABELS.search}</span>
        <input
          type="search"
          dir="auto"
          placeholder={VIEWER_LABELS.search}
          autocomplete="off"
          maxLength={200}
          value={typed.value}
          onFocus={() => {
            begin();
            isListed.value = typed.value !== "";
          }}
          onInput={(event) => {
            typed.value = event.currentTarget.value;
            isListed.value = true;
          }}
        />
        <output>{query === "" ? "" : figure(hits.length, isCut, currentPlace, progress.isReading)}</output>
      </label>
      <ToolButton
        icon="up"
        name={VIEWER_LABELS.previousHit}
        disabled={hits.length === 0}
        onClick={() => goTo((placeOf(found.value.hits, current.value) ?? 0) - 1)}
      />
      <ToolButton icon="down" name={VIEWER_LABELS.nextHit} disabled={hits.length === 0} onClick={next} />
      {isListed.value && query !== "" && (
        <div class="hits" role="group" aria-label={VIEWER_LABELS.hits} tabIndex={-1}>
          <p class="note" role="status">{progressSentence(progress)}</p>
          <label class="switch">
            <input
              type="checkbox"
              checked={!search.isFolded.value}
              onChange={(event) => {
                search.isFolded.value = !event.currentTarget.checked;
                current.value = null;
              }}
            />
            {VIEWER_LABELS.exactSearch}
          </label>
          <ol>
            {hits.slice(0, MAX_LISTED).map((hit, place) => (
              <li key={place}>
                <button
                  type="button"
                  aria-current={place === currentPlace ? "true" : undefined}
                  onClick={() => {
                    isListed.value = false;
                    current.value = hit;
                    onHit(hit);
                  }}
                >
                  <span class="note">{manifest.canvases[hit.canvas].label}</span>
                  <span dir="auto">
                    {hit.before}
                    <mark>{hit.match}</mark>
                    {hit.after}
                  </span>
                </button>
              </li>
            ))}
          </ol>
          {hits.length > MAX_LISTED && <p class="note">{SEARCH_WORDS.firstListed(MAX_LISTED)}</p>}
          {leftOut > 0 && <p class="note">{VIEWER_LABELS.hitsLeftOut(leftOut)}</p>}
        </div>
      )}
    </form>
  );
}

/** Place of a hit among those that are found by now; null: it is not among them. */
function placeOf(hits: readonly VolumeHit[], hit: VolumeHit | null): number | null {
  const place = hits.findIndex(({ canvas, at }) => canvas === hit?.canvas && at === hit.at);
  return place < 0 ? null : place;
}

/** The first hit on the current page or after it; -1: none. */
function placeFrom(hits: readonly VolumeHit[], { positions, number }: ViewerStore): number {
  return hits.findIndex(({ canvas }) => (positions.value.get(canvas) ?? 0) + 1 >= number.value);
}

function figure(count: number, isCut: boolean, current: number | null, isReading: boolean): string {
  const all = `${isCut || isReading ? "≥ " : ""}${count}`;
  if (current !== null) return SEARCH_WORDS.hitOf(current + 1, all);
  return count === 1 && !isReading ? SEARCH_WORDS.hit : SEARCH_WORDS.hits(all);
}

function progressSentence({ total, read, failed, isFull, isReading }: VolumeSearch["progress"]["value"]): string {
  const lost = failed > 0 ? ` ${SEARCH_WORDS.failed(failed)}` : "";
  if (isReading) return SEARCH_WORDS.reading(read, total) + lost;
  if (isFull) return SEARCH_WORDS.full(read, total) + lost;
  const missing = total - read;
  return SEARCH_WORDS.searched(read) + (missing === 0 ? "" : ` ${SEARCH_WORDS.missing(missing)}`);
}
