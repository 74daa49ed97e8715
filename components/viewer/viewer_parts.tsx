import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";

import type { PanelName, ViewerPanels } from "@/lib/pages/viewer/viewer_panels_client.ts";
import type { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import { onPlainClick } from "@/lib/pages/browser/focus_client.ts";
import { campaignPath, loginPath, type NamedCampaign } from "@/lib/pages/page_paths.ts";
import { LABELS } from "@/lib/pages/page_sentences.ts";
import { SHORTCUT_LABELS } from "@/lib/pages/shortcuts.ts";
import type { ViewerCommand } from "@/lib/pages/viewer/viewer_keys.ts";
import { VIEWER_LABELS, type ViewerProblem, viewerProblemSentence } from "@/lib/pages/viewer/viewer_sentences.ts";
import { Icon, ToolButton } from "@/components/icon.tsx";

interface ViewerToolsProps {
  readonly title: string;
  /** The volume that the manifest is of; null: its address does not say. */
  readonly volume: string | null;
  /** Labels of the pages that are shown. */
  readonly pages: readonly string[];
  /** The required statement of the manifest, else its provider. */
  readonly note: string;
  /** The campaign that the reader comes from. */
  readonly campaign: NamedCampaign | null;
  /** Address of the volume's run log; null: it is not known. */
  readonly runLog: string | null;
  readonly panels: ViewerPanels;
  readonly run: (command: ViewerCommand) => void;
  /** Stands before the buttons. */
  readonly children?: ComponentChildren;
}

/** The bar above the image: title, links, search and the panel buttons, which on a phone are in the dock. */
export function ViewerTools(
  { title, volume, pages, note, campaign, runLog, panels, run, children }: ViewerToolsProps,
) {
  const back = campaign === null ? LABELS.toCampaigns : VIEWER_LABELS.backTo(campaign.name);
  const words = [volume === title ? null : volume, ...pages, note].filter(Boolean);
  return (
    <div class="viewer-tools">
      <a
        class="btn square"
        href={campaign === null ? "/" : campaignPath(campaign.namespace, campaign.name)}
        aria-label={back}
        title={back}
      >
        <Icon name="previous" />
      </a>
      <div class="title">
        <h1 title={title}>{title}</h1>
        <p title={words.join(" · ")}>
          {words.map((word, place) => [place > 0 && " · ", <span key={place}>{word}</span>])}
        </p>
      </div>
      {runLog !== null && (
        <a class="btn square" href={runLog} aria-label={LABELS.runLog} title={LABELS.runLog}>
          <Icon name="log" />
        </a>
      )}
      {children}
      <div class="panels needs-scripts">
        <PanelButtons panels={panels} run={run} />
        <ToolButton icon="keys" name={SHORTCUT_LABELS.shortcuts} shortcut="?" onClick={() => run("help")} />
      </div>
    </div>
  );
}

/** Says which pages have no text, with links to them; nothing where all have one. */
export function UnreadPages({ store }: { readonly store: ViewerStore }) {
  const unread = store.unread.value;
  const canvases = store.manifest.value?.canvases ?? [];
  const indexes = [...unread.keys()];
  const failed = indexes.filter((index) => unread.get(index) !== null);
  const other = indexes.filter((index) => unread.get(index) === null);
  // A volume of which no page was tried is one that was not read.
  if (unread.size === 0 || other.length === canvases.length) return null;
  return (
    <div class="unread">
      {failed.length > 0 && (
        <NamedPages words={VIEWER_LABELS.failedPages(failed.length)} indexes={failed} store={store} />
      )}
      {other.length > 0 && <NamedPages words={VIEWER_LABELS.unreadPages(other.length)} indexes={other} store={store} />}
    </div>
  );
}

/** Most pages that are named in a sentence. */
const MAX_NAMED = 8;

interface NamedPagesProps {
  readonly words: string;
  /** Indexes of canvases. */
  readonly indexes: readonly number[];
  readonly store: ViewerStore;
}

function NamedPages({ words, indexes, store }: NamedPagesProps) {
  const rest = indexes.length - MAX_NAMED;
  return (
    <p>
      {words}: {indexes.slice(0, MAX_NAMED).map((index, place) => (
        <span key={index}>
          {place > 0 && ", "}
          <a href={store.addressOf(index)} onClick={onPlainClick(() => store.goTo(index))}>
            {store.manifest.value?.canvases[index].label}
          </a>
        </span>
      ))}
      {rest > 0 && ` ${VIEWER_LABELS.morePages(rest)}`}
    </p>
  );
}

type PanelButtonsProps = Pick<ViewerToolsProps, "panels" | "run">;

/** The buttons of what can be shown beside the page. */
function PanelButtons({ panels, run }: PanelButtonsProps) {
  const { thumbnails, text, about } = VIEWER_LABELS;
  const button = (panel: PanelName, name: string, shortcut: string) => (
    <ToolButton
      icon={panel}
      name={name}
      shortcut={shortcut}
      pressed={panels.isOpen(panel)}
      onClick={() => run(panel)}
    />
  );
  return (
    <>
      {button("thumbnails", thumbnails, "M")}
      {button("text", text, "T")}
      <ToolButton icon="about" name={about} shortcut="I" onClick={() => run("about")} />
    </>
  );
}

interface PageDockProps extends PanelButtonsProps {
  readonly store: ViewerStore;
  /** Percent of the image's own pixels; null: not known. */
  readonly zoom: number | null;
  readonly canFullScreen: boolean;
}

/** The controls of the page and of the view, below the image; on a phone also those of the panels. */
export function PageDock({ store, zoom, canFullScreen, panels, run }: PageDockProps) {
  const order = store.order.value;
  const count = order.length;
  /** Numbers of the pages that are shown, from 1, in reading order. */
  const numbers = store.shownInOrder.value.map((index) => (store.positions.value.get(index) ?? 0) + 1);
  const field = useRef<HTMLInputElement>(null);
  // Another page replaces what was typed. The field itself stays, and the focus in it.
  useLayoutEffect(() => {
    if (!field.current) return;
    field.current.value = numbers.join("–");
    if (field.current === document.activeElement) field.current.select();
  }, [numbers.join()]);
  const previous = {
    name: VIEWER_LABELS.previousPage,
    disabled: !store.hasPrevious.value,
    onClick: () => store.turn(-1),
  };
  const next = { name: VIEWER_LABELS.nextPage, disabled: !store.hasNext.value, onClick: () => store.turn(1) };
  const [left, right] = store.isRightToLeft.value ? [next, previous] : [previous, next];
  /** Goes to the page number in the field; resets an invalid one. */
  const goToNumber = (field: HTMLInputElement) => {
    const number = /^\s*(\d+)/.exec(field.value)?.[1];
    const wanted = number === undefined ? numbers[0] : Math.max(1, Math.min(count, Number(number)));
    if (numbers.includes(wanted)) field.value = numbers.join("–");
    else store.goTo(order[wanted - 1]);
  };
  return (
    <div class="dock" role="toolbar" aria-label={VIEWER_LABELS.pageAndView}>
      <ToolButton icon="previous" shortcut="←" {...left} />
      <form
        class="number"
        onSubmit={(event) => {
          event.preventDefault();
          if (field.current) goToNumber(field.current);
        }}
      >
        <label>
          <span class="sr">{VIEWER_LABELS.page}</span>
          <input
            ref={field}
            inputMode="numeric"
            autocomplete="off"
            maxLength={6}
            size={Math.max(3, String(count).length, numbers.join("–").length)}
            defaultValue={numbers.join("–")}
            onFocus={(event) => event.currentTarget.select()}
            onBlur={(event) => goToNumber(event.currentTarget)}
          />
          <span>{VIEWER_LABELS.ofPages(count)}</span>
        </label>
      </form>
      <ToolButton icon="next" shortcut="→" {...right} />
      <hr />
      <ToolButton icon="minus" name={VIEWER_LABELS.zoomOut} shortcut="−" onClick={() => run("zoomOut")} />
      <button class="btn zoom" type="button" title={`${VIEWER_LABELS.wholePage} (0)`} onClick={() => run("wholePage")}>
        <Icon name="wholePage" />
        <span class="sr">{VIEWER_LABELS.zoomIs}</span> <span class="percent">{zoom === null ? "–" : `${zoom} %`}</span>
      </button>
      <ToolButton icon="plus" name={VIEWER_LABELS.zoomIn} shortcut="+" onClick={() => run("zoomIn")} />
      <hr />
      <ToolButton icon="rotate" name={VIEWER_LABELS.rotate} shortcut="R" onClick={() => run("rotate")} />
      {count > 1 && (
        <ToolButton
          icon="spread"
          name={VIEWER_LABELS.sideBySide}
          pressed={store.isSpread.value}
          onClick={() => store.isSpread.value = !store.isSpread.value}
        />
      )}
      {canFullScreen && (
        <ToolButton
          icon="fullScreen"
          name={VIEWER_LABELS.fullScreen}
          shortcut="F"
          onClick={() => run("fullScreen")}
        />
      )}
      <span class="sheets">
        <PanelButtons panels={panels} run={run} />
      </span>
    </div>
  );
}

interface ViewerProblemProps {
  readonly problem: ViewerProblem;
  /** Address of the manifest; null where none is named. */
  readonly url: string | null;
  /** The file is one of this site's results, so that its login is ours. */
  readonly isOurs: boolean;
  readonly onRetry: () => void;
  readonly onOpen: (url: string) => void;
}

/** Shown in place of the image while there is no manifest: the reason, and the next steps. */
export function ViewerProblemNotice({ problem, url, isOurs, onRetry, onOpen }: ViewerProblemProps) {
  const needsLogin = isOurs && (problem === 401 || problem === 403);
  return (
    <div class="viewer-problem">
      <p role="alert">{viewerProblemSentence(problem, isOurs)}</p>
      {url === null
        ? (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              onOpen(String(new FormData(event.currentTarget).get("manifest")));
            }}
          >
            <label>
              {VIEWER_LABELS.manifestAddress}
              <input name="manifest" type="url" required />
            </label>
            <button class="btn" type="submit">{VIEWER_LABELS.open}</button>
          </form>
        )
        : (
          <p class="ways">
            {needsLogin && (
              <a class="btn" href={loginPath(location.pathname + location.search + location.hash)}>{LABELS.logIn}</a>
            )}
            <button class="btn" type="button" onClick={onRetry}>{VIEWER_LABELS.tryAgain}</button>
            <a class="btn" href={url} rel="noreferrer">{VIEWER_LABELS.openFile}</a>
          </p>
        )}
      <p>
        <a href="/">{LABELS.toCampaigns}</a>
      </p>
    </div>
  );
}
