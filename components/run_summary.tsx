import { useSignal } from "@preact/signals";

import type { RunManifestState } from "@/lib/client/run_manifest_reader.ts";
import { formatDuration } from "@/lib/presentation/durations.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import type { NamedCampaign } from "@/lib/presentation/named_campaign.ts";
import { LOG_LABELS, LOG_SENTENCES } from "@/lib/presentation/run_log/words.ts";
import type { RunManifest } from "@/lib/presentation/run_manifest/run_manifest.ts";
import { orderPages, type PageOrder, type RunSummary as Summary } from "@/lib/presentation/run_manifest/run_summary.ts";
import { PageGrid } from "./page_grid.tsx";
import { PageLink } from "./page_link.tsx";
import { PageTable } from "./page_table.tsx";

/** Lost pages that are listed; the table has them all. */
const MAX_LOST = 10;
/** Rows of the table before the rest is asked for. */
const FIRST_ROWS = 50;

interface RunSummaryProps {
  readonly state: RunManifestState;
  readonly summary: Summary | null;
  /** The one that the reader comes from. */
  readonly campaign: NamedCampaign | null;
  /** Whether the run may still write its manifest. */
  readonly isLive: boolean;
}

/** What a run's manifest says of its pages. */
export function RunSummary({ state, summary, campaign, isLive }: RunSummaryProps) {
  if (state.kind === "problem") return <p class="banner">{state.sentence}</p>;
  if (state.kind === "absent") {
    return <p class="note">{isLive ? LOG_SENTENCES.runManifestLater : LOG_SENTENCES.noRunManifest}</p>;
  }
  if (state.kind === "reading" || !summary) return <p class="note needs-scripts">{LOG_SENTENCES.readingRunManifest}</p>;
  return <Summed manifest={state.manifest} summary={summary} campaign={campaign} />;
}

interface SummedProps extends Pick<RunSummaryProps, "campaign"> {
  readonly manifest: RunManifest;
  readonly summary: Summary;
}

function Summed({ manifest, summary, campaign }: SummedProps) {
  const order = useSignal<PageOrder>("page");
  const rows = useSignal(FIRST_ROWS);
  const { pages, viewerUrl } = manifest;
  if (pages.length === 0) return <p class="note">{LOG_SENTENCES.runWithoutPages}</p>;
  const hidden = pages.length - rows.value;
  const lost = pages.filter(({ status }) => status === "failed");
  return (
    <>
      {lost.length > 0 && (
        <section>
          <h2>{LOG_LABELS.lostPages(formatCount(lost.length))}</h2>
          <ul class="lost-pages">
            {lost.slice(0, MAX_LOST).map(({ name, error }) => (
              <li key={name}>
                <span class="vid">{name}</span> {error}
              </li>
            ))}
          </ul>
          {lost.length > MAX_LOST && <p class="note">{LOG_SENTENCES.moreLostPages}</p>}
        </section>
      )}
      {summary.slowest.length > 0 && (
        <section>
          <h2>{LOG_LABELS.slowestPages}</h2>
          <ol class="slowest">
            {summary.slowest.map((page) => (
              <li key={page.name}>
                <PageLink page={page} viewerUrl={viewerUrl} campaign={campaign} />
                <span>{formatDuration(Number(page.seconds))}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
      <section>
        <h2>{LOG_LABELS.allPages(formatCount(pages.length))}</h2>
        <p class="note">{LOG_SENTENCES.pageGrid}</p>
        <PageGrid pages={pages} viewerUrl={viewerUrl} campaign={campaign} maxSeconds={summary.max} />
      </section>
      <details>
        <summary>
          <h2>{LOG_LABELS.pagesAsTable}</h2>
        </summary>
        <PageTable
          pages={orderPages(pages, order.value).slice(0, rows.value)}
          viewerUrl={viewerUrl}
          campaign={campaign}
          order={order.value}
          onOrder={(chosen) => order.value = chosen}
        />
        {hidden > 0 && (
          <button class="btn small" type="button" onClick={() => rows.value = pages.length}>
            {LOG_LABELS.showOthers(formatCount(hidden))}
          </button>
        )}
      </details>
    </>
  );
}
