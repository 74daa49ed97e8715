import { batch, computed, type ReadonlySignal, signal } from "@preact/signals";

import { fetchText } from "@/lib/pages/browser/fetch_text_client.ts";
import { browserClock, type Clock } from "@/lib/pages/browser/poller_client.ts";
import { runSteps } from "@/lib/pages/browser/steps_client.ts";
import {
  type Canvas,
  isPaged,
  type Manifest,
  MAX_MANIFEST_BYTES,
  spreadsOf,
  standInOf,
} from "@/lib/pages/iiif/manifest.ts";
import { readManifestInSteps } from "@/lib/pages/iiif/read_manifest.ts";
import { currentLanguage, LANGUAGES } from "@/lib/pages/locale/language.ts";
import {
  type NamedCampaign,
  type NamedVolume,
  readViewerAddress,
  type ViewerAddress,
  writeViewerAddress,
} from "@/lib/pages/page_paths.ts";
import type { VolumeAddress } from "@/lib/pages/volume_address.ts";
import { type ReadOptions, type ReadRun, readRun } from "./run_pages_client.ts";
import { type WholeVolume, wholeVolume } from "./whole_volume.ts";
import type { ViewerProblem } from "./viewer_sentences.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import type { ShownPage } from "./image_view_client.ts";
import { PHONE } from "./viewer_panels_client.ts";

/** How long a manifest is read without letting the page react, ms: until it is read there is little to react with. */
const READING_SLICE_MS = 40;

/** How long a manifest that is there waits for the other pages of its volume, ms; then it is shown without them. */
const JOIN_MS = 10_000;

/** Turns that follow each other faster than this are one entry in the browser's history, ms. */
const LEAFING_MS = 1000;

/** The manifest that the address of the page names, and the pages of it that are shown. */
export class ViewerStore {
  readonly manifest = signal<Manifest | null>(null);
  readonly problem = signal<ViewerProblem | null>(null);
  /** Address of the manifest; null where none is named. */
  readonly url = signal<string | null>(null);
  /** The campaign that the reader comes from; null where the address names none. */
  readonly campaign = signal<NamedCampaign | null>(null);
  /** The volume that the address names; null: none. */
  volume: NamedVolume | null = null;
  /** Index of the canvas in the address. Always in `order`: an order without it is replaced by the manifest's default. */
  readonly current = signal(0);
  readonly isSpread = signal(false);
  /** Index into the manifest's alternative orders; null: the order of its canvases. */
  readonly orderIndex = signal<number | null>(null);
  /** The chosen image of each painting, by canvas and place among its paintings. */
  readonly #choices = signal<ReadonlyMap<string, number>>(new Map());

