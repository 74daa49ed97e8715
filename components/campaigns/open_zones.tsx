import { useMemo, useRef } from "preact/hooks";

import type {
  JobDetail,
  JobSummary,
  PipelineModel,
  TimelineEntry,
  VolumeView,
} from "@/lib/campaigns/projection/types.ts";
import {
  type CardStore,
  MAX_VOLUMES_READ,
  type StoredView,
  VOLUMES_PAGE,
} from "@/lib/pages/campaigns/card_store_client.ts";
import { printAlone, usePrinting } from "@/lib/pages/browser/printing_client.ts";
import { saveFile } from "@/lib/pages/browser/save_file_client.ts";
import { atLeast, knowsPages } from "@/lib/pages/campaigns/campaign_progress.ts";
import { CARD } from "@/lib/pages/campaigns/campaign_sentences.ts";
import { isAtGate, isWhole } from "@/lib/pages/campaigns/campaign_state.ts";
import { formatCount, formatQuality } from "@/lib/pages/locale/figures.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import { formatClock, formatMoment, type MomentStyle } from "@/lib/pages/moments.ts";
import { type NamedCampaign, viewerPath } from "@/lib/pages/page_paths.ts";
import {
  csvName,
  inReadingOrder,
  isFilter,
  rowsAgree,
  type SegmentCount,
  segmentCounts,
  segmentOf,
  volumeHasWords,
  volumesCsv,
  withNamedRows,
} from "@/lib/pages/campaigns/volume_filter.ts";
import * as en from "@/locales/en/campaigns.ts";
import * as sv from "@/locales/sv/campaigns.ts";
import { Icon } from "@/components/icon.tsx";
import { Meter } from "@/components/meter.tsx";
import { Moment } from "@/components/moment.tsx";
import { VolumeTable } from "./volume_table.tsx";

interface BodyProps {
  readonly card: CardStore;
  readonly style: MomentStyle;
}

/** Totals, timeline and volumes of an open card. */
function Body({ card, style }: BodyProps) {
  const campaign = { job: card.summary.value, detail: card.detail.value };
  return (
    <>
      <CardTotals {...campaign} />
      <CardTimeline {...campaign} style={style} />
      <CardVolumes card={card} style={style} />
    </>
  );
}

/** The parts of an open card, loaded when the pointer or the focus enters the list: many visits open none. */
export const OPEN_ZONES = { Body, Provenance: CardProvenance };

interface CardTotalsProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
}

/** Volumes and pages of a campaign as two lines that keep their height; volumes only where there are several. */
export function CardTotals({ job, detail }: CardTotalsProps) {
  const { counts } = job;
  return (
    <dl class="totals">
      <div class={counts.total === 1 ? "without-scripts" : undefined}>
        <dt>{CARD.volumes}</dt>
        <dd>
          <Meter
            parts={[{ count: counts.done, tone: "done" }, { count: counts.failed, tone: "bad" }, {
              count: isAtGate(job) ? 0 : counts.active,
              tone: "run",
            }]}
            total={counts.total}
          />
        </dd>
        <dd class="num text-right whitespace-nowrap">{formatCount(counts.done)} / {formatCount(counts.total)}</dd>
        <dd class="lost">{counts.failed > 0 ? CARD.failed(formatCount(counts.failed)) : ""}</dd>
        <dd class="note">{counts.active > 0 ? CARD.active(formatCount(counts.active)) : ""}</dd>
      </div>
      <div class={detail ? undefined : "needs-scripts"}>
        <dt>{CARD.pages}</dt>
        <dd>
          <Meter
            parts={[{ count: detail?.pagesDone ?? 0, tone: job.phase === "Running" ? "run" : "done" }, {
              count: detail?.pagesFailed ?? 0,
              tone: "warn",
            }]}
            total={detail?.pagesTotal ?? 0}
          />
        </dd>
        <dd class="num text-right whitespace-nowrap">
          {detail && knowsPages(detail)
            ? `${atLeast(detail)(detail.pagesDone)} / ${atLeast(detail)(detail.pagesTotal)}`
            : "–"}
        </dd>
        <dd class="lost dots">{detail && <LostWords {...detail} />}</dd>
        <dd class="note dots">
          {detail && !isWhole(detail) && (
            <span>
              {CARD.countedIn(formatCount(detail.pagesCoverage.counted), detail.pagesCoverage.of)}
            </span>
          )}
          {typeof detail?.pace?.pagesPerMinute === "number" && (
            <span>{CARD.pagesPerMinute(formatCount(Math.round(detail.pace.pagesPerMinute)))}</span>
          )}
          {detail?.quality && <QualityNote quality={detail.quality} campaign={job} />}
        </dd>
      </div>
    </dl>
  );
}

