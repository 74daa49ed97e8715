import type OpenSeadragon from "openseadragon";

import type { Box, ImageChoice, ImageSource } from "@/lib/pages/iiif/manifest.ts";
import { TilePreloads, type TileSourceAnswer, type TileSources } from "./tile_sources_client.ts";
import { PHONE } from "./viewer_panels_client.ts";

/** A canvas with its chosen images. */
export interface ShownPage {
  /** Canvas index. */
  readonly index: number;
  /** In the canvas's units; null: those of its first image. */
  readonly width: number | null;
  readonly height: number | null;
  /** In painting order, the bottom one first. */
  readonly layers: readonly Layer[];
  /** The images are placeholders for a page without one, such as the cover of a recording. */
  readonly isStandIn: boolean;
}

interface Layer {
  readonly choice: ImageChoice;
  /** On the canvas; null: all of it. */
  readonly target: Box | null;
}

/** A point of a page. */
export interface PagePoint {
  /** Canvas index. */
  readonly index: number;
  /** Fractions of the page's width and height. */
  readonly x: number;
  readonly y: number;
}

/** Whether parts of the shown images, or whole images, failed to load. */
export type ImageFailures = "none" | "parts" | "whole";

interface ImageViewEvents {
  /** @param percent of the image's own pixels */
  readonly onZoom: (percent: number) => void;
  readonly onClick: (point: PagePoint) => void;
  /** The pointer moved; null: it is on no page. */
  readonly onPoint: (point: PagePoint | null) => void;
  /** A finger flicked the whole page aside. */
  readonly onFlick: (direction: "left" | "right") => void;
  readonly onShown: (indexes: readonly number[]) => void;
  /** Whether parts of the images, or whole ones, cannot be loaded, as far as is known by now. */
  readonly onFailures: (failures: ImageFailures) => void;
}

type Osd = typeof OpenSeadragon;

/** A page in the world of the view, where every page is 1 high. */
interface PlacedPage {
  readonly page: ShownPage;
  readonly x: number;
  readonly width: number;
  readonly answers: readonly TileSourceAnswer[];
}

/** Room around the page, px; the lower one is for the controls, which on a phone stand below the surface. */
const MARGINS = { left: 16, top: 16, right: 16, bottom: 72 };
const PHONE_MARGINS = { left: 8, top: 8, right: 8, bottom: 8 };
const ZOOM_STEP = 1.4;
/** Part of the view by which a key moves the image. */
const PAN_STEP = 0.15;
/** Part of a page's width that stays in view around a word. */
const MIN_PART = 0.55;
/** px per second of a finger's movement that turns the page. */
const FLICK_SPEED = 500;