  /** Canvas indexes in the order in which the reader goes through them. */
  readonly order = computed<readonly number[]>(() => {
    const manifest = this.manifest.value;
    if (!manifest) return [];
    const alternative = manifest.alternativeOrders[this.orderIndex.value ?? -1];
    return alternative ? [...new Set(alternative.canvases)] : manifest.canvases.map((_, index) => index);
  });
  /** Position of each canvas in the order, from 0. */
  readonly positions: ReadonlySignal<ReadonlyMap<number, number>> = computed(() =>
    new Map(this.order.value.map((index, position) => [index, position]))
  );
  /** The number of the current page, from 1. */
  readonly number: ReadonlySignal<number> = computed(() => this.#positionOf(this.current.value) + 1);
  readonly isRightToLeft = computed(() => this.manifest.value?.viewingDirection === "right-to-left");
  readonly #spreads: ReadonlySignal<readonly (readonly number[])[]> = computed(() => {
    const manifest = this.manifest.value;
    if (!manifest) return [];
    return this.isSpread.value
      ? spreadsOf(manifest.canvases, this.order.value, this.isRightToLeft.value)
      : this.order.value.map((index) => [index]);
  });
  /** Index of each canvas's spread. */
  readonly #spreadAt: ReadonlySignal<ReadonlyMap<number, number>> = computed(() =>
    new Map(this.#spreads.value.flatMap((spread, at) => spread.map((index) => [index, at] as const)))
  );
  readonly #at: ReadonlySignal<number> = computed(() => this.#spreadAt.value.get(this.current.value) ?? 0);
  /** Canvas indexes that are shown, from left to right. */
  readonly shown: ReadonlySignal<readonly number[]> = computed(() => this.#spreads.value[this.#at.value] ?? []);
  /** The same in reading order. */
  readonly shownInOrder: ReadonlySignal<readonly number[]> = computed(() =>
    this.shown.value.toSorted((a, b) => this.#positionOf(a) - this.#positionOf(b))
  );
  readonly pages: ReadonlySignal<readonly ShownPage[]> = computed(() => this.#pagesOf(this.shown.value));
  readonly pagesAfter: ReadonlySignal<readonly ShownPage[]> = computed(() =>
    this.#pagesOf(this.#spreads.value[this.#at.value + 1] ?? [])
  );
  readonly hasPrevious: ReadonlySignal<boolean> = computed(() => this.#at.value > 0);
  readonly hasNext: ReadonlySignal<boolean> = computed(() => this.#at.value < this.#spreads.value.length - 1);

  /** Canvases without a text, by index: why their pages could not be read; null where the run does not say. */
  readonly unread = computed(() => this.#whole.value?.unread ?? NO_UNREAD);
  readonly #whole = signal<WholeVolume | null>(null);

  readonly #fetch: typeof fetch;
  readonly #volumeOf: VolumeOf;
  readonly #clock: Clock;
  readonly #addressBar: AddressBar;
  #loading = new AbortController();
  #turnedAt = -Infinity;

  /** @param volumeOf the volume of a run whose manifest an address names; null: of another site, whose pages are as listed */
  constructor(request: typeof fetch, volumeOf: VolumeOf = () => null, clock = browserClock) {
    this.#fetch = request;
    this.#volumeOf = volumeOf;
    this.#clock = clock;
    this.#addressBar = new AddressBar(clock);
  }

  /** Shows what the address of the page names, now and whenever it changes. @returns stops that */
  start(): () => void {
    const follow = () => this.#follow();
    addEventListener("hashchange", follow);
    follow();
    return () => {
      removeEventListener("hashchange", follow);
      this.#addressBar.stop();
      this.#loading.abort();
    };
  }

  /** Reads the manifest again after a failure. */
  retry(): void {
    if (this.url.value !== null) void this.#load(this.url.value);
  }

  /** The fragment that names a canvas of this manifest. */
  addressOf(index: number): string {
    const whole = this.#whole.value;
    const place = whole === null ? index : whole.places.indexOf(index);
    const named = place < 0 ? whole?.names[index] ?? null : place;
    return writeViewerAddress(this.url.value ?? "", named, this.campaign.value, this.volume);
  }

  /** Goes to a canvas. Going through pages quickly is one entry in the history. */
  goTo(index: number): void {
    if (index === this.current.value || !this.manifest.value?.canvases[index]) return;
    const isLeafing = performance.now() - this.#turnedAt < LEAFING_MS;
    this.#turnedAt = performance.now();
    this.#addressBar.write(this.addressOf(index), isLeafing ? "same" : "new");
    this.#open(index);
  }

  goToEnd(end: "first" | "last"): void {
    const index = this.order.value.at(end === "first" ? 0 : -1);
    if (index !== undefined) this.goTo(index);
  }

  /** @param order index into the manifest's alternative orders; null: the order of its canvases */
  chooseOrder(order: number | null): void {
    this.orderIndex.value = order;
    if (!this.order.value.includes(this.current.value)) this.goToEnd("first");
  }

  chosen(index: number, painting: number): number {
    return this.#choices.value.get(`${index} ${painting}`) ?? 0;
  }

  choose(index: number, painting: number, choice: number): void {
    this.#choices.value = new Map(this.#choices.value).set(`${index} ${painting}`, choice);
  }

  /** Goes to the next page or pages, or back. */
  turn(by: 1 | -1): void {
    const spread = this.#spreads.value[this.#at.value + by];
    if (spread) {
      this.goTo(spread.reduce((first, index) => this.#positionOf(index) < this.#positionOf(first) ? index : first));
    }
  }

  /** Shows a canvas. An order without it is replaced by the manifest's default, which has all canvases. */
  #open(index: number): void {
    batch(() => {
      if (!this.positions.value.has(index)) this.orderIndex.value = null;
      this.current.value = index;
    });
  }

  #positionOf(index: number): number {
    return this.positions.value.get(index) ?? 0;
  }

  #pagesOf(spread: readonly number[]): readonly ShownPage[] {
    const canvases = this.manifest.value?.canvases ?? [];
    return spread.map((index) => this.#pageOf(canvases[index], index));
  }

  #pageOf(canvas: Canvas, index: number): ShownPage {
    const standIn = standInOf(canvas);
    const { width, height, images } = standIn ?? canvas;
    const layers = images.map(({ choices, target }, painting) => ({
      choice: choices[standIn ? 0 : this.chosen(index, painting)] ?? choices[0],
      target,
    }));
    return { index, width, height, layers, isStandIn: standIn !== null };
  }

  #follow(): void {
    // A fragment that is still to be written is that of the page before.
    this.#addressBar.stop();
    const address = readViewerAddress(location.hash, location.href);
    const { manifest: url, isRefused, campaign } = address;
    if (this.url.value !== null && /^#[^=]+$/.test(location.hash)) {
      // A plain fragment, as of the skip link: the manifest stays, and its address is restored.
      this.#addressBar.write(this.addressOf(this.current.value), "same");
      return;
    }
    this.campaign.value = campaign;
    this.volume = address.volume;
    if (url === null) {
      this.#loading.abort();
      this.url.value = null;
      this.manifest.value = null;
      this.problem.value = isRefused ? "refused address" : "none named";
    } else if (url !== this.url.value) {
      void this.#load(url);
    } else if (this.manifest.value) {
      this.#open(this.#canvasOf(this.manifest.value, address));
    }
  }

  async #load(url: string): Promise<void> {
    this.#loading.abort();
    const { signal } = this.#loading = new AbortController();
    this.url.value = url;
    this.manifest.value = null;
    this.problem.value = null;
    this.#whole.value = null;
    const { volume } = this;
    const run = this.#volumeOf(url, this.campaign.value, volume);
    const options = { fetch: this.#fetch, signal };
    const pages = run && readRun(run, options);
    const read = await readManifestAt(url, options);
    if (signal.aborted || read === null) return;
    const opened = typeof read === "object" ? read : null;
    // A run that read no page publishes no manifest, or one without pages; the source has them all.
    const isMissing = url === run?.iiifUrl && (read === 404 || read === "no canvases");
    const joined = run && pages && (opened || isMissing)
      ? pages.then((pages) => wholeOf(url, opened, run, volume, pages, options))
      : null;
    const tooLate = () => new Promise<null>((resolve) => this.#clock.after(JOIN_MS, () => resolve(null)));
    const whole = await (opened && joined ? Promise.race([joined, tooLate()]) : joined);
    if (signal.aborted) return;
    if (whole) this.#show(whole.manifest, whole);
    else if (typeof read === "object") this.#show(read, null);
    else this.problem.value = read;
  }

  #show(manifest: Manifest, whole: WholeVolume | null): void {
    this.#whole.value = whole;
    this.orderIndex.value = null;
    this.#choices.value = new Map();
    // Two pages side by side are too small to be read on a phone; its reader may still choose them.
    this.isSpread.value = isPaged(manifest) && !matchMedia(PHONE).matches;
    // The address may name another page by now.
    this.current.value = this.#canvasOf(manifest, readViewerAddress(location.hash, location.href));
    this.manifest.value = manifest;
  }

  /** The canvas that an address names, as far as the manifest reaches. */
  #canvasOf({ canvases, start }: Manifest, { page, canvas }: Pick<ViewerAddress, "page" | "canvas">): number {
    const whole = this.#whole.value;
    const named = page === null ? -1 : whole?.names.indexOf(page) ?? canvases.findIndex(({ label }) => label === page);
    const placed = canvas === null ? start : whole?.places[canvas] ?? canvas;
    return Math.min(named < 0 ? placed ?? 0 : named, canvases.length - 1);
  }
}

const NO_UNREAD: ReadonlyMap<number, string | null> = new Map();

/** The volume of a run, by the address of a manifest and what else the address of the page names. */
type VolumeOf = (url: string, campaign: NamedCampaign | null, volume: NamedVolume | null) => VolumeAddress | null;

/**
 * The manifest with all pages of its volume; null where the source manifest cannot be read.
 *
 * @param manifest null: none is published
 */
async function wholeOf(
  url: string,
  manifest: Manifest | null,
  run: VolumeAddress,
  volume: NamedVolume | null,
  { pages, sourceUrl }: ReadRun,
  options: ReadOptions,
): Promise<WholeVolume | null> {
  if (url !== run.iiifUrl && manifest !== null) return wholeVolume(manifest, null, pages);
  const source = await readManifestAt(volume?.sourceUrl ?? sourceUrl ?? run.imagesManifestUrl, options);
  if (source === null || typeof source !== "object") return null;
  return wholeVolume(source, manifest ?? { ...source, canvases: [] }, pages);
}

/** @returns a manifest, or why there is none; null where the reading was cancelled */
async function readManifestAt(url: string, options: ReadOptions): Promise<Manifest | ViewerProblem | null> {
  const fetched = await fetchText(url, { ...options, maxBytes: MAX_MANIFEST_BYTES });
  const { signal } = options;
  if (signal.aborted) return null;
  if (!fetched.ok) return fetched.problem;
  const json = parsedJson(fetched.text);
  if (json === undefined) return "not JSON";
  const steps = readManifestInSteps(json, url, readerLanguages(navigator.languages));
  const read = await runSteps(steps, signal, READING_SLICE_MS);
  return read && (read.ok ? read.manifest : read.reason);
}

/** Safari refuses more than 100 changes of the address in 30 seconds; by the next try some of them are past. */
const RETRY_MS = 5000;

/** Writes the fragment of the page's address, also where the browser limits how often that may be done. */
export class AddressBar {
  readonly #clock: Clock;
  /** Cancels the retry. */
  #cancelRetry: () => void = () => {};

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /**
   * Writes a fragment. If the browser refuses, writes it later.
   *
   * @param hash with its `#`
   * @param entry whether to add a history entry or to replace the current one
   */
  write(hash: string, entry: "new" | "same"): void {
    this.stop();
    try {
      if (entry === "new") history.pushState(null, "", hash);
      else history.replaceState(history.state, "", hash);
    } catch {
      this.#cancelRetry = this.#clock.after(RETRY_MS, () => this.write(hash, "same"));
    }
  }

  /** Cancels a fragment that is still to be written. */
  stop(): void {
    this.#cancelRetry();
    this.#cancelRetry = () => {};
  }
}

/**
 * The languages in which a reader reads texts that are not ours, the best first: those of the browser, behind the site's
 * where the reader has chosen another one than the browser prefers.
 *
 * @param preferred the languages of the browser (BCP 47)
 */
function readerLanguages(preferred: readonly string[]): readonly string[] {
  const primary = preferred.map((tag) => tag.toLowerCase().split("-", 1)[0]);
  const usual = LANGUAGES.toSorted((a, b) => placeOf(a, primary) - placeOf(b, primary))[0];
  return usual === currentLanguage() ? preferred : [currentLanguage(), ...preferred];
}

function placeOf(language: string, languages: readonly string[]): number {
  const place = languages.indexOf(language);
  return place < 0 ? languages.length : place;
}
