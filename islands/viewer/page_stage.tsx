import { type ReadonlySignal, type Signal, useSignal } from "@preact/signals";
import { render } from "preact";
import { useEffect, useRef } from "preact/hooks";

import { PageDock } from "@/components/viewer/page_dock.tsx";
import { LINES_A_SHAPE, PageMarks } from "@/components/viewer/page_marks.tsx";
import type { PanelButtonsProps } from "@/components/viewer/panel_buttons.tsx";
import { useBatches } from "@/lib/client/batches.ts";
import { type ImageFailures, ImageView, type PagePoint, type ShownPage } from "@/lib/client/viewer/image_view.ts";
import type { PageTexts } from "@/lib/client/viewer/page_texts.ts";
import { securedAddress } from "@/lib/client/secured_address.ts";
import { TileSources } from "@/lib/client/viewer/tile_sources.ts";
import type { ViewerStore } from "@/lib/client/viewer/viewer_store.ts";
import type { Canvas } from "@/lib/presentation/iiif/manifest.ts";
import { SCRIPT_FAILURE } from "@/lib/presentation/frame_sentences.ts";
import type { TextLine } from "@/lib/presentation/viewer_text.ts";
import type { VolumeHit } from "@/lib/presentation/volume_search/volume_index.ts";
import { noImageSentence, VIEWER_LABELS, VIEWER_SENTENCES } from "@/lib/presentation/viewer_sentences.ts";
import { ImageChoices } from "./image_choices.tsx";
import type { LitLine } from "./text_panel.tsx";

/** The library that shows images in tiles, in a file of its own; the browser loads it once. */
export const imageLibrary = () => import("openseadragon");

interface MarksProps {
  readonly index: number;
  readonly canvas: Canvas;
  readonly texts: PageTexts;
  readonly lit: Signal<LitLine | null>;
  readonly hits: ReadonlySignal<readonly VolumeHit[]>;
  readonly currentHit: ReadonlySignal<VolumeHit | null>;
}

const NO_LINES: readonly TextLine[] = [];

/** The marks on a page, which follow its text and the line that is lit. */
function Marks({ index, canvas, texts, lit, hits, currentHit }: MarksProps) {
  const text = texts.of(canvas)?.value;
  const lines = text?.kind === "text" ? text.lines : NO_LINES;
  const shapes = useBatches(Math.ceil(lines.length / LINES_A_SHAPE), lines);
  return (
    <PageMarks
      lines={lines}
      shapes={shapes}
      lit={lit.value?.index === index ? lit.value.line : null}
      hits={hits.value.flatMap(({ canvas, boxes }) => canvas === index ? boxes : [])}
      currentHit={currentHit.value?.canvas === index ? currentHit.value.boxes : []}
    />
  );
}

interface PageStageProps {
  readonly store: ViewerStore;
  /** The surface with the images, once it is there; this component creates and removes it. */
  readonly view: Signal<ImageView | null>;
  readonly texts: PageTexts;
  readonly lit: Signal<LitLine | null>;
  /** What a search has found. */
  readonly hits: ReadonlySignal<readonly VolumeHit[]>;
  readonly currentHit: ReadonlySignal<VolumeHit | null>;
  /** The pages are on the surface. */
  readonly onPainted: () => void;
  /** The pointer is at a point of a page, or on none. */
  readonly onPoint: (point: PagePoint | null) => void;
  readonly onClick: (point: PagePoint) => void;
  readonly onFullScreen: () => void;
  readonly panels: PanelButtonsProps;
}

/** The image of the page with its controls. */
export function PageStage(
  { store, view, onPoint, onClick, onPainted, onFullScreen, panels, ...marks }: PageStageProps,
) {
  const surface = useRef<HTMLDivElement>(null);
  const zoom = useSignal<number | null>(null);
  const failures = useSignal<ImageFailures>("none");
  /** Whether the script that shows images could be loaded, as far as is known. */
  const hasScript = useSignal(true);
  const attempt = useSignal(0);
  /** Canvas indexes whose images are on the surface. */
  const painted = useSignal<readonly number[]>([]);
  const pages = store.pages.value;
  const order = store.order.value;
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
        onFlick: (direction) => direction === "left" === store.isRightToLeft.value ? store.previous() : store.next(),
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

  const numbers = store.shownInOrder.value.map((index) => (store.positions.value.get(index) ?? 0) + 1);
  // A page without an image of its own may have one that stands for it.
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
      <PageDock
        numbers={numbers}
        count={order.length}
        isRightToLeft={store.isRightToLeft.value}
        hasPrevious={store.hasPrevious.value}
        hasNext={store.hasNext.value}
        zoom={zoom.value}
        isSpread={store.isSpread.value}
        canFullScreen={document.fullscreenEnabled}
        onPrevious={() => store.previous()}
        onNext={() => store.next()}
        onNumber={(number) => store.goTo(order[number - 1])}
        onZoom={(direction) => view.value?.zoom(direction)}
        onWholePage={() => view.value?.wholePage()}
        onRotate={() => view.value?.rotate()}
        onFullScreen={onFullScreen}
        panels={panels}
        onSpread={() => store.isSpread.value = !store.isSpread.value}
      />
    </section>
  );
}

/** Whether the browser blocks the address of one of a page's images. */
function isBlocked({ layers }: ShownPage): boolean {
  return layers.some(({ choice: { source } }) =>
    [source.href, source.service?.id].some((address) => address && securedAddress(address) !== address)
  );
}
