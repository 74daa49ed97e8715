import { effect, useComputed, useSignal, useSignalEffect } from "@preact/signals";
import { useEffect, useLayoutEffect, useMemo, useRef } from "preact/hooks";

import { BoardFilter } from "@/components/board_filter.tsx";
import { CampaignCard } from "@/components/campaign_card.tsx";
import { BoardStore, type FirstList, type ListTrouble, OLDER_PAGE } from "@/lib/client/board_store.ts";
import { campaignApi } from "@/lib/client/campaign_api.ts";
import type { CardStore } from "@/lib/client/card_store.ts";
import { isRememberedOpen, rememberOpen } from "@/lib/client/fold_memory.ts";
import { goToLogin } from "@/lib/client/go_to_login.ts";
import { island } from "@/lib/client/island.tsx";
import { watchOnScreen } from "@/lib/client/on_screen.ts";
import { browserClock } from "@/lib/client/poller.ts";
import { renderAgain, renderedWithSession } from "@/lib/client/render_again.ts";
import { ScrollAnchor } from "@/lib/client/scroll_anchor.ts";
import { apiBase } from "@/lib/client/site_settings.ts";
import { campaignKey } from "@/lib/presentation/campaign_order.ts";
import { formatCount } from "@/lib/presentation/figures.ts";
import { formatClock, type MomentStyle } from "@/lib/presentation/moments.ts";
import { LABELS, SENTENCES, skippedCampaignsSentence } from "@/lib/presentation/page_sentences.ts";
import { favicon, pageTitle } from "@/lib/presentation/page_tab.ts";

export type CampaignBoardProps = {
  /** What the server could read; null: nothing, and the browser asks. */
  readonly first: FirstList | null;
  /** Why there is nothing yet. */
  readonly problem: string | null;
  /** The server's clock, ms since 1970. */
  readonly renderedAt: number;
};

/** The list of campaigns, kept up to date by reading it again and again. */
export default island("campaign_board", function CampaignBoard({ first, problem, renderedAt }: CampaignBoardProps) {
  const anchor = useRef<ScrollAnchor | null>(null);
  const board = useMemo(() =>
    new BoardStore(first, {
      api: campaignApi(apiBase(), (...request) => fetch(...request)),
      clock: browserClock,
      onLogin: goToLogin,
      onOrder: () => anchor.current = ScrollAnchor.take(),
    }), []);
  // The server writes in UTC; the reader's zone is known once the island is awake.
  const style = useSignal<MomentStyle>({ zone: "UTC", now: renderedAt });
  const isAnonymous = first === null && problem === null;

  // The banner above the cards comes and goes. A plain effect sees that before the page changes, `useSignalEffect` after.
  useEffect(() => {
    let isFirst = true;
    return effect(() => {
      void [board.trouble.value, board.drifted.value, board.skipped.value];
      if (!isFirst) anchor.current ??= ScrollAnchor.take();
      isFirst = false;
    });
  }, []);

  useLayoutEffect(() => {
    anchor.current?.restore();
    anchor.current = null;
  });

  // Before the cards' own effects: a remembered card would be read in a hidden tab.
  useLayoutEffect(() => {
    if (document.hidden) board.setHidden(true);
  }, []);

  useEffect(() => {
    style.value = { zone: Intl.DateTimeFormat().resolvedOptions().timeZone, now: Date.now() };
    const follow = () => board.setHidden(document.hidden);
    document.addEventListener("visibilitychange", follow);
    if (!isAnonymous) renderedWithSession();
    board.start();
    return () => {
      document.removeEventListener("visibilitychange", follow);
      board.stop();
    };
  }, []);

  useSignalEffect(() => {
    const troubled = board.troubled.value;
    document.title = pageTitle(LABELS.campaigns, troubled);
    document.querySelector("link[rel=icon]")?.setAttribute("href", favicon(troubled));
  });

  useSignalEffect(() => {
    if (isAnonymous && board.readAt.value !== null) renderAgain();
  });

  const shown = board.shown.value;
  const isKnown = board.readAt.value !== null;
  return (
    <>
      <div class="head">
        <div>
          <h1>{LABELS.campaigns}</h1>
          <p>
            {isKnown
              ? LABELS.shownOf(formatCount(shown.length), formatCount(board.jobs.value.length + board.older.value))
              : "\u00a0"}
            {isKnown && (
              <>
                {` · ${LABELS.updated} `}
                <span class="clock">{formatClock(board.readAt.value ?? 0, style.value.zone)}</span>
              </>
            )}
            {isKnown && <span class="without-scripts">{LABELS.timesAreUtc}</span>}
          </p>
        </div>
        <BoardFilter
          jobs={board.jobs.value}
          segment={board.segment.value}
          text={board.text.value}
          onSegment={(segment) => board.segment.value = segment}
          onText={(text) => board.text.value = text}
        />
      </div>
      <Banner
        trouble={board.trouble.value}
        problem={isKnown ? null : problem}
        readAt={board.readAt.value}
        skipped={board.skipped.value}
        drifted={board.drifted.value}
        zone={style.value.zone}
        onSort={() => board.sort()}
      />
      <div class="cards">
        {shown.map((card) => (
          <LiveCard
            key={campaignKey(card.summary.value)}
            card={card}
            style={style.value}
            spansNamespaces={board.spansNamespaces.value}
          />
        ))}
      </div>
      {!isKnown && isAnonymous && (
        <p class="empty">
          <a href="/login">{LABELS.logIn}</a> {LABELS.toSeeCampaigns}
        </p>
      )}
      {isKnown && shown.length === 0 && <p class="empty">{emptyWords(board)}</p>}
      {board.older.value > 0 && (
        <div class="needs-scripts flex justify-center pt-3 pb-1">
          <button class="btn" type="button" disabled={board.loadingOlder.value} onClick={() => board.showOlder()}>
            {board.loadingOlder.value
              ? LABELS.loading
              : LABELS.olderCampaigns(String(Math.min(OLDER_PAGE, board.older.value)), formatCount(board.older.value))}
          </button>
        </div>
      )}
    </>
  );
});