/** The images of pages on a surface that zooms, pans and rotates. */
export class ImageView {
  readonly #osd: Osd;
  readonly #viewer: OpenSeadragon.Viewer;
  readonly #sources: TileSources;
  readonly #events: ImageViewEvents;
  readonly #preloads: TilePreloads;
  readonly #phone = matchMedia(PHONE);
  readonly #followPhone = () => {
    this.#viewer.viewport.setMargins(this.#margins);
    this.wholePage(true);
  };
  /** Indexes of the canvases whose images are requested before they are shown. */
  #prepared: readonly number[] = [];
  #pages: readonly PlacedPage[] = [];
  /** Elements over the pages, by canvas index. */
  #overlays = new Map<number, HTMLElement>();
  #items: OpenSeadragon.TiledImage[] = [];
  /** Images of which a tile has arrived. */
  readonly #seen = new WeakSet<OpenSeadragon.TiledImage>();
  /** Images of which a tile could not be loaded. */
  #failed = new Set<OpenSeadragon.TiledImage>();
  /** Whether an image of the pages is not on the surface at all, which no tile mends. */
  #isLacking = false;
  /** Number of `show` calls: work for an earlier call stops. */
  #turn = 0;

  constructor(element: HTMLElement, osd: Osd, sources: TileSources, events: ImageViewEvents) {
    const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
    markStyled();
    const gestures = { clickToZoom: false, dblClickToZoom: true };
    this.#osd = osd;
    this.#sources = sources;
    this.#events = events;
    this.#preloads = new TilePreloads(osd);
    this.#viewer = osd({
      element,
      drawer: "canvas",
      crossOriginPolicy: false,
      showNavigationControl: false,
      keyboardNavEnabled: false,
      tabIndex: -1,
      animationTime: still ? 0 : 0.5,
      blendTime: 0,
      viewportMargins: this.#margins,
      visibilityRatio: 0.3,
      minZoomImageRatio: 0.7,
      maxZoomPixelRatio: 4,
      maxImageCacheCount: 150,
      imageLoaderLimit: 6,
      gestureSettingsMouse: gestures,
      gestureSettingsPen: gestures,
      gestureSettingsTouch: { ...gestures, flickEnabled: false, pinchRotate: false },
    });
    this.#listen();
  }

  get #margins(): typeof MARGINS {
    return this.#phone.matches ? PHONE_MARGINS : MARGINS;
  }

  /**
   * Shows pages side by side, from left to right, whole.
   *
   * @returns whether they are shown; false: other pages were shown meanwhile
   */
  async show(pages: readonly ShownPage[]): Promise<boolean> {
    const turn = ++this.#turn;
    this.#clear();
    if (!pages.some(({ index }) => this.#prepared.includes(index))) this.#preloads.cancel();
    this.#sources.cancelAllBut(sourcesOf(pages));
    const answers = await this.#answers(pages, true);
    if (turn !== this.#turn) return false;
    this.#pages = placed(pages, answers);
    await Promise.all(this.#pages.map((place) => this.#add(place, turn)));
    if (turn !== this.#turn) return false;
    this.wholePage(true);
    for (const place of this.#pages) this.#cover(place);
    this.#events.onShown(pages.map(({ index }) => index));
    return true;
  }

  /** Reads what the next pages need, so that they appear at once: their images once those of this page are there. */
  async prepare(pages: readonly ShownPage[]): Promise<void> {
    const turn = this.#turn;
    const answers = await this.#answers(pages, false);
    await Promise.all(this.#items.map((item) => new Promise<void>((resolve) => item.whenFullyLoaded(resolve))));
    if (turn !== this.#turn || pages.length === 0) return;
    this.#prepared = pages.map(({ index }) => index);
    const coming = placed(pages, answers);
    const last = coming[coming.length - 1];
    const { x, y } = this.#viewer.viewport.getContainerSize();
    const { left, right, top, bottom } = this.#margins;
    // px of a page's height
    const height = Math.min((x - left - right) / (last.x + last.width), y - top - bottom);
    this.#preloads.load(
      coming.flatMap(({ width, answers }) => answers.map((answer) => ({ answer, width: width * height }))),
    );
  }

  /** The element that covers a page that is shown, for marks on it; null: the page is not shown. */
  overlayOf(index: number): HTMLElement | null {
    return this.#overlays.get(index) ?? null;
  }

  zoom(direction: "in" | "out"): void {
    const { viewport } = this.#viewer;
    viewport.zoomBy(direction === "in" ? ZOOM_STEP : 1 / ZOOM_STEP).applyConstraints();
  }

  /** @param immediately without an animation */
  wholePage(immediately = false): void {
    if (this.#pages.length > 0) this.#viewer.viewport.fitBounds(this.#bounds(), immediately);
  }

  /** Turns the view by a quarter, clockwise. */
  rotate(): void {
    const { viewport } = this.#viewer;
    viewport.setRotation((viewport.getRotation() + 90) % 360, true);
    this.wholePage(true);
  }

  pan(direction: "left" | "right" | "up" | "down"): void {
    const { viewport } = this.#viewer;
    const { width, height } = viewport.getBounds();
    const step = { left: [-width, 0], right: [width, 0], up: [0, -height], down: [0, height] }[direction];
    viewport.panBy(new this.#osd.Point(step[0] * PAN_STEP, step[1] * PAN_STEP)).applyConstraints();
  }

  /**
   * Moves a part of a page into view, enlarged.
   *
   * @param box fractions of the page's width and height
   */
  goToBox(index: number, box: Box): void {
    const place = this.#pages.find(({ page }) => page.index === index);
    if (!place) return;
    const width = Math.max(box.width * 1.15, MIN_PART) * place.width;
    // A line is wide and flat: show some context above and below it.
    const height = Math.max(box.height * 5, 0.2);
    const x = place.x + (box.x + box.width / 2) * place.width - width / 2;
    const y = box.y + box.height / 2 - height / 2;
    this.#viewer.viewport.fitBounds(new this.#osd.Rect(x, y, width, height));
  }

  destroy(): void {
    this.#turn++;
    this.#phone.removeEventListener("change", this.#followPhone);
    this.#preloads.cancel();
    this.#viewer.destroy();
  }

  #answers(pages: readonly ShownPage[], isUrgent: boolean): Promise<TileSourceAnswer[][]> {
    return Promise.all(
      pages.map(({ layers }) => Promise.all(layers.map(({ choice }) => this.#sources.of(choice.source, isUrgent)))),
    );
  }

  #listen(): void {
    const viewer = this.#viewer;
    this.#phone.addEventListener("change", this.#followPhone);
    viewer.addHandler("zoom", () => this.#reportZoom());
    let isWhole = true;
    viewer.addHandler("zoom", () => isWhole = this.#isWhole());
    viewer.addHandler("pan", () => isWhole = this.#isWhole());
    // A page that was whole stays whole when a panel takes room from it or gives it back.
    viewer.addHandler("resize", () => {
      // The library moves the view again after this event.
      if (isWhole) queueMicrotask(() => this.wholePage(true));
    });
    // A plain image is drawn smaller from its whole size, where the usual quality loses thin strokes.
    viewer.addHandler("tile-drawing", ({ context }) => {
      if (context) context.imageSmoothingQuality = "high";
    });
    viewer.addHandler("tile-loaded", ({ tiledImage }) => {
      if (!tiledImage) return;
      this.#seen.add(tiledImage);
      if (this.#failed.has(tiledImage)) this.#reportFailures();
    });
    viewer.addHandler("tile-load-failed", ({ tiledImage }) => {
      if (!this.#items.includes(tiledImage)) return;
      this.#failed.add(tiledImage);
      this.#reportFailures();
    });
    viewer.addHandler("canvas-click", (event) => {
      const point = event.quick ? this.#pointAt(event.position) : null;
      if (point) this.#events.onClick(point);
    });
    viewer.canvas.addEventListener("pointermove", (event) => {
      // A finger that moves drags the page.
      if (event.pointerType === "touch" || event.buttons !== 0) return;
      const { left, top } = viewer.canvas.getBoundingClientRect();
      this.#events.onPoint(this.#pointAt(new this.#osd.Point(event.clientX - left, event.clientY - top)));
    });
    viewer.canvas.addEventListener("pointerleave", () => this.#events.onPoint(null));
    viewer.addHandler("canvas-drag-end", (event) => {
      const { pointerType } = event as { pointerType?: string };
      const isAside = Math.abs(Math.cos(event.direction)) > 0.9;
      if (pointerType !== "touch" || event.speed < FLICK_SPEED || !isAside || !this.#isWhole()) return;
      this.#events.onFlick(Math.cos(event.direction) < 0 ? "left" : "right");
    });
  }

  #reportFailures(): void {
    const isWhole = this.#isLacking || [...this.#failed].some((image) => !this.#seen.has(image));
    this.#events.onFailures(isWhole ? "whole" : this.#failed.size > 0 ? "parts" : "none");
  }

  /** The point of a page at a pixel of the surface. */
  #pointAt(pixel: OpenSeadragon.Point): PagePoint | null {
    const at = this.#viewer.viewport.pointFromPixel(pixel, true);
    const place = this.#pages.find(({ x, width }) => at.x >= x && at.x < x + width);
    if (!place || at.y < 0 || at.y >= 1) return null;
    return { index: place.page.index, x: (at.x - place.x) / place.width, y: at.y };
  }

  /**
   * Empties the surface, so that no image stands under the number of another page. The library adds images in the order
   * in which they were requested, so one without a response would delay all later ones: `removeAll` cancels it.
   */
  #clear(): void {
    this.#pages = [];
    this.#items = [];
    this.#failed = new Set();
    this.#isLacking = false;
    this.#overlays = new Map();
    this.#viewer.clearOverlays();
    this.#viewer.world.removeAll();
  }

  /** Adds an empty element over a page. */
  #cover({ page, x, width }: PlacedPage): void {
    const element = document.createElement("div");
    element.className = "page-marks";
    this.#overlays.set(page.index, element);
    this.#viewer.addOverlay({ element, location: new this.#osd.Rect(x, 0, width, 1) });
  }

  async #add(place: PlacedPage, turn: number): Promise<void> {
    const added = await Promise.all(
      place.answers.map((answer, layer) => answer.ok ? this.#addLayer(place, layer, answer.source) : null),
    );
    if (turn !== this.#turn) return;
    const items = added.filter((item) => item !== null);
    this.#items.push(...items);
    if (items.length === added.length) return;
    this.#isLacking = true;
    this.#reportFailures();
  }

  /** The layer's image on the surface; null where it cannot be loaded. Never settles once the page is turned. */
  #addLayer(place: PlacedPage, layer: number, source: object): Promise<OpenSeadragon.TiledImage | null> {
    const { choice, target } = place.page.layers[layer];
    const { Rect, Point } = this.#osd;
    return new Promise((resolve) => {
      this.#viewer.addTiledImage({
        // The library writes into what it is given.
        tileSource: structuredClone(source) as OpenSeadragon.TileSourceOptions,
        degrees: choice.rotation,
        flipped: choice.isMirrored,
        success: (event) => {
          const { item } = event as unknown as { item: OpenSeadragon.TiledImage };
          const pixels = item.getContentSize();
          const { x, y, width } = itemPlace(onSurface(place, target), choice, { width: pixels.x, height: pixels.y });
          item.setWidth(width, true);
          item.setPosition(new Point(x, y), true);
          const { region } = choice;
          if (region) item.setClip(new Rect(region.x, region.y, region.width, region.height));
          resolve(item);
        },
        error: () => resolve(null),
      });
    });
  }

  #bounds(): OpenSeadragon.Rect {
    const last = this.#pages[this.#pages.length - 1];
    return new this.#osd.Rect(0, 0, last.x + last.width, 1);
  }

  /** Whether the view is not enlarged. */
  #isWhole(): boolean {
    // A finger may flick on before the first image is there.
    if (this.#pages.length === 0) return true;
    const { viewport } = this.#viewer;
    const bounds = this.#bounds();
    const shown = viewport.getBoundsNoRotate();
    return shown.width * 1.02 >= bounds.width && shown.height * 1.02 >= bounds.height;
  }

  #reportZoom(): void {
    const item = this.#items[0];
    if (item) this.#events.onZoom(Math.round(item.viewportToImageZoom(this.#viewer.viewport.getZoom(false)) * 100));
  }
}

/**
 * The library adds a style element to the page unless there is one with its mark. The page's policy allows none, so the
 * one with the mark is an element of that name without a meaning; viewer.css has the rule.
 */
function markStyled(): void {
  const style = document.createElementNS(null, "style");
  style.setAttribute("data-openseadragon-mobile-css", "");
  document.head.append(style);
}

function sourcesOf(pages: readonly ShownPage[]): readonly ImageSource[] {
  return pages.flatMap(({ layers }) => layers.map(({ choice }) => choice.source));
}

/** Between two pages that lie side by side, of a page's height. */
const GAP = 0.004;
/** Assumed width / height of a page whose extent is not known before its image is loaded. */
const USUAL_ASPECT = 0.75;

function placed(pages: readonly ShownPage[], answers: readonly (readonly TileSourceAnswer[])[]): PlacedPage[] {
  let x = 0;
  return pages.map((page, at) => {
    const first = answers[at].find(({ ok }) => ok);
    const image = first?.ok && first.width && first.height ? first.width / first.height : USUAL_ASPECT;
    const width = page.width && page.height ? page.width / page.height : image;
    const place = { page, x, width, answers: answers[at] };
    x += width + GAP;
    return place;
  });
}

/** A part of a page, by default all of it, in the world of the view. */
function onSurface({ page, x, width }: PlacedPage, target: Box | null): Box {
  if (!target || !page.width || !page.height) return { x, y: 0, width, height: 1 };
  return {
    x: x + target.x / page.width * width,
    y: target.y / page.height,
    width: target.width / page.width * width,
    height: target.height / page.height,
  };
}

/**
 * The position of a whole image before it is mirrored and rotated about its centre, such that the chosen part of it ends up in
 * a box.
 *
 * @param pixels extent of the whole image
 */
function itemPlace(box: Box, { region, rotation, isMirrored }: ImageChoice, pixels: Pick<Box, "width" | "height">) {
  const part = region ?? { x: 0, y: 0, ...pixels };
  const scale = (rotation % 180 === 0 ? box.width : box.height) / part.width;
  const aside = (part.x + part.width / 2 - pixels.width / 2) * scale * (isMirrored ? -1 : 1);
  const below = (part.y + part.height / 2 - pixels.height / 2) * scale;
  const angle = rotation / 180 * Math.PI;
  const width = pixels.width * scale;
  return {
    x: box.x + box.width / 2 - (aside * Math.cos(angle) - below * Math.sin(angle)) - width / 2,
    y: box.y + box.height / 2 - (aside * Math.sin(angle) + below * Math.cos(angle)) - pixels.height * scale / 2,
    width,
  };
}
