import type { JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import { VolumeRow } from "./volume_row.tsx";

interface VolumeTableProps {
  readonly job: JobSummary;
  readonly volumes: readonly VolumeView[];
  /** Rows that stand in for volumes before the first read. */
  readonly placeholders: number;
}

/** The loaded volumes of a campaign. */
export function VolumeTable({ job, volumes, placeholders }: VolumeTableProps) {
  // Roles are said again, because the narrow layout is no table to a browser.
  return (
    <table class="volumes" role="table">
      <caption class="sr">{LABELS.volumesOf(job.name)}</caption>
      <thead role="rowgroup">
        <tr role="row">
          <th role="columnheader" scope="col" class="id">{LABELS.volume}</th>
          <th role="columnheader" scope="col" class="source">{LABELS.source}</th>
          <th role="columnheader" scope="col" class="pages">{LABELS.pages}</th>
          {job.qualityPrediction && (
            <th role="columnheader" scope="col" class="quality text-right whitespace-nowrap">{LABELS.qualityColumn}</th>
          )}
          <th role="columnheader" scope="col" class="state">{LABELS.state}</th>
          <th role="columnheader" scope="col" class="log">{LABELS.logColumn}</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        {volumes.map((volume) => <VolumeRow key={volume.index} volume={volume} hasQuality={job.qualityPrediction} />)}
        {Array.from(
          { length: placeholders },
          (_, place) => (
            <tr key={`placeholder ${place}`} role="row" class="placeholder" aria-hidden="true">
              <td role="cell" colSpan={job.qualityPrediction ? 6 : 5}>
                <span />
              </td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}
