import { useSignal } from "@preact/signals";

import type { RunManifestState } from "@/lib/pages/log/run_manifest_reader_client.ts";
import { formatCount, formatQuality } from "@/lib/pages/locale/figures.ts";
import { formatDuration } from "@/lib/pages/moments.ts";
import { altoPath, type NamedCampaign, viewerPath } from "@/lib/pages/page_paths.ts";
import type { RunLog } from "@/lib/pages/log/run_log.ts";
import { LOG_LABELS, LOG_SENTENCES } from "@/lib/pages/log/log_sentences.ts";
import {
  orderPages,
  PAGE_ORDER_WORDS,
  pageAltoUrl,
  type PageOrder,
  pageWords,
  QUALITY_STEP_WORDS,
  QUALITY_STEPS,
  qualityStep,
  type RunManifest,
  type RunPage,
  type RunSummary as Summary,
} from "@/lib/pages/log/run_manifest.ts";
import { Chip } from "@/components/chip.tsx";
import { Figure } from "@/components/figure.tsx";

interface RunFiguresProps {
  /** The run's manifest and its sums; null while they are not known. */
  readonly run: { readonly manifest: RunManifest; readonly summary: Summary } | null;
  /** The log, for the time before there is a manifest; null while it is not known. */
  readonly log: RunLog | null;
  /** The run still writes. */
  readonly isLive: boolean;
  /** The manifest is being read: its figures keep their places. */
  readonly isExpected: boolean;
}

/** The figures of a run in one strip. */
export function RunFigures({ run, log, isLive, isExpected }: RunFiguresProps) {
  const summary = run?.summary;
  const seconds = (value: number | null | undefined) => typeof value === "number" ? formatDuration(value) : "–";
  const skipped = summary?.skipped ?? 0;
  const pageCount = run?.manifest.pageCount ?? log?.pageCount ?? null;
  return (
    <dl class="figures needs-scripts" aria-label={LOG_LABELS.runTotals}>
      <Figure label={isLive && !run ? LOG_LABELS.tookSoFar : LOG_LABELS.took}>
        {seconds(summary?.totalSeconds ?? spanOf(log))}
      </Figure>
      {run || isExpected
        ? (
          <>
            <Figure
              label={LOG_LABELS.pagesRead + (skipped > 0 ? `, ${LOG_LABELS.readEarlierBy(formatCount(skipped))}` : "")}
            >
              {run ? formatCount(run.summary.ok + skipped) : "–"}
              {pageCount !== null && <small>{LOG_LABELS.of(formatCount(pageCount))}</small>}
            </Figure>
            <Figure label={LOG_LABELS.pagesLost} tone={summary && summary.failed > 0 ? "warn" : ""}>
              {summary ? formatCount(summary.failed) : "–"}
            </Figure>
            <Figure label={LOG_LABELS.medianSeconds}>{seconds(summary?.median)}</Figure>
            <Figure label={LOG_LABELS.p95Seconds}>{seconds(summary?.p95)}</Figure>
          </>
        )
        : <Figure label={LOG_LABELS.pages}>{pageCount === null ? "–" : formatCount(pageCount)}</Figure>}
      {typeof summary?.meanQuality === "number" && (
        <Figure
          label={LOG_LABELS.quality + (typeof summary.minQuality === "number"
            ? `, ${LOG_LABELS.lowestQuality} ${formatQuality(summary.minQuality)}`
            : "")}
        >
          {formatQuality(summary.meanQuality)}
        </Figure>
      )}
    </dl>
  );
}

/** Seconds between the first record of the log and the last. */
function spanOf(log: RunLog | null): number | null {
  return log?.startedAt == null || log.endedAt === null ? null : Math.max(0, log.endedAt - log.startedAt) / 1000;
}

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