function QualityNote({ quality, campaign }: {
  readonly quality: NonNullable<JobDetail["quality"]>;
  readonly campaign: NamedCampaign;
}) {
  return (
    <>
      <span>{CARD.quality} {formatQuality(quality.mean)}</span>
      {quality.lowest.length > 0 && (
        <span>
          {CARD.lowestQuality}{" "}
          {quality.lowest.map(({ volume, page, quality, canvas, iiifUrl }, place) => (
            <span key={`${volume}/${page}`}>
              {place > 0 && " "}
              <a
                href={viewerPath(iiifUrl, canvas, campaign)}
                title={CARD.pageOf(page, volume)}
                aria-label={`${formatQuality(quality)}, ${CARD.pageOf(page, volume)}`}
              >
                {formatQuality(quality)}
              </a>
            </span>
          ))}
        </span>
      )}
    </>
  );
}

function LostWords({ pagesFailed, errors }: JobDetail) {
  return (
    <>
      {pagesFailed > 0 && <span>{CARD.pagesLost(formatCount(pagesFailed), pagesFailed === 1)}</span>}
      {errors > 0 && <span title={CARD.loggedErrorsMean}>{CARD.loggedErrors(formatCount(errors), errors === 1)}</span>}
    </>
  );
}

interface CardTimelineProps extends CardTotalsProps {
  readonly style: MomentStyle;
}

/** The timeline of a campaign as a small chart, with a table for screen readers. */
function CardTimeline({ job, detail, style }: CardTimelineProps) {
  const chart = detail && timelineChart(detail);
  // A running campaign will have a timeline: reserve its space.
  if (!detail && job.phase === "Running" && job.counts.done > 0) {
    return (
      <div class="timeline" aria-hidden="true">
        <svg viewBox="0 0 1 1" />
        <span class="sub">&nbsp;</span>
      </div>
    );
  }
  if (!detail || !chart) return null;
  const { ended, failed, first, last, rows } = chart;
  return (
    <figure class="timeline">
      <svg viewBox={`0 -2 ${CHART.width} ${CHART.height + 4}`} preserveAspectRatio="none" aria-hidden="true">
        <polyline class="run" points={ended} />
        {last.volumesFailed > 0 && <polyline class="bad" points={failed} />}
      </svg>
      <figcaption class="sub">
        <Moment at={first.at} style={style} />
        <span>
          {CARD.endedVolumes(last.volumesDone + last.volumesFailed)}
          {last.volumesFailed > 0 && `, ${CARD.failed(formatCount(last.volumesFailed))}`}
        </span>
        <Moment at={last.at} since={first.at} style={style} />
      </figcaption>
      <div class="sr">
        <table>
          <caption>{CARD.courseOf(detail.name)}</caption>
          <thead>
            <tr>
              <th scope="col">{CARD.time}</th>
              <th scope="col">{CARD.volumesDone}</th>
              <th scope="col">{CARD.volumesFailed}</th>
              <th scope="col">{CARD.pagesDone}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ at, volumesDone, volumesFailed, pagesDone }) => (
              <tr key={at}>
                <th scope="row">{formatMoment(at, style)}</th>
                <td>{formatCount(volumesDone)}</td>
                <td>{formatCount(volumesFailed)}</td>
                <td>{formatCount(pagesDone)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </figure>
  );
}

