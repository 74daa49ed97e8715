import { useMemo, useRef } from "preact/hooks";

import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { type CardTrouble, MAX_VOLUMES_READ, VOLUMES_PAGE, type VolumesView } from "@/lib/client/card_store.ts";
import { printAlone, usePrinting } from "@/lib/client/printing.ts";
import { saveCsv } from "@/lib/client/save_csv.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import { formatClock, type MomentStyle } from "@/lib/presentation/moments.ts";
import { csvName } from "@/lib/presentation/volume_csv.ts";
import {
  inReadingOrder,
  isFilter,
  matchesVolume,
  rowsAgree,
  segmentCounts,
  segmentOf,
  type VolumeSegment,
  withNamedRows,
} from "@/lib/presentation/volume_rows.ts";
import { VolumeFilter } from "./volume_filter.tsx";
import { VolumeTable } from "./volume_table.tsx";

/** Rows that a card begins with, and that stand in for volumes before they are read. */
const SCREENFUL = 8;

interface CardVolumesProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  readonly volumes: readonly VolumeView[];
  readonly remaining: number;
  readonly loadingMore: boolean;
  /** All volumes are being read. */
  readonly loadingAll: boolean;
  readonly trouble: CardTrouble | null;
  readonly style: MomentStyle;
  readonly view: VolumesView;
  readonly onLoadMore: () => void;
  readonly onLoadAll: () => Promise<readonly VolumeView[] | null>;
}

/** The volumes of an open card: a filter, a screenful of those that need eyes, the others on request. */
export function CardVolumes(props: CardVolumesProps) {
  const { job, detail, volumes, remaining, trouble, style } = props;
  const { segment, text, isExpanded } = props.view;
  const isPrinting = usePrinting();
  const table = useRef<HTMLDivElement>(null);

  const isRead = detail !== null && volumes.length > 0;
  const rows = useMemo(() => withNamedRows(volumes, isRead ? detail : null), [volumes, detail]);
  const ordered = useSteadyOrder(rows, () => table.current?.matches(":hover, :focus-within") ?? false);
  const matching = useMemo(() => chosenOf(ordered, segment.value, text.value), [ordered, segment.value, text.value]);
  const counts = useMemo(() => {
    // Volumes after the first page are read again one page at a time: their states may be old ones.
    const isCurrent = volumes.length <= MAX_VOLUMES_READ || job.jobGone || rowsAgree(job, volumes);
    return segmentCounts(job, rows, { isAllLoaded: isRead && remaining === 0 && isCurrent });
  }, [job, rows, isRead, remaining]);
  const isFiltered = isFilter(segment.value, text.value);
  const isWhole = isExpanded.value || isPrinting || matching.length <= SCREENFUL + 1;
  const shown = useMemo(() => isWhole ? matching : matching.slice(0, SCREENFUL), [matching, isWhole]);
  const isMissing = detail !== null && volumes.length === 0 && detail.volumes.length === 0;
  const placeholders = isRead || trouble || isMissing ? 0 : Math.min(job.counts.total, SCREENFUL);

  const needAll = () => {
    if (remaining > 0) props.onLoadAll();
  };
  const save = async () => {
    const all = await props.onLoadAll();
    if (!all) return;
    saveCsv(
      csvName(job.name, isFiltered ? CARD.shownFile : CARD.volumesFile),
      chosenOf(inReadingOrder(all), segment.value, text.value),
    );
  };
  const printAll = async () => {
    if (await props.onLoadAll()) printAlone(table.current?.closest("[role=listitem]"));
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
          <VolumeFilter
            job={job}
            counts={counts}
            segment={segment.value}
            text={text.value}
            onSegment={(name) => {
              segment.value = name;
              if (name !== "all") needAll();
            }}
            onText={(words) => {
              text.value = words;
              if (words.trim() !== "") needAll();
            }}
            onCsv={save}
            onPrint={printAll}
          />
          <div ref={table}>
            <VolumeTable
              job={job}
              volumes={shown}
              placeholders={placeholders}
              now={style.now}
              whole={isPrinting}
              filter={`${segment.value} ${text.value}`}
            />
          </div>
          <p class="note" role="status">
            {isFiltered && remaining > 0
              ? (props.loadingAll ? CARD.readingRows : CARD.partOfRows)(
                formatCount(volumes.length),
                formatCount(job.counts.total),
              )
              : isRead && matching.length === 0
              ? CARD.noVolumeMatches
              : ""}
          </p>
          <div class="more">
            {!isWhole && (
              <button class="btn" type="button" onClick={() => isExpanded.value = true}>
                {CARD.showOthers(matching.length - SCREENFUL)}
              </button>
            )}
            {isRead && isWhole && !isFiltered && remaining > 0 && (
              <button class="btn" type="button" disabled={props.loadingMore} onClick={props.onLoadMore}>
                {props.loadingMore
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

function chosenOf(volumes: readonly VolumeView[], segment: VolumeSegment, text: string): readonly VolumeView[] {
  return volumes.filter((volume) =>
    (segment === "all" || segmentOf(volume) === segment) && matchesVolume(volume, text)
  );
}

/**
 * The volumes in reading order. While the reader's pointer or focus is on them they stay in their places, whatever they
 * became, and new ones follow.
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
