import { useComputed, useSignal } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { ShortcutList } from "@/components/shortcut_list.tsx";
import { UnreadPages, ViewerProblemNotice, ViewerTools } from "@/components/viewer/viewer_parts.tsx";
import { island } from "@/lib/pages/browser/island.tsx";
import { fetchXml } from "@/lib/pages/browser/fetch_text_client.ts";
import { useShortcuts } from "@/lib/pages/browser/shortcuts_client.ts";
import { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import type { ImageView, PagePoint } from "@/lib/pages/viewer/image_view_client.ts";
import { PageTexts, saveText } from "@/lib/pages/viewer/page_texts_client.ts";
import { ViewerPanels } from "@/lib/pages/viewer/viewer_panels_client.ts";
import { browserIdle, VolumeSearch } from "@/lib/pages/search/volume_search_client.ts";
import { MAX_ALTO_CHARACTERS } from "@/lib/pages/alto/read_alto.ts";
import type { Box, Manifest } from "@/lib/pages/iiif/manifest.ts";
import { type NamedCampaign, type NamedVolume, runLogOf, writeViewerAddress } from "@/lib/pages/page_paths.ts";
import { pageTitle } from "@/lib/pages/page_sentences.ts";
import { guardResultUrl } from "@/lib/pages/result_url_guard.ts";
import { VIEWER_SHORTCUTS, type ViewerCommand } from "@/lib/pages/viewer/viewer_keys.ts";
import { hitsInOrder, type VolumeHit } from "@/lib/pages/search/volume_index.ts";
import { VIEWER_KEY_WORDS, VIEWER_LABELS, VIEWER_SENTENCES } from "@/lib/pages/viewer/viewer_sentences.ts";
import { lineAt } from "@/lib/pages/viewer/viewer_text.ts";
import { readVolumeAddress, volumeAddress } from "@/lib/pages/volume_address.ts";
import { AboutDrawer } from "@/components/viewer/about_drawer.tsx";
import { imageLibrary, PageStage } from "@/components/viewer/page_stage.tsx";
import { SearchBox } from "@/components/viewer/search_box.tsx";
import { type LitLine, TextPanel } from "@/components/viewer/text_panel.tsx";
import { ThumbnailList } from "@/components/viewer/thumbnail_list.tsx";

type ManifestViewerProps = {
  /** Base of this site's results; "" in a site without a cluster. */
  readonly resultsUrl: string;
};

/** The manifest viewer: the volume that the fragment of the address names. */
export default island("manifest_viewer", function ManifestViewer({ resultsUrl }: ManifestViewerProps) {
  const isOurs = (file: string) => resultsUrl !== "" && guardResultUrl(file, resultsUrl).ok;
  /** The volume, by its names, else by the address of one of our results. */
  const volumeOf = (url: string, campaign: NamedCampaign | null, named: NamedVolume | null) => {
    const file = campaign && named
      ? volumeAddress(resultsUrl, campaign.namespace, named.pipeline, named.id)?.iiifUrl ?? ""
      : url;
    return isOurs(file) ? readVolumeAddress(file) : null;
  };
  const store = useMemo(() => new ViewerStore((...request) => fetch(...request), volumeOf), []);
  const panels = useMemo(() => new ViewerPanels(), []);
  const frame = useRef<HTMLDivElement>(null);
  const help = useRef<HTMLDialogElement>(null);
  const view = useSignal<ImageView | null>(null);
  const texts = useMemo(() => new PageTexts((...request) => fetch(...request)), []);
  const search = useMemo(volumeSearch, []);
  const lit = useSignal<LitLine | null>(null);
  const currentHit = useSignal<VolumeHit | null>(null);
  const found = useComputed(() => {
    const { hits, isCut } = search.found.value;
    return { ...hitsInOrder(hits, store.positions.value), isCut };
  });
  const hits = useComputed(() => found.value.hits);
  const hitCounts = useComputed(() => {
    const counts = new Map<number, number>();
    for (const { canvas } of hits.value) counts.set(canvas, (counts.get(canvas) ?? 0) + 1);
    return counts;
  });
  const pages = { store, texts, lit, hits, currentHit };
  const drawer = useRef<HTMLDivElement>(null);
  const manifest = store.manifest.value;
  const problem = store.problem.value;
  const url = store.url.value;
  const number = store.number.value;

  const volume = url === null ? null : volumeOf(url, store.campaign.value, store.volume);
  const runLog = volume && isOurs(volume.logUrl) ? runLogOf(volume, store.campaign.value) : null;
  /** Highlights the line at a point of a page. @returns its box */
  const lightLine = (point: PagePoint | null): Box | null => {
    const canvas = point && store.manifest.value?.canvases[point.index];
    const text = canvas ? texts.of(canvas)?.peek() : null;
    const line = point && text?.kind === "text" ? lineAt(text.lines, point) : null;
    const { value: before } = lit;
    if (point === null || text?.kind !== "text" || line === null) {
      if (before?.from === "image") lit.value = null;
      return null;
    }
    if (before?.index !== point.index || before.line !== line) lit.value = { index: point.index, line, from: "image" };
    return text.lines[line].box;
  };
  const goToPoint = (point: PagePoint) => {
    const box = lightLine(point);
    if (box) view.value?.goToBox(point.index, box);
  };
  const showHit = () => {
    const hit = currentHit.value;
    if (hit?.boxes[0] && store.shown.value.includes(hit.canvas)) view.value?.goToBox(hit.canvas, hit.boxes[0]);
  };
  /** Saves the text of a page; the panel of the text says why where it cannot be read. */
  const saveOrShowText = async (index: number) => {
    const canvas = store.manifest.value?.canvases[index];
    if (!canvas || await saveText(texts, canvas)) return;
    drawer.current?.hidePopover();
    if (!panels.isOpen("text")) panels.toggle("text");
  };
  const run = (command: ViewerCommand) => {
    const commands: Readonly<Record<ViewerCommand, () => void>> = {
      previous: () => store.turn(store.isRightToLeft.value ? 1 : -1),
      next: () => store.turn(store.isRightToLeft.value ? -1 : 1),
      first: () => store.goToEnd("first"),
      last: () => store.goToEnd("last"),
      zoomIn: () => view.value?.zoom("in"),
      zoomOut: () => view.value?.zoom("out"),
      wholePage: () => view.value?.wholePage(),
      rotate: () => view.value?.rotate(),
      fullScreen: () => void toggleFullScreen(frame.current),
      thumbnails: () => panels.toggle("thumbnails"),
      text: () => panels.toggle("text"),
      about: () => drawer.current?.togglePopover(),
      search: () => frame.current?.querySelector<HTMLInputElement>("input[type=search]")?.focus(),
      help: () => help.current?.showModal(),
      panLeft: () => view.value?.pan("left"),
      panRight: () => view.value?.pan("right"),
      panUp: () => view.value?.pan("up"),
      panDown: () => view.value?.pan("down"),
    };
    commands[command]();
  };
  const characterKeys = useShortcuts(VIEWER_SHORTCUTS, run, isScrolling);
  useEffect(() => {
    // In parallel with the manifest. A failure is handled where the images are shown.
    imageLibrary().catch(() => {});
    const stopPanels = panels.start();
    const stop = store.start();
    return () => {
      search.stop();
      stopPanels();
      stop();
    };
  }, []);
  useLayoutEffect(() => {
    if (manifest) document.title = pageTitle(`${VIEWER_LABELS.pageNamed(String(number))} · ${manifest.label}`, 0);
  }, [manifest, number]);

  return (
    <div class="viewer" ref={frame}>
      <ViewerTools
        title={manifest?.label ?? VIEWER_LABELS.viewer}
        volume={volume?.volume ?? null}
        pages={manifest ? store.shownInOrder.value.map((index) => manifest.canvases[index].label) : []}
        note={manifest ? noteOf(manifest, url !== null && !isOurs(url) ? url : null) : ""}
        campaign={store.campaign.value}
        runLog={runLog}
        panels={panels}
        run={run}
      >
        <SearchBox
          key={url}
          store={store}
          search={search}
          found={found}
          current={currentHit}
          onHit={({ canvas }) => {
            // A hit on another page is shown once that page is there.
            if (store.shown.value.includes(canvas)) showHit();
            else store.goTo(canvas);
          }}
        />
      </ViewerTools>
      {manifest && <UnreadPages store={store} />}
      {manifest && panels.isOpen("thumbnails") && <ThumbnailList store={store} hits={hitCounts.value} />}
      {manifest
        ? (
          <PageStage
            {...pages}
            view={view}
            onPainted={showHit}
            onPoint={lightLine}
            onClick={goToPoint}
            panels={panels}
            run={run}
          />
        )
        : (
          <section class="page-stage">
            {problem === null
              ? (
                <>
                  <p class="opening needs-scripts" role="status">{VIEWER_SENTENCES.opening}</p>
                  <p class="viewer-problem without-scripts">{VIEWER_SENTENCES.needsScripts}</p>
                </>
              )
              : (
                <ViewerProblemNotice
                  problem={problem}
                  url={url}
                  isOurs={url !== null && isOurs(url)}
                  onRetry={() => store.retry()}
                  onOpen={(address) => location.hash = writeViewerAddress(address, 0)}
                />
              )}
          </section>
        )}
      {manifest && panels.isOpen("text") && (
        <TextPanel
          {...pages}
          isOurs={isOurs}
          onLine={(index, { box }) => box && view.value?.goToBox(index, box)}
          onClose={() => panels.toggle("text")}
        />
      )}
      {manifest && (
        <AboutDrawer
          store={store}
          manifest={manifest}
          drawer={drawer}
          onClose={() => drawer.current?.hidePopover()}
          onSaveText={(index) => void saveOrShowText(index)}
        />
      )}
      {manifest && (
        <p class="sr" role="status">
          {VIEWER_LABELS.pageOf(number, store.order.value.length, manifest.canvases[store.current.value].label)}
        </p>
      )}
      <ShortcutList dialog={help} shortcuts={VIEWER_SHORTCUTS} words={VIEWER_KEY_WORDS} characterKeys={characterKeys} />
    </div>
  );
});

function volumeSearch(): VolumeSearch {
  return new VolumeSearch({
    fetchText: (url, signal) =>
      fetchXml(url, { fetch: (...request) => fetch(...request), maxBytes: MAX_ALTO_CHARACTERS, signal }),
    idle: browserIdle,
  });
}

/** The statement that must be shown with the manifest, else its provider. */
function noteOf({ requiredStatement, providers }: Manifest, url: string | null): string {
  const statement = requiredStatement?.values.join(" · ");
  return statement || providers.map(({ label }) => label).find(Boolean) || (url ? new URL(url).host : "");
}

/** Whether a key scrolls a part of the page: Home and End move the region that has the focus. */
function isScrolling({ key, target }: KeyboardEvent): boolean {
  return (key === "Home" || key === "End") && target instanceof Element &&
    target.closest(".text-panel, .drawer, .thumbs, .hits") !== null;
}

async function toggleFullScreen(element: HTMLElement | null): Promise<void> {
  try {
    if (document.fullscreenElement) await document.exitFullscreen();
    else await element?.requestFullscreen();
  } catch {
    // The browser does not allow it here; the page stays as it is.
  }
}
