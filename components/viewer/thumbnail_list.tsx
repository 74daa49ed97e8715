import { useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useRef } from "preact/hooks";

import { type ImageFile, smallFileOf, thumbnailOf } from "@/lib/pages/iiif/image_service.ts";
import { type Canvas, standInOf } from "@/lib/pages/iiif/manifest.ts";
import { onPlainClick } from "@/lib/pages/browser/focus_client.ts";
import { securedAddress } from "@/lib/pages/browser/fetch_text_client.ts";
import { PHONE } from "@/lib/pages/viewer/viewer_panels_client.ts";
import type { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import { SEARCH_WORDS, VIEWER_LABELS } from "@/lib/pages/viewer/viewer_sentences.ts";

/** px of one entry along the list, as viewer.css lays it out. */
const ENTRY = { column: 152, row: 68 };
/** Entries that are rendered beyond the visible ones, on either side. */
const BEYOND = 2;
/** px of a thumbnail's frame. */
const FRAME = { column: { width: 84, height: 112 }, row: { width: 44, height: 58 } };
/** Images are requested once the list has rested for so long, ms: a list that flies past loads nothing. */
const REST_MS = 120;

/** The pages in small: only the entries that can be seen exist. */
export function ThumbnailList({ store, hits }: { store: ViewerStore; hits?: ReadonlyMap<number, number> }) {
  const box = useRef<HTMLElement>(null);
  const isRow = useSignal(matchMedia(PHONE).matches);
  const order = store.order.value;
  const entry = isRow.value ? ENTRY.row : ENTRY.column;
  const current = store.number.value - 1;
  const scrolled = useSignal(scrollToMiddle(current, order.length, screenLength(isRow.value), entry));
  const visible = useSignal(screenLength(isRow.value));
  const isResting = useSignal(true);
  const loaded = useRef(new Set<number>());

  useEffect(() => {
    const media = matchMedia(PHONE);
    const change = () => isRow.value = media.matches;
    media.addEventListener("change", change);
    const sizes = new ResizeObserver(() => visible.value = lengthOf(box.current, isRow.value));
    if (box.current) sizes.observe(box.current);
    return () => {
      media.removeEventListener("change", change);
      sizes.disconnect();
    };
  }, []);
  useEffect(() => {
    if (isResting.value) return;
    const timer = setTimeout(() => isResting.value = true, REST_MS);
    return () => clearTimeout(timer);
  }, [scrolled.value, isResting.value]);
  // The page that is shown is in view: at first in the middle, then wherever it is enough.
  useLayoutEffect(() => {
    const { current: element } = box;
    if (!element) return;
    const length = lengthOf(element, isRow.value);
    const at = isRow.value ? element.scrollLeft : element.scrollTop;
    const from = current * entry;
    if (from >= at && from + entry <= at + length) return;
    element.scrollTo({ [isRow.value ? "left" : "top"]: scrollToMiddle(current, order.length, length, entry) });
  }, [current, entry, order]);

  // A list that became shorter than the place is seen from its end.
  const top = Math.max(0, Math.min(scrolled.value, order.length * entry - visible.value));
  const first = Math.max(0, Math.floor(top / entry) - BEYOND);
  const end = Math.ceil((top + visible.value) / entry) + BEYOND;
  const along = isRow.value ? "left" : "top";
  return (
    <nav
      class="thumbs"
      aria-label={VIEWER_LABELS.pages}
      ref={box}
      onScroll={({ currentTarget }) => {
        scrolled.value = isRow.value ? currentTarget.scrollLeft : currentTarget.scrollTop;
        isResting.value = false;
      }}
    >
      <ol style={{ [isRow.value ? "width" : "height"]: `${order.length * entry}px` }}>
        {order.slice(first, end).map((index, at) => {
          const place = first + at;
          if (isResting.value) loaded.current.add(index);
          const canvas = store.manifest.value?.canvases[index];
          const count = hits?.get(index) ?? 0;
          const unread = unreadWord(store.unread.value.get(index));
          return canvas && (
            <li
              key={index}
              style={{ [along]: `${place * entry}px` }}
              aria-setsize={order.length}
              aria-posinset={place + 1}
            >
              <a
                class={unread === "" ? "thumb" : "thumb unread"}
                href={store.addressOf(index)}
                aria-current={store.shown.value.includes(index) ? "page" : undefined}
                onClick={onPlainClick(() => store.goTo(index))}
              >
                <span class="frame">
                  {loaded.current.has(index) && (
                    <Thumbnail canvas={canvas} frame={isRow.value ? FRAME.row : FRAME.column} />
                  )}
                </span>
                <span class="label">
                  <span class="sr">{VIEWER_LABELS.page}</span> {canvas.label}
                  {unread && <span class="sr">, {unread}</span>}
                </span>
                {count > 0 && (
                  <b>
                    <span aria-hidden="true">{count}</span>
                    <span class="sr">{SEARCH_WORDS.hitsOnPage(count)}</span>
                  </b>
                )}
              </a>
            </li>
          );
        })}
      </ol>
    </nav>
  );
}

/** @param reason why the page could not be read; null: it was not read; undefined: it has a text */
function unreadWord(reason: string | null | undefined): string {
  return reason === undefined ? "" : reason === null ? VIEWER_LABELS.notRead : VIEWER_LABELS.notReadable;
}

interface ThumbnailProps {
  readonly canvas: Canvas;
  /** px */
  readonly frame: { readonly width: number; readonly height: number };
}

/** The image of a page in small, in the page's proportions before it is there. */
function Thumbnail({ canvas, frame }: ThumbnailProps) {
  const file = fileOf(canvas, frame);
  const width = canvas.width ?? file?.width ?? frame.width;
  const height = canvas.height ?? file?.height ?? frame.height;
  const scale = Math.min(frame.width / width, frame.height / height);
  const extent = { width: Math.round(width * scale), height: Math.round(height * scale) };
  if (!file) return <svg class="blank" {...extent} aria-hidden="true" />;
  return <img src={securedAddress(file.href)} alt="" decoding="async" draggable={false} {...extent} />;
}

/** The file of a small image; null where there is none that is small. */
function fileOf(canvas: Canvas, frame: ThumbnailProps["frame"]): ImageFile | null {
  const { thumbnails } = canvas;
  const { images, width, height } = standInOf(canvas) ?? canvas;
  const density = Math.min(2, devicePixelRatio);
  const pixels = { width: frame.width * density, height: frame.height * density };
  const painted = images[0]?.choices[0].source;
  if (thumbnails.length > 0) return thumbnailOf(thumbnails[0], pixels);
  return painted ? smallFileOf(painted, pixels, { width, height }) : null;
}

function lengthOf(element: HTMLElement | null, isRow: boolean): number {
  const length = isRow ? element?.clientWidth : element?.clientHeight;
  return length || screenLength(isRow);
}

/** Before the list is laid out: no less than it can show. */
function screenLength(isRow: boolean): number {
  return isRow ? innerWidth : innerHeight;
}

/** px to scroll to so that an entry is in the middle of the box, as far as the list reaches. */
function scrollToMiddle(index: number, count: number, visible: number, entry: number): number {
  return Math.max(0, Math.min(count * entry - visible, index * entry - (visible - entry) / 2));
}
