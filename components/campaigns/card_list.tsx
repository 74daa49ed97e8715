import { type ReadonlySignal, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import type { BoardStore } from "@/lib/pages/campaigns/board_store_client.ts";
import type { CardStore } from "@/lib/pages/campaigns/card_store_client.ts";
import { rememberHeights, storeList } from "@/lib/pages/campaigns/list_memory_client.ts";
import {
  barBottom,
  firstOnScreen,
  focusedPlace,
  keyAt,
  type ListReturn,
  placeOf,
  returnFocus,
  type ScrollAnchor,
  topPlace,
} from "@/lib/pages/campaigns/list_places_client.ts";
import { CardHeights, listEntries, type Sight, sightOf } from "@/lib/pages/campaigns/windows_client.ts";
import { usePrinting } from "@/lib/pages/browser/printing_client.ts";
import { campaignKey } from "@/lib/pages/campaigns/campaign_filter.ts";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import { LiveCard, loadOpenZones, openZones } from "./live_card.tsx";

interface CardListProps {
  readonly board: BoardStore;
  readonly style: ReadonlySignal<MomentStyle>;
  /** The card that must not move when the order changes. */
  readonly anchor: RefObject<ScrollAnchor | null>;
  /** The place to return to. */
  readonly back: ListReturn;
  /** Set to the keyboard navigation of the list. */
  readonly steps: RefObject<ListSteps | null>;
}

/** Keyboard navigation of the list. */
export interface ListSteps {
  /** Moves the focus to the card after or before the one that has it; without one, to the first card on screen. */
  go(by: 1 | -1): void;
  /** Scrolls a card to the top of the screen, unless its top edge is in the upper half already. */
  show(key: string): void;
  /** Opens or folds the card with the focus. */
  fold(): void;
}

/** px between the page's bar and a card below it. */
const CARD_MARGIN = 8;
/** Frames until the rows around a place that was scrolled to are in the document. */
const ROWS_FRAMES = 30;
/** Frames in a row without a move of the place after which the heights around it are final. */
const STILL_FRAMES = 10;
/** Frames after which the place is reached, wherever it is. */
const MAX_FRAMES = 180;

/** The cards of the list. Those far from the screen are not rendered, except for print. */
export function CardList({ board, style, anchor, back, steps }: CardListProps) {
  const list = useRef<HTMLDivElement>(null);
  const heights = useMemo(() => new CardHeights(), []);
  const sight = useSignal<Sight | null>(null);
  const isPrinting = usePrinting();
  const measured = useSignal(0);
  const focused = useSignal<string | null>(null);
  const wanted = useRef<string | null>(null);
  const keys = useComputed(() => board.shown.value.map(({ summary }) => campaignKey(summary.value)));
  const entries = useComputed(() => {
    void measured.value;
    const at = focused.value === null ? -1 : keys.value.indexOf(focused.value);
    const goal = back.place.value === null ? [] : [keys.value.indexOf(back.place.value.key)];
    return listEntries(keys.value, heights, {
      sight: isPrinting.value ? null : sight.value,
      // The neighbours of the focused card must be rendered for the Tab key.
      stays: new Set(at < 0 ? goal : [at - 1, at, at + 1, ...goal]),
      unread: board.unread.value,
    });
  });
  const goBack = () => {
    const place = back.place.peek();
    if (place) back.scroll(placeOf(list.current, place.key));
  };
  const observer = useHeights(heights, measured, goBack);

  useEffect(() => {
    const look = () => {
      if (!list.current) return;
      const next = sightOf(list.current);
      const { value: last } = sight;
      if (last?.top === next.top && last.bottom === next.bottom) return;
      sight.value = next;
    };
    let width = innerWidth;
    const resize = () => {
      if (width !== innerWidth) heights.clear();
      width = innerWidth;
      look();
    };
    const leave = () => {
      rememberHeights(observer.openHeights(board.cards.value));
      const place = focusedPlace(list.current) ?? topPlace(list.current);
      storeList({ reaped: board.reaped.value, views: board.storedViews(), place });
    };
    look();
    const listening = new AbortController();
    const options = { passive: true, signal: listening.signal };
    addEventListener("scroll", look, options);
    addEventListener("resize", resize, options);
    addEventListener("pagehide", leave, options);
    return () => {
      listening.abort();
      observer.stop();
    };
  }, []);

  useLayoutEffect(() => {
    anchor.current?.restore();
    anchor.current = null;
    goBack();
    if (wanted.current === null) return;
    const place = placeOf(list.current, wanted.current);
    wanted.current = null;
    place?.querySelector<HTMLElement>(".fold")?.focus({ preventScroll: true });
    place?.scrollIntoView({ block: "nearest" });
  });

  const cardOf = (key: string | null) => board.shown.value.find(({ summary }) => campaignKey(summary.value) === key);
  // The return is complete once the card has its previous content.
  useSignalEffect(() => {
    const { value: place } = back.place;
    if (place === null) return;
    const goal = cardOf(place.key);
    const isComplete = board.unread.value === 0 && !board.loadingOlder.value;
    const isRead = goal && openZones.value !== null && (goal.volumes.value.length > 0 || goal.trouble.value !== null);
    if (goal ? goal.open.value && !isRead : !isComplete) return;
    let [frame, frames, still, top] = [0, 0, 0, NaN];
    const arrive = () => {
      const card = placeOf(list.current, place.key);
      back.scroll(card);
      const last = top;
      top = card?.getBoundingClientRect().top ?? NaN;
      // A card that is not rendered is waited for no longer than the rows.
      still = Math.abs(top - last) < 1 || (card === null && frames >= ROWS_FRAMES) ? still + 1 : 0;
      const isFocused = returnFocus(card, place.focus, frames >= ROWS_FRAMES);
      const isDone = still >= STILL_FRAMES && (isFocused || frames > ROWS_FRAMES);
      if (isDone || frames === MAX_FRAMES) return back.end();
      frames++;
      frame = requestAnimationFrame(arrive);
    };
    frame = requestAnimationFrame(arrive);
    return () => cancelAnimationFrame(frame);
  });

  // A shorter list may have changed the visible part.
  useSignalEffect(() => {
    void keys.value;
    if (sight.peek() && list.current) sight.value = sightOf(list.current);
  });

  steps.current = {
    go(by) {
      const at = focused.value === null ? -1 : keys.value.indexOf(focused.value);
      const next = at < 0 ? firstOnScreen(list.current) : keys.value[at + by];
      if (next === undefined) return;
      wanted.current = next;
      focused.value = next;
      measured.value++;
    },
    show(key) {
      const top = placeOf(list.current, key)?.getBoundingClientRect().top ?? Infinity;
      if (top > innerHeight / 2) back.begin({ key, top: barBottom() + CARD_MARGIN, focus: null });
    },
    fold() {
      const card = cardOf(focused.value);
      if (card) placeOf(list.current, campaignKey(card.summary.value))?.querySelector<HTMLElement>(".fold")?.click();
    },
  };

  const cards = board.shown.value;
  const total = cards.length + board.unread.value;
  return (
    <div
      ref={list}
      class="cards"
      role="list"
      // Before the press that opens a card.
      onPointerEnter={loadOpenZones}
      onFocusIn={({ target }) => {
        loadOpenZones();
        focused.value = keyAt(target);
      }}
      onFocusOut={({ relatedTarget }) => {
        // A card that is moved within the list takes the focus along.
        if (relatedTarget) focused.value = keyAt(relatedTarget);
      }}
    >
      {entries.value.map((entry) =>
        entry.kind === "card"
          ? (
            <LiveCard
              key={keys.value[entry.index]}
              card={cards[entry.index]}
              name={keys.value[entry.index]}
              position={entry.index + 1}
              total={total}
              style={style.value}
              spansNamespaces={board.spansNamespaces.value}
              onHeight={observer.observe}
            />
          )
          : (
            <svg
              key={`before ${keys.value[entry.before] ?? "the end"}`}
              class="left-out"
              width="1"
              height={Math.round(entry.height)}
              aria-hidden="true"
            />
          )
      )}
    </div>
  );
}

/** Measures rendered cards, and increments `measured` when a height changes. */
function useHeights(heights: CardHeights, measured: { value: number }, onMeasured: () => void) {
  return useMemo(() => {
    const places = new Map<Element, CardStore>();
    let observer: ResizeObserver | null = null;
    const sized = (boxes: readonly ResizeObserverEntry[]) => {
      const news = boxes.filter(({ target, borderBoxSize: [box] }) => {
        const card = places.get(target);
        // The observer reports a card that has left the document too, without a height.
        return card && target.isConnected &&
          heights.set(campaignKey(card.summary.peek()), box.blockSize, !card.open.peek());
      });
      if (news.length === 0) return;
      measured.value++;
      onMeasured();
    };
    return {
      observe(place: HTMLElement, card: CardStore) {
        observer ??= new ResizeObserver(sized);
        places.set(place, card);
        observer.observe(place);
        return () => {
          places.delete(place);
          observer?.unobserve(place);
        };
      },
      /** The heights of open cards whose volumes are there. */
      openHeights(cards: readonly CardStore[]) {
        const open = cards.filter((card) => card.open.value && card.volumes.value.length > 0);
        return new Map(open.map(({ summary }) => {
          const key = campaignKey(summary.value);
          return [key, Math.floor(heights.of(key))];
        }));
      },
      stop: () => observer?.disconnect(),
    };
  }, []);
}
