import { BOARD_LABELS } from "@/lib/presentation/board_sentences.ts";
import { type ListAddress, listPath } from "@/lib/presentation/list_address.ts";
import { FIRST_CARDS } from "@/lib/presentation/list_page.ts";

interface PageLinksProps {
  readonly address: ListAddress;
  /** Campaigns before the first one shown. */
  readonly from: number;
  /** Campaigns that this page shows. */
  readonly sent: number;
  readonly matching: number;
}

/** The way through a long list for readers without scripts. */
export function PageLinks({ address, from, sent, matching }: PageLinksProps) {
  const next = from + sent;
  if (from === 0 && next >= matching) return null;
  return (
    <nav class="without-scripts page-links" aria-label={BOARD_LABELS.pages}>
      {from > 0 && <a href={listPath(address, Math.max(0, from - FIRST_CARDS))}>{BOARD_LABELS.previousPage}</a>}
      {next < matching && <a href={listPath(address, next)}>{BOARD_LABELS.nextPage}</a>}
    </nav>
  );
}