type BannerProps = {
  readonly trouble: ListTrouble | null;
  /** Why there is no list at all. */
  readonly problem: string | null;
  readonly readAt: number | null;
  readonly skipped: number;
  readonly drifted: boolean;
  readonly zone: string;
  readonly onSort: () => void;
};

/** What is wrong with the list as a whole, in a place of its own above it. */
function Banner({ trouble, problem, readAt, skipped, drifted, zone, onSort }: BannerProps) {
  const sentence = trouble?.sentence ?? problem;
  return (
    <>
      {sentence !== null && (
        <p class="banner bad" role="alert">
          {sentence}
          {readAt !== null && ` ${LABELS.listIsOf(formatClock(readAt, zone))}`}
          {trouble?.nextAt && ` ${LABELS.listReadAgain(formatClock(trouble.nextAt, zone))}`}
        </p>
      )}
      {skipped > 0 && (
        <p class="banner warn" role="status">
          {skippedCampaignsSentence(skipped)}
        </p>
      )}
      {drifted && (
        <p class="banner">
          {SENTENCES.orderOfLastVisit}{" "}
          <button class="btn small" type="button" onClick={onSort}>{LABELS.sortAgain}</button>
        </p>
      )}
    </>
  );
}

type LiveCardProps = {
  readonly card: CardStore;
  readonly style: MomentStyle;
  readonly spansNamespaces: boolean;
};

function LiveCard({ card, style, spansNamespaces }: LiveCardProps) {
  const place = useRef<HTMLDivElement>(null);
  const open = useComputed(() => card.open.value);
  useEffect(() => {
    card.setOpen(isRememberedOpen(card.summary.value));
    return place.current ? watchOnScreen(place.current, (onScreen) => card.setOnScreen(onScreen)) : undefined;
  }, [card]);
  return (
    <div ref={place} class="place">
      <CampaignCard
        job={card.summary.value}
        detail={card.detail.value}
        volumes={card.volumes.value}
        remaining={card.remaining.value}
        loadingMore={card.loadingMore.value}
        trouble={card.trouble.value}
        open={open.value}
        spansNamespaces={spansNamespaces}
        style={style}
        onFold={() => {
          card.setOpen(!card.open.value);
          rememberOpen(card.summary.value, card.open.value);
        }}
        onLoadMore={() => card.loadMore()}
      />
    </div>
  );
}

function emptyWords(board: BoardStore): string {
  if (board.jobs.value.length > 0) return SENTENCES.noMatch;
  return SENTENCES.noCampaigns;
}