/** Width and height of the chart, units of its view box. */
const CHART = { width: 600, height: 48 } as const;
/** Rows of the table beside the chart. */
const MAX_ROWS = 12;

/**
 * The timeline of a campaign as SVG points of ended and of failed volumes, and as rows of a table; null until it has two
 * moments.
 */
export function timelineChart({ timeline }: JobDetail) {
  const entries = timeline.filter(({ at }) => !Number.isNaN(Date.parse(at)));
  const [first, last] = [entries.at(0), entries.at(-1)];
  if (!first || !last) return null;
  const [begin, span] = [Date.parse(first.at), Date.parse(last.at) - Date.parse(first.at)];
  const most = Math.max(...entries.map(ended));
  if (span <= 0 || most <= 0) return null;
  const line = (count: (entry: TimelineEntry) => number) =>
    entries.map((entry) => {
      const x = CHART.width * (Date.parse(entry.at) - begin) / span;
      return `${x.toFixed(1)},${(CHART.height * (1 - count(entry) / most)).toFixed(1)}`;
    }).join(" ");
  const step = Math.ceil(entries.length / MAX_ROWS);
  const rows = entries.filter((_, place) => (entries.length - 1 - place) % step === 0);
  return { ended: line(ended), failed: line(({ volumesFailed }) => volumesFailed), first, last, rows };
}

function ended({ volumesDone, volumesFailed }: TimelineEntry): number {
  return volumesDone + volumesFailed;
}

/** Rows of a card that is not expanded, and placeholders for volumes before they are read. */
const SCREENFUL = 8;

/** The volumes of an open card: a filter, a screenful of those that need attention, the others on request. */
function CardVolumes({ card, style }: BodyProps) {
  const job = card.summary.value;
  const detail = card.detail.value;
  const volumes = card.volumes.value;
  const remaining = card.remaining.value;
  const trouble = card.trouble.value;
  const isLoadingMore = card.loadingMore.value;
  const view = card.view.value;
  const isPrinting = usePrinting().value;
  const table = useRef<HTMLDivElement>(null);

  const isRead = detail !== null && volumes.length > 0;
  const rows = useMemo(() => withNamedRows(volumes, isRead ? detail : null), [volumes, detail]);
  const ordered = useSteadyOrder(rows, () => table.current?.matches(":hover, :focus-within") ?? false);
  const matching = useMemo(() => chosenOf(ordered, view), [ordered, view.segment, view.text]);
  const counts = useMemo(() => {
    // Volumes after the first page are read again one page at a time: their states may be old ones.
    const isCurrent = volumes.length <= MAX_VOLUMES_READ || job.jobGone || rowsAgree(job, volumes);
    return segmentCounts(job, rows, { isAllLoaded: isRead && remaining === 0 && isCurrent });
  }, [job, rows, isRead, remaining]);
  const isFiltered = isFilter(view);
  const isWhole = view.isExpanded || isPrinting || matching.length <= SCREENFUL + 1;
  const shown = useMemo(() => isWhole ? matching : matching.slice(0, SCREENFUL), [matching, isWhole]);
  const isMissing = detail !== null && volumes.length === 0 && detail.volumes.length === 0;
  const placeholders = isRead || trouble || isMissing ? 0 : Math.min(job.counts.total, SCREENFUL);

  const save = async () => {
    const all = await card.loadAll();
    if (!all) return;
    const name = csvName(job.name, isFiltered ? CARD.shownFile : CARD.volumesFile);
    saveFile(name, volumesCsv(chosenOf(inReadingOrder(all), view)), "text/csv");
  };
  const printAll = async () => {
    if (await card.loadAll()) printAlone(table.current?.closest("[role=listitem]"));
  };

  return (
    <>
      {trouble && (
        <p class="problem" role="alert">
          {trouble.sentence}
          {trouble.asOf !== null && ` ${CARD.figuresAreOf(formatClock(trouble.asOf, style.zone))}`}
        </p>
      )}
      {isMissing && job.counts.total > 0 && <p class="note">{CARD.volumesGone}</p>}
      {(isRead || placeholders > 0) && (
        <>
          <VolumeFilter card={card} counts={counts} onCsv={save} onPrint={printAll} />
          <div ref={table}>
            <VolumeTable
              job={job}
              volumes={shown}
              placeholders={placeholders}
              now={style.now}
              whole={isPrinting}
              filter={`${view.segment} ${view.text}`}
            />
          </div>
          <p class="note" role="status">
            {isFiltered && remaining > 0
              ? (card.loadingAll.value ? CARD.readingRows : CARD.partOfRows)(
                formatCount(volumes.length),
                formatCount(job.counts.total),
              )
              : isRead && matching.length === 0
              ? CARD.noVolumeMatches
              : ""}
          </p>
          <div class="more">
            {!isWhole && (
              <button class="btn" type="button" onClick={() => card.look({ isExpanded: true })}>
                {CARD.showOthers(matching.length - SCREENFUL)}
              </button>
            )}
            {isRead && isWhole && !isFiltered && remaining > 0 && (
              <button
                class="btn"
                type="button"
                disabled={isLoadingMore}
                onClick={() => void card.loadMore()}
              >
                {isLoadingMore
                  ? CARD.loading
                  : CARD.moreVolumes(formatCount(Math.min(VOLUMES_PAGE, remaining)), formatCount(remaining))}
              </button>
            )}
          </div>
        </>
      )}
    </>
  );
}

