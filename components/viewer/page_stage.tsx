import { type Signal, useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useMemo, useRef } from "preact/hooks";

import { PageDock } from "./viewer_parts.tsx";
import { securedAddress } from "@/lib/pages/browser/fetch_text_client.ts";
import { type ImageFailures, ImageView, type PagePoint, type ShownPage } from "@/lib/pages/viewer/image_view_client.ts";
import { TileSources } from "@/lib/pages/viewer/tile_sources_client.ts";
import type { ViewerPanels } from "@/lib/pages/viewer/viewer_panels_client.ts";
import type { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import type { ConfidenceStep } from "@/lib/pages/alto/alto_page.ts";
import { SCRIPT_FAILURE } from "@/lib/pages/frame_sentences.ts";
import type { Box, Canvas } from "@/lib/pages/iiif/manifest.ts";
import type { ViewerCommand } from "@/lib/pages/viewer/viewer_keys.ts";
import { noImageSentence, VIEWER_LABELS, VIEWER_SENTENCES } from "@/lib/pages/viewer/viewer_sentences.ts";
import type { TextLine } from "@/lib/pages/viewer/viewer_text.ts";
import type { PagesState } from "./text_panel.tsx";

/** The tile viewer, a separate script that the browser loads once. */
export const imageLibrary = () => import("openseadragon");

interface MarksProps extends Omit<PagesState, "store"> {
  readonly index: number;
  readonly canvas: Canvas;
}

const NO_LINES: readonly TextLine[] = [];

/** The marks on a page, which follow its text and the line that is lit. */
function Marks({ index, canvas, texts, lit, hits, currentHit }: MarksProps) {
  const text = texts.of(canvas)?.value;
  const lines = text?.kind === "text" ? text.lines : NO_LINES;
  return (
    <PageMarks
      lines={lines}
      lit={lit.value?.index === index ? lit.value.line : null}
      hits={hits.value.flatMap(({ canvas, boxes }) => canvas === index ? boxes : [])}
      currentHit={currentHit.value?.canvas === index ? currentHit.value.boxes : []}
    />
  );
}

interface PageStageProps extends PagesState {
  /** The surface with the images, once it is there; this component creates and removes it. */
  readonly view: Signal<ImageView | null>;
  /** The pages are on the surface. */
  readonly onPainted: () => void;
  /** The pointer is at a point of a page, or on none. */
  readonly onPoint: (point: PagePoint | null) => void;
  readonly onClick: (point: PagePoint) => void;
  readonly panels: ViewerPanels;
  readonly run: (command: ViewerCommand) => void;
}

/** The image of the page with its controls. */
export function PageStage({ store, view, onPoint, onClick, onPainted, panels, run, ...marks }: PageStageProps) {
  const surface = useRef<HTMLDivElement>(null);
  const zoom = useSignal<number | null>(null);
  const failures = useSignal<ImageFailures>("none");
  /** Whether the script that shows images could be loaded, as far as is known. */
  const hasScript = useSignal(true);
  const attempt = useSignal(0);
  /** Canvas indexes whose images are on the surface. */
  const painted = useSignal<readonly number[]>([]);
  const pages = store.pages.value;
  const canvases = store.manifest.value?.canvases ?? [];

  useEffect(() => {
    let isGone = false;
    const sources = new TileSources((...request) => fetch(...request));
    imageLibrary().then(({ default: osd }) => {
      if (isGone || !surface.current) return;
      view.value = new ImageView(surface.current, osd, sources, {
        onZoom: (percent) => zoom.value = percent,
        onClick,
        onPoint,
        onFlick: (direction) => store.turn(direction === "left" === store.isRightToLeft.value ? -1 : 1),
        onShown: (indexes) => painted.value = indexes,
        onFailures: (some) => failures.value = some,
      });
    }, () => hasScript.value = false);
    return () => {
      isGone = true;
      view.value?.destroy();
      view.value = null;
    };
  }, []);
  useEffect(() => {
    failures.value = "none";
    painted.value = [];
    marks.texts.cancelAllBut([...pages, ...store.pagesAfter.peek()].map(({ index }) => canvases[index]));
    const { value: shown } = view;
    if (!shown) return;
    void shown.show(pages).then((isShown) => isShown ? shown.prepare(store.pagesAfter.peek()) : undefined);
  }, [view.value, pages, attempt.value]);

  useEffect(() => {
    const covered: HTMLElement[] = [];
    for (const index of painted.value) {
      const element = view.value?.overlayOf(index);
      const canvas = store.manifest.peek()?.canvases[index];
      if (!element || !canvas) continue;
      render(<Marks index={index} canvas={canvas} {...marks} />, element);
      covered.push(element);
    }
    if (painted.value.length > 0) onPainted();
    // Marks that stay mounted in a dropped element follow the lit line, and read the texts of pages that are gone.
    return () => covered.forEach((element) => render(null, element));
  }, [painted.value]);

  // A page without an image may have a placeholder.
  const isBeside = pages.length === 1 && pages[0].isStandIn;
  const isEmpty = pages.length > 0 && pages.every(({ layers }) => layers.length === 0);
  const isFailed = failures.value === "whole";
  const retry = <button class="btn" type="button" onClick={() => attempt.value++}>{VIEWER_LABELS.tryAgain}</button>;
  return (
    <section class="page-stage" aria-label={VIEWER_LABELS.stage}>
      <div class="surface" ref={surface} />
      <ImageChoices store={store} />
      {!hasScript.value && (
        <div class="viewer-problem">
          <p role="alert">{SCRIPT_FAILURE.sentence}</p>
          <button class="btn" type="button" onClick={() => location.reload()}>{SCRIPT_FAILURE.tryAgain}</button>
        </div>
      )}
      {isBeside && <p class="stage-note">{noImageSentence(canvases[pages[0].index])}</p>}
      {failures.value === "parts" && (
        <div class="stage-note">
          <p role="alert">{VIEWER_SENTENCES.tilesFailed}</p>
          {retry}
        </div>
      )}
      {(isFailed || isEmpty) && (
        <div class="viewer-problem">
          <p role="alert">
            {isEmpty
              ? noImageSentence(canvases[pages[0].index])
              : pages.some(isBlocked)
              ? VIEWER_SENTENCES.imageBlocked
              : VIEWER_SENTENCES.imageFailed}
          </p>
          {!isEmpty && retry}
        </div>
      )}
      <PageDock store={store} zoom={zoom.value} canFullScreen={document.fullscreenEnabled} panels={panels} run={run} />
    </section>
  );
}

/** Whether the browser blocks the address of one of a page's images. */
function isBlocked({ layers }: ShownPage): boolean {
  return layers.some(({ choice: { source } }) =>
    [source.href, source.service?.id].some((address) => address && securedAddress(address) !== address)
  );
}

interface PageMarksProps {
  readonly lines: readonly TextLine[];
  /** Place of the line that is lit; null: none. */
  readonly lit: number | null;
  /** Places of what a search has found, as fractions of the page. */
  readonly hits: readonly Box[];
  /** The hit that the reader is at. */
  readonly currentHit: readonly Box[];
}

/** Marks on the image of a page: doubtful lines by confidence, the lit line, hits. Its extent is that of the page. */
export function PageMarks({ lines, lit, hits, currentHit }: PageMarksProps) {
  // One path for each tinted step: elements for each line would be many.
  const paths = useMemo(() => TINTED.map((step) => ({ step, path: pathOf(lines, step) })), [lines]);
  const litBox = lit === null ? null : lines[lit]?.box;
  return (
    <svg viewBox="0 0 1000 1000" preserveAspectRatio="none" aria-hidden="true">
      {paths.map(({ step, path }) => path !== "" && <path key={step} class={step} d={path} />)}
      {hits.map((box, place) => <rect key={`hit ${place}`} class="hit" {...inUnits(box)} />)}
      {currentHit.map((box, place) => <rect key={`current ${place}`} class="current-hit" {...inUnits(box)} />)}
      {litBox && <rect key="lit" class="lit" {...inUnits(litBox)} />}
    </svg>
  );
}

/** Steps of confidence that are tinted on the image. */
const TINTED = ["medium", "low"] as const;

/** The rectangles of the lines of a step. */
function pathOf(lines: readonly TextLine[], wanted: ConfidenceStep): string {
  return lines.map(({ box, step }) => {
    if (box === null || step !== wanted) return "";
    const { x, y, width, height } = inUnits(box);
    return `M${x.toFixed(2)} ${y.toFixed(2)}h${width.toFixed(2)}v${height.toFixed(2)}h${(-width).toFixed(2)}z`;
  }).join("");
}

/** A fraction is too coarse a unit for the browser, which rounds some lengths to whole ones. */
function inUnits({ x, y, width, height }: Box): Box {
  return { x: x * 1000, y: y * 1000, width: width * 1000, height: height * 1000 };
}

/** Where a page has several images of the same place, the choice between them; nothing where it has none. */
export function ImageChoices({ store }: { store: ViewerStore }) {
  const canvases = store.manifest.value?.canvases ?? [];
  const choices = store.shown.value.flatMap((index) =>
    canvases[index].images.flatMap(({ choices }, painting) => choices.length > 1 ? [{ index, painting, choices }] : [])
  );
  if (choices.length === 0) return null;
  return (
    <div class="image-choices">
      {choices.map(({ index, painting, choices }) => (
        <label key={`${index} ${painting}`}>
          <span>{VIEWER_LABELS.image(store.shown.value.length > 1 ? canvases[index].label : null)}</span>
          <select
            value={String(store.chosen(index, painting))}
            onChange={({ currentTarget }) => store.choose(index, painting, Number(currentTarget.value))}
          >
            {choices.map(({ label }, place) => (
              <option key={place} value={String(place)}>{label ?? VIEWER_LABELS.imageNumber(place + 1)}</option>
            ))}
          </select>
        </label>
      ))}
    </div>
  );
}
