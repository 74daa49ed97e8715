import { formatDuration } from "@/lib/presentation/durations.ts";
import { formatQuality } from "@/lib/presentation/locale/figures.ts";
import type { NamedCampaign } from "@/lib/presentation/named_campaign.ts";
import { altoPath } from "@/lib/presentation/page_paths.ts";
import { LOG_LABELS } from "@/lib/presentation/run_log/words.ts";
import type { RunPage } from "@/lib/presentation/run_manifest/run_manifest.ts";
import { pageAltoUrl } from "@/lib/presentation/run_manifest/run_manifest.ts";
import type { PageOrder } from "@/lib/presentation/run_manifest/run_summary.ts";
import { PAGE_ORDER_WORDS } from "@/lib/presentation/run_manifest/words.ts";
import { Chip } from "./chip.tsx";
import { PageLink } from "./page_link.tsx";

interface PageTableProps {
  /** In the order in which they are shown. */
  readonly pages: readonly RunPage[];
  readonly viewerUrl: string | null;
  /** The one that the reader comes from. */
  readonly campaign: NamedCampaign | null;
  readonly order: PageOrder;
  readonly onOrder: (order: PageOrder) => void;
}

/** Every page of a run with what came of it; its columns order it. */
export function PageTable({ pages, viewerUrl, campaign, order, onOrder }: PageTableProps) {
  const header = (column: PageOrder) => (
    <th
      scope="col"
      class={column === "page" ? "" : "text-right"}
      aria-sort={order !== column ? undefined : column === "seconds" ? "descending" : "ascending"}
    >
      <button type="button" onClick={() => onOrder(column)}>{PAGE_ORDER_WORDS[column]}</button>
    </th>
  );
  return (
    <table class="run-pages">
      <thead>
        <tr>
          {header("page")}
          <th scope="col">{LOG_LABELS.state}</th>
          {header("seconds")}
          {header("quality")}
          <th scope="col">{LOG_LABELS.files}</th>
        </tr>
      </thead>
      <tbody>
        {pages.map((page) => <PageRow key={page.name} page={page} viewerUrl={viewerUrl} campaign={campaign} />)}
      </tbody>
    </table>
  );
}

type PageRowProps = Pick<PageTableProps, "viewerUrl" | "campaign"> & { readonly page: RunPage };

function PageRow({ page, viewerUrl, campaign }: PageRowProps) {
  const { name, status, seconds, quality, error, sourceUrl } = page;
  const altoUrl = status === "failed" ? null : pageAltoUrl(viewerUrl, name);
  return (
    <>
      <tr>
        <th scope="row">
          <PageLink page={page} viewerUrl={viewerUrl} campaign={campaign} />
        </th>
        <td>
          {status === "failed"
            ? <Chip text={LOG_LABELS.pageLost} tone="warn" />
            : status === "ok"
            ? LOG_LABELS.pageRead
            : LOG_LABELS.pageReadEarlier}
        </td>
        <td class="text-right whitespace-nowrap">
          {seconds === null || status === "skipped" ? "–" : formatDuration(seconds)}
        </td>
        <td class="text-right">{quality === null ? "–" : formatQuality(quality)}</td>
        <td class="files">
          {altoUrl !== null && (
            <a href={altoPath(altoUrl, campaign)} aria-label={LOG_LABELS.textOf(name)}>{LOG_LABELS.text}</a>
          )}
          {sourceUrl !== null && (
            <a href={sourceUrl} rel="noreferrer" aria-label={LOG_LABELS.imageOf(name)}>{LOG_LABELS.image}</a>
          )}
        </td>
      </tr>
      {error !== null && (
        <tr class="error">
          <td class="sub bad" colSpan={5}>{error}</td>
        </tr>
      )}
    </>
  );
}