function chosenOf(volumes: readonly VolumeView[], { segment, text }: VolumeChoice): readonly VolumeView[] {
  return volumes.filter((volume) =>
    (segment === "all" || segmentOf(volume) === segment) && volumeHasWords(volume, text)
  );
}

/**
 * The volumes in reading order. While the pointer or the focus is on the table, the order does not change, and new volumes are
 * appended.
 */
function useSteadyOrder(rows: readonly VolumeView[], isHeld: () => boolean): readonly VolumeView[] {
  const last = useRef<ReadonlyMap<number, number> | null>(null);
  return useMemo(() => {
    const fresh = inReadingOrder(rows);
    const before = last.current;
    const placeOf = ({ index }: VolumeView) => before?.get(index) ?? fresh.length + index;
    const ordered = before !== null && isHeld() ? fresh.toSorted((a, b) => placeOf(a) - placeOf(b)) : fresh;
    last.current = new Map(ordered.map(({ index }, place) => [index, place]));
    return ordered;
  }, [rows]);
}

type VolumeChoice = Pick<StoredView, "segment" | "text">;

interface VolumeFilterProps {
  readonly card: CardStore;
  readonly counts: readonly SegmentCount[];
  readonly onCsv: () => void;
  readonly onPrint: () => void;
}

/** Filters a card's volumes by state and text, and saves or prints them. */
function VolumeFilter({ card, counts, onCsv, onPrint }: VolumeFilterProps) {
  const job = card.summary.value;
  const { segment, text } = card.view.value;
  const choose = (change: Partial<VolumeChoice>) => {
    card.look(change);
    // Only the loaded volumes are filtered.
    if (isFilter({ segment: "all", text: "", ...change }) && card.remaining.value > 0) void card.loadAll();
  };
  return (
    <search class="volume-tools">
      <fieldset class="volume-segments">
        <legend class="sr">{CARD.filterVolumes}</legend>
        {counts.map(({ segment: name, count, mark }) => (
          <label key={name}>
            <input
              type="radio"
              name={`volumes of ${job.namespace}/${job.name}`}
              value={name}
              checked={name === segment}
              onChange={() => choose({ segment: name })}
            />
            {CARD.segments[name]} <span class="count">{mark}{formatCount(count)}</span>
          </label>
        ))}
      </fieldset>
      <input
        type="search"
        aria-label={CARD.searchVolumesOf(job.name)}
        placeholder={CARD.searchVolumes}
        value={text}
        onInput={({ currentTarget }) => choose({ text: currentTarget.value })}
      />
      <button class="btn" type="button" aria-label={CARD.rowsAsCsvOf(job.name)} onClick={onCsv}>
        <Icon name="download" />
        {CARD.rowsAsCsv}
      </button>
      <button class="btn" type="button" aria-label={CARD.printOf(job.name)} onClick={onPrint}>
        <Icon name="print" />
        {CARD.print}
      </button>
    </search>
  );
}

