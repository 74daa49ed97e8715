import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { type ListAddress, listPath, REAPED_PAGE, withOlder } from "@/lib/presentation/list_address.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";

interface OlderLinkProps {
  readonly address: ListAddress;
  /** Campaigns before the first one shown, for readers without scripts. */
  readonly from: number;
  /** Campaigns that can be added. */
  readonly older: number;
  /** They are being read. */
  readonly loading: boolean;
  readonly onShow: () => void;
}

/** Adds the next older campaigns to the list: by its address without scripts, and in a new tab. */
export function OlderLink({ address, from, older, loading, onShow }: OlderLinkProps) {
  if (older === 0) return null;
  const show = (event: MouseEvent) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (!loading) onShow();
  };
  return (
    <p class="older">
      <a class="btn" href={listPath(withOlder(address), from)} aria-disabled={loading} onClick={show}>
        {loading
          ? LABELS.loading
          : LABELS.olderCampaigns(formatCount(Math.min(REAPED_PAGE, older)), formatCount(older))}
      </a>
    </p>
  );
}
