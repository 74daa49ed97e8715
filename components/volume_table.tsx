import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import type { JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { CHUNK_ROWS, useRowWindow } from "@/lib/client/row_window.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { VolumeRow } from "./volume_row.tsx";

interface VolumeTableProps {
  readonly job: JobSummary;
  readonly volumes: readonly VolumeView[];
  /** Rows that stand in for volumes before the first read. */
  readonly placeholders: number;
  /** ms since 1970, from which ages count. */
  readonly now: number;
  /** Every row is drawn, not only those near the screen. */
  readonly whole: boolean;
  /** What is filtered; another filter begins at the top. */
  readonly filter?: string;
}

/** Volumes of a campaign: of a long list those near the screen. */
export function VolumeTable({ job, volumes, placeholders, now, whole, filter = "" }: VolumeTableProps) {
  const { table, runs } = useRowWindow(volumes.length, filter, whole);
  // A chunk that is the same element as before is not rendered again while the page scrolls.
  const chunks = useMemo(() => new Map<number, VNode>(), [volumes, job.qualityPrediction, now]);
  const chunkAt = (chunk: number) => {
    const known = chunks.get(chunk);
    if (known) return known;
    const begin = chunk * CHUNK_ROWS;
    const element = (
      <tbody key={chunk} role="rowgroup" data-chunk={chunk}>
        {volumes.slice(begin, begin + CHUNK_ROWS).map((volume, place) => (
          <VolumeRow
            key={volume.index}
            volume={volume}
            campaign={job}
            row={begin + place + 2}
            hasQuality={job.qualityPrediction}
            now={now}
          />
        ))}
      </tbody>
    );
    chunks.set(chunk, element);
    return element;
  };
  const columns = job.qualityPrediction ? 6 : 5;
  // Roles are said again, because the narrow layout is no table to a browser.
  return (
    <table ref={table} class="volumes" role="table" aria-rowcount={volumes.length + 1}>
      <caption class="sr">{CARD.volumesOf(job.name)}</caption>
      <thead role="rowgroup">
        <tr role="row" aria-rowindex={1}>
          <th role="columnheader" scope="col" class="id">{CARD.volume}</th>
          <th role="columnheader" scope="col" class="state">{CARD.state}</th>
          <th role="columnheader" scope="col" class="pages">{CARD.pages}</th>
          {job.qualityPrediction && <th role="columnheader" scope="col" class="quality">{CARD.qualityColumn}</th>}
          <th role="columnheader" scope="col" class="say">{CARD.latest}</th>
          <th role="columnheader" scope="col" class="go">
            <span class="sr">{CARD.files}</span>
          </th>
        </tr>
      </thead>
      {runs.flatMap(({ first, last, isDrawn, height }) =>
        isDrawn
          ? Array.from({ length: last - first }, (_, place) => chunkAt(first + place))
          : (
            <tbody key={`from ${first}`} aria-hidden="true" class="gap">
              <tr style={{ height: `${height}px` }}>
                <td colSpan={columns} />
              </tr>
            </tbody>
          )
      )}
      {placeholders > 0 && (
        <tbody aria-hidden="true">
          {Array.from({ length: placeholders }, (_, place) => (
            <tr key={place} class="placeholder">
              <td colSpan={columns}>
                <span />
              </td>
            </tr>
          ))}
        </tbody>
      )}
    </table>
  );
}