const PIPELINE_STEPS = inLanguage({ en: en.PIPELINE_STEPS, sv: sv.PIPELINE_STEPS });

/** Characters of a revision, as Git abbreviates it. */
const SHOWN_REVISION_CHARACTERS = 7;

interface CardProvenanceProps extends CardTotalsProps {
  /** Whether the document is shown; absent: it is, for readers without scripts. */
  readonly isExpanded?: boolean;
  readonly onExpand?: () => void;
}

/** Provenance of a campaign's results: pipeline, steps and models, and the pipeline's YAML on request. */
export function CardProvenance({ job, detail, isExpanded = true, onExpand }: CardProvenanceProps) {
  const id = `pipeline-${job.namespace}-${job.name}`;
  return (
    <section class="provenance" aria-label={CARD.provenanceOf(job.name)}>
      <p>
        <span>
          {CARD.pipeline} <code>{job.pipeline || CARD.noPipeline}</code>
        </span>
        <span>
          {CARD.namespace} <code>{job.namespace}</code>
        </span>
        {detail && detail.pipelineSteps.length > 0 && <span>{detail.pipelineSteps.map(stepWords).join(" → ")}</span>}
        {detail && detail.pipelineModels.length > 0 && (
          <span class="dots">
            {detail.pipelineModels.map(({ model, revision }, i) => (
              <span key={i}>
                {i === 0 && `${CARD.models} `}
                <ModelName model={model} revision={revision} /> {revision === null
                  ? <b class="unpinned">{CARD.unpinned}</b>
                  : <span title={revision}>@{revision.slice(0, SHOWN_REVISION_CHARACTERS)}</span>}
              </span>
            ))}
          </span>
        )}
        {detail && detail.pipelineYaml === "" && <span>{CARD.pipelineGone}</span>}
        {detail && detail.pipelineYaml !== "" && onExpand && (
          <button
            class="btn small"
            type="button"
            aria-expanded={isExpanded}
            aria-controls={id}
            onClick={onExpand}
          >
            {CARD.pipelineYaml}
          </button>
        )}
      </p>
      {detail && <pre id={id} hidden={!isExpanded} tabIndex={0}>{detail.pipelineYaml}</pre>}
    </section>
  );
}

function ModelName({ model, revision }: PipelineModel) {
  const href = modelPage(model, revision);
  const name = <code>{model}</code>;
  return href === null ? name : <a href={href} rel="noreferrer">{name}</a>;
}

/** A step of a pipeline in words; one that is not known by its name: `ConfidenceStep` as `Confidence step`. */
function stepWords(step: string): string {
  const known = Object.keys(PIPELINE_STEPS).find((name) => name === step.toLowerCase());
  if (known !== undefined) return PIPELINE_STEPS[known as keyof typeof PIPELINE_STEPS];
  const words = step.replace(/(?<=[a-zåäö])(?=[A-ZÅÄÖ])/g, " ").replace(/[_-]+/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** Page of a model at the revision that a pipeline pins, else of its newest; null: the id is not one of that site. */
export function modelPage(model: string, revision: string | null): string | null {
  if (!HUB_ID.test(model)) return null;
  return `https://huggingface.co/${model}/tree/${encodeURIComponent(revision ?? "main")}`;
}

/** `owner/name`, unlike the path of a file on a disk. */
const HUB_ID = /^[A-Za-z0-9][\w.-]*\/[A-Za-z0-9][\w.-]*$/;
