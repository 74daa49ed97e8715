import type { VNode } from "preact";
import { useMemo } from "preact/hooks";

import type { JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { CHUNK_ROWS, useRowWindow } from "@/lib/pages/campaigns/windows_client.ts";
import { isLogLive } from "@/lib/pages/campaigns/campaign_problems.ts";
import { CARD } from "@/lib/pages/campaigns/campaign_sentences.ts";
import type { Tone } from "@/lib/pages/campaigns/campaign_state.ts";
import { formatCount, formatQuality } from "@/lib/pages/locale/figures.ts";
import { runLogPath, viewerPath } from "@/lib/pages/page_paths.ts";
import { volumeChip, volumeManifest, volumeSentence } from "@/lib/pages/campaigns/volume_filter.ts";
import { Chip, RawWords } from "@/components/chip.tsx";
import { Icon } from "@/components/icon.tsx";
import { Meter } from "@/components/meter.tsx";

interface VolumeTableProps {
  readonly job: JobSummary;
  readonly volumes: readonly VolumeView[];
  /** Number of placeholder rows before the first read. */
  readonly placeholders: number;
  /** ms since 1970, from which ages count. */
  readonly now: number;
  /** Every row is drawn, not only those near the screen. */
  readonly whole: boolean;
  /** The current filter. When it changes, the table shows its first rows. */
  readonly filter?: string;
}

/** Volumes of a campaign: of a long list those near the screen. */
export function VolumeTable({ job, volumes, placeholders, now, whole, filter = "" }: VolumeTableProps) {
  const { table, runs } = useRowWindow(volumes.length, filter, whole);
  // Preact does not render the same element again while the page scrolls.
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
  // Explicit roles, because browsers do not expose the narrow layout as a table.
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
      {runs.flatMap(({ first, end, isShown, height }) =>
        isShown
          ? Array.from({ length: end - first }, (_, place) => chunkAt(first + place))
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

interface VolumeRowProps {
  readonly volume: VolumeView;
  /** The one that the volume is of. */
  readonly campaign: Pick<JobSummary, "namespace" | "name" | "pipeline">;
  /** Its place in the table, from 2: the head has the first. */
  readonly row: number;
  readonly hasQuality: boolean;
  /** ms since 1970 */
  readonly now: number;
}

/** One volume: name, state, progress, activity or problem, and links to its source and its log. */
export function VolumeRow({ volume, campaign, row, hasQuality, now }: VolumeRowProps) {
  const { progress } = volume;
  const { text, raw } = volumeSentence(volume, now);
  return (
    <tr role="row" aria-rowindex={row}>
      <th role="rowheader" scope="row" class="id">
        <VolumeName volume={volume} campaign={campaign} />
      </th>
      <td role="cell" class="state">
        <Chip {...volumeChip(volume)} />
      </td>
      <td role="cell" class="pages">
        <div class="fraction">
          <Meter
            parts={[
              { count: progress?.done ?? 0, tone: DONE_TONES[volume.state] },
              { count: progress?.failed ?? 0, tone: "warn" },
            ]}
            total={progress?.total ?? 0}
          />
          <span>
            {progress ? CARD.pagesOf(formatCount(progress.done), knownTotal(volume)) : "–"}
          </span>
        </div>
      </td>
      {hasQuality && (
        <td role="cell" class="quality">
          {progress?.quality
            ? (
              <>
                <span class="narrow">{CARD.quality}</span> {formatQuality(progress.quality.mean)}
              </>
            )
            : <span class="wide">–</span>}
        </td>
      )}
      <td role="cell" class="say sub" title={raw ?? undefined}>
        {text}
        <RawWords text={raw} />
      </td>
      <td role="cell" class="go">
        <VolumeFiles volume={volume} campaign={campaign} />
      </td>
    </tr>
  );
}

/** Before its manifest is read a volume has no pages; one that failed then never has any. */
function knownTotal({ state, progress }: VolumeView): string {
  return progress && (progress.total > 0 || state === "done") ? formatCount(progress.total) : "–";
}

/** A volume's name, which opens its pages in the manifest viewer. */
function VolumeName({ volume, campaign }: Pick<VolumeRowProps, "volume" | "campaign">) {
  const manifest = volumeManifest(volume);
  return manifest === null
    ? <span class="vid" title={volume.forbidden ? undefined : CARD.noPages}>{volume.id}</span>
    : (
      <a class="vid" href={viewerPath(manifest, null, campaign, { ...volume, pipeline: campaign.pipeline })}>
        {volume.id}
      </a>
    );
}

/** The source manifest, where it has one that a browser can open, and the run log, live while it may be written. */
function VolumeFiles({ volume, campaign }: Pick<VolumeRowProps, "volume" | "campaign">) {
  const { id, sourceUrl, state, logUrl, manifestUrl } = volume;
  const hasNoLog = state === "pending" && !volume.final;
  const log = hasNoLog ? CARD.noLogYetOf(id) : CARD.logOf(id);
  return (
    <>
      {sourceUrl === null
        ? (
          <span class="file none" role="img" aria-label={CARD.noManifestOf(id)} title={CARD.noManifestOf(id)}>
            <Icon name="manifest" />
          </span>
        )
        : (
          <a class="file" href={sourceUrl} rel="noreferrer" aria-label={CARD.manifestOf(id)} title={CARD.manifest}>
            <Icon name="manifest" />
          </a>
        )}
      <a
        class="file"
        href={runLogPath({ logUrl, manifestUrl, live: isLogLive(state) }, campaign)}
        aria-label={log}
        title={hasNoLog ? log : CARD.runLog}
      >
        <Icon name="log" />
      </a>
    </>
  );
}

const DONE_TONES: Readonly<Record<VolumeView["state"], Tone>> = {
  pending: "idle",
  active: "run",
  done: "done",
  failed: "idle",
  unknown: "idle",
};