/** The pages in a run's manifest. */
export function RunSummary({ state, summary, campaign, isLive }: RunSummaryProps) {
  const order = useSignal<PageOrder>("page");
  const rows = useSignal(FIRST_ROWS);
  if (state.kind === "problem") return <p class="banner">{state.sentence}</p>;
  if (state.kind === "absent") {
    return <p class="note">{isLive ? LOG_SENTENCES.runManifestLater : LOG_SENTENCES.noRunManifest}</p>;
  }
  if (state.kind === "reading" || !summary) return <p class="note needs-scripts">{LOG_SENTENCES.readingRunManifest}</p>;
  const { pages, viewerUrl } = state.manifest;
  const target = { viewerUrl, campaign };
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
                <PageLink page={page} {...target} />
                <span>{formatDuration(Number(page.seconds))}</span>
              </li>
            ))}
          </ol>
        </section>
      )}
      <section>
        <h2>{LOG_LABELS.allPages(formatCount(pages.length))}</h2>
        <p class="note">{LOG_SENTENCES.pageGrid}</p>
        <PageGrid pages={pages} {...target} maxSeconds={summary.max} />
      </section>
      <details>
        <summary>
          <h2>{LOG_LABELS.pagesAsTable}</h2>
        </summary>
        <PageTable
          pages={orderPages(pages, order.value).slice(0, rows.value)}
          {...target}
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

interface PageGridProps extends PageLinkTarget {
  readonly pages: readonly RunPage[];
  /** The longest that a page took, seconds. */
  readonly maxSeconds: number | null;
}

/** The least height of a page's bar, of the highest one: a quick page is still seen. */
const LEAST_HEIGHT = 0.12;

/**
 * A bar for each page: as high as the page was slow, in the colour of its quality. The table of pages says the same in
 * words, so the grid is for the eye and the pointer. A page is one element: a volume may have thousands.
 */
export function PageGrid({ pages, viewerUrl, campaign, maxSeconds }: PageGridProps) {
  const steps = pages.map(qualityStep);
  return (
    <>
      <div class="page-grid" aria-hidden="true">
        {pages.map((page, place) => {
          const { name, seconds, canvas } = page;
          const part = maxSeconds && seconds !== null ? Math.max(LEAST_HEIGHT, seconds / maxSeconds) : LEAST_HEIGHT;
          const href = viewerUrl !== null && canvas !== null ? viewerPath(viewerUrl, canvas, campaign) : undefined;
          return (
            <a
              key={name}
              class={steps[place]}
              href={href}
              title={pageWords(page)}
              style={{ "--part": part }}
              tabIndex={-1}
            />
          );
        })}
      </div>
      <ul class="page-grid-key">
        {QUALITY_STEPS.filter((step) => steps.includes(step)).map((step) => (
          <li key={step} class={step}>
            {QUALITY_STEP_WORDS[step]}: {formatCount(steps.filter((other) => other === step).length)}
          </li>
        ))}
      </ul>
    </>
  );
}

interface PageTableProps extends PageLinkTarget {
  /** In the order in which they are shown. */
  readonly pages: readonly RunPage[];
  readonly order: PageOrder;
  readonly onOrder: (order: PageOrder) => void;
}

/** Every page of a run with what came of it; its columns order it. */
export function PageTable({ pages, order, onOrder, ...target }: PageTableProps) {
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
        {pages.map((page) => <PageRow key={page.name} page={page} {...target} />)}
      </tbody>
    </table>
  );
}

function PageRow({ page, viewerUrl, campaign }: PageLinkTarget & { readonly page: RunPage }) {
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

interface PageLinkTarget {
  /** The volume's manifest; null where the run names none. */
  readonly viewerUrl: string | null;
  /** The one that the reader comes from. */
  readonly campaign: NamedCampaign | null;
}

/** The name of a page, which leads to it in the manifest viewer where the volume's manifest shows it. */
function PageLink({ page, viewerUrl, campaign }: PageLinkTarget & { readonly page: RunPage }) {
  const { name, canvas } = page;
  if (viewerUrl === null || canvas === null) return <span class="vid">{name}</span>;
  return <a class="vid" href={viewerPath(viewerUrl, canvas, campaign)}>{name}</a>;
}
