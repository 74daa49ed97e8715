import { useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import {
  BoardFigures,
  BoardFilter,
  BoardStatus,
  Introduction,
  OlderLink,
  PageLinks,
} from "@/components/campaigns/board_parts.tsx";
import { ShortcutList } from "@/components/shortcut_list.tsx";
import { CardList, type ListSteps } from "@/components/campaigns/card_list.tsx";
import { loadOpenZones, openZones } from "@/components/campaigns/live_card.tsx";
import { BoardStore, type FirstList } from "@/lib/pages/campaigns/board_store_client.ts";
import { store } from "@/lib/pages/browser/browser_memory_client.ts";
import { apiBase, campaignApi } from "@/lib/pages/campaigns/campaign_api_client.ts";
import { useShortcuts } from "@/lib/pages/browser/shortcuts_client.ts";
import { island } from "@/lib/pages/browser/island.tsx";
import { isReturn, storedList } from "@/lib/pages/campaigns/list_memory_client.ts";
import { ListHistory, ListReturn, ScrollAnchor } from "@/lib/pages/campaigns/list_places_client.ts";
import { browserClock } from "@/lib/pages/browser/poller_client.ts";
import { readerMoments } from "@/lib/pages/browser/reader_moments_client.ts";
import { goToLogin, renderAgain, renderedWithSession } from "@/lib/pages/browser/session_client.ts";
import { INTRODUCED_KEY } from "@/lib/pages/stored_names.ts";
import {
  campaignKey,
  jointPace,
  type ListAddress,
  listPath,
  NO_FILTER,
  REAPED_PAGE,
} from "@/lib/pages/campaigns/campaign_filter.ts";
import { BOARD_LABELS, LIST_KEY_WORDS } from "@/lib/pages/campaigns/campaign_sentences.ts";
import { formatCount } from "@/lib/pages/locale/figures.ts";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import { loginPath } from "@/lib/pages/page_paths.ts";
import { favicon, LABELS, pageTitle, SENTENCES } from "@/lib/pages/page_sentences.ts";
import type { Shortcut } from "@/lib/pages/shortcuts.ts";

export type CampaignBoardProps = {
  /** The list as the server read it; null: the browser reads it. */
  readonly first: FirstList | null;
  /** Which campaigns are shown, and in which order. */
  readonly address: ListAddress;
  /** Why there is nothing yet. */
  readonly problem: string | null;
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
};

/** The shortcuts of the list of campaigns, in the order in which they are listed. */
const LIST_SHORTCUTS = [
  { keys: ["/"], shown: "/", command: "filter", isCharacter: true },
  { keys: ["j"], shown: "J", command: "next", isCharacter: true },
  { keys: ["k"], shown: "K", command: "previous", isCharacter: true },
  { keys: ["o"], shown: "O", command: "fold", isCharacter: true },
  { keys: ["?"], shown: "?", command: "help", isCharacter: true },
] as const satisfies readonly Shortcut<string>[];
type ListCommand = typeof LIST_SHORTCUTS[number]["command"];

/** Interval of updating durations and ages. */
const MINUTE_MS = 60_000;

/** The list of campaigns, polled while it is open. */
export default island("campaign_board", function CampaignBoard(props: CampaignBoardProps) {
  const { first, address, problem, renderedAt } = props;
  const anchor = useRef<ScrollAnchor | null>(null);
  const steps = useRef<ListSteps | null>(null);
  const help = useRef<HTMLDialogElement>(null);
  const search = useRef<HTMLDivElement>(null);
  const board = useMemo(() =>
    new BoardStore(first, address, {
      api: campaignApi(apiBase(), (...request) => fetch(...request)),
      clock: browserClock,
      onLogin: goToLogin,
      onOrder: () => anchor.current = ScrollAnchor.take(),
    }), []);
  const addresses = useMemo(() => new ListHistory((address) => board.show(address)), []);
  const back = useMemo(() => new ListReturn(), []);

  // The server renders in UTC; the reader's zone is known after hydration.
  const style = useSignal<MomentStyle>({ zone: "UTC", now: renderedAt });
  const pace = useComputed(() =>
    jointPace(
      board.cards.value.filter(({ summary }) => summary.value.phase === "Running").map(({ detail }) => detail.value),
      board.overview.value.running - board.overview.value.runningHeld,
    )
  );
  const isAnonymous = first === null && problem === null;

  const show = (next: ListAddress) => {
    const isText = next.filter.text !== board.filter.peek().text;
    board.show(next);
    addresses.write(next, isText);
  };
  const showOlder = () => {
    board.showOlder();
    addresses.replace(board.address);
  };
  const run = (command: ListCommand) => {
    const commands: Readonly<Record<ListCommand, () => void>> = {
      filter: () => search.current?.querySelector<HTMLInputElement>("input[type=search]")?.focus(),
      next: () => steps.current?.go(1),
      previous: () => steps.current?.go(-1),
      fold: () => steps.current?.fold(),
      help: () => help.current?.showModal(),
    };
    commands[command]();
  };
  const characterKeys = useShortcuts(LIST_SHORTCUTS, run);

  // Before the cards' effects: a remembered card would be read in a hidden tab.
  useLayoutEffect(() => {
    if (document.hidden) board.setHidden(true);
    const stored = storedList();
    if (!stored) return;
    const returns = isReturn();
    board.restoreViews(stored.views, returns);
    if (!returns) return;
    if (stored.place) back.begin(stored.place);
    if (stored.reaped > board.reaped.peek()) board.show({ ...board.address, reaped: stored.reaped });
  }, []);

  useEffect(() => {
    const tick = () => style.value = readerMoments();
    const follow = () => board.setHidden(document.hidden);
    const online = () => {
      board.readNow();
      if (openZones.value === "failed") loadOpenZones();
    };
    tick();
    const ticking = setInterval(tick, MINUTE_MS);
    const stopHistory = addresses.start();
    const listening = new AbortController();
    document.addEventListener("visibilitychange", follow, listening);
    addEventListener("online", online, listening);
    // The reader may have typed before hydration.
    const typed = search.current?.querySelector<HTMLInputElement>("input[type=search]")?.value ?? address.filter.text;
    if (typed !== address.filter.text) show({ ...address, filter: { ...address.filter, text: typed } });
    if (!isAnonymous) renderedWithSession();
    board.start();
    return () => {
      clearInterval(ticking);
      stopHistory();
      listening.abort();
      board.stop();
    };
  }, []);

  /** The key of the campaign in the address, until its card has been opened. */
  const requested = useRef<string | null>(null);
  useEffect(() => {
    requested.current = new URLSearchParams(location.search).get("open");
  }, []);
  useSignalEffect(() => {
    const card = board.cards.value.find(({ summary }) => campaignKey(summary.peek()) === requested.current);
    if (!card) return;
    const key = requested.current;
    requested.current = null;
    card.setOpen(true);
    if (key !== null && back.place.peek() === null) steps.current?.show(key);
  });

  useSignalEffect(() => {
    const { troubled } = board.overview.value;
    document.title = pageTitle(LABELS.campaigns, troubled);
    document.querySelector("link[rel=icon]")?.setAttribute("href", favicon(troubled));
  });

  useSignalEffect(() => {
    if (isAnonymous && board.readAt.value !== null) renderAgain();
  });

  const isKnown = board.readAt.value !== null;
  const outage = board.trouble.value?.sentence ?? (isKnown ? null : problem);
  const shown = board.address;
  const all = formatCount(board.overview.value.campaigns + board.older.value);
  const isFiltered = listPath({ ...shown, sort: "state", reaped: REAPED_PAGE }) !== "/";
  const shownCount = board.shown.value.length + board.unread.value;
  return (
    <>
      <Introduction onClose={closeIntroduction} />
      <h1 class="board-title">{LABELS.campaigns}</h1>
      {isKnown && <BoardFigures overview={board.overview.value} pace={pace.value} style={style.value} />}
      {isKnown && (
        <div ref={search}>
          <BoardFilter address={shown} overview={board.overview.value} onChange={show} />
        </div>
      )}
      {(isKnown || outage !== null) && (
        <BoardStatus
          board={board}
          outage={outage}
          zone={style.value.zone}
          summary={LABELS.shownOf(formatCount(shownCount), all)}
          showAll={isFiltered
            ? { path: listPath({ ...shown, filter: NO_FILTER }), label: BOARD_LABELS.showAll(all) }
            : null}
          onHelp={() => run("help")}
        />
      )}
      <p class="sr" role="status">{board.announcement.value}</p>
      <CardList board={board} style={style} anchor={anchor} back={back} steps={steps} />
      {first && <PageLinks address={address} from={first.from} sent={first.jobs.length} matching={first.matching} />}
      {!isKnown && isAnonymous && (
        <p class="empty">
          <a href={loginPath(listPath(address))}>{LABELS.logIn}</a> {LABELS.toSeeCampaigns}
        </p>
      )}
      {isKnown && shownCount === 0 && (
        <p class="empty">
          {board.overview.value.campaigns > 0 ? SENTENCES.noMatch : SENTENCES.noCampaigns}
          {board.overview.value.campaigns > 0 && board.older.value > 0 &&
            ` ${SENTENCES.olderUnsearched(board.older.value)}`}
        </p>
      )}
      <OlderLink board={board} from={first?.from ?? 0} onShow={showOlder} />
      <ShortcutList dialog={help} shortcuts={LIST_SHORTCUTS} words={LIST_KEY_WORDS} characterKeys={characterKeys} />
    </>
  );
});

/** Hides the introduction for good, and moves the focus to the page. */
function closeIntroduction(): void {
  document.documentElement.dataset.introduced = "";
  document.querySelector<HTMLElement>("main")?.focus({ preventScroll: true });
  store(INTRODUCED_KEY, "1");
}
