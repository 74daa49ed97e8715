import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { formatCount } from "@/lib/presentation/locale/figures.ts";
import type { SegmentCount, VolumeSegment } from "@/lib/presentation/volume_rows.ts";
import { Icon } from "./icon.tsx";

interface VolumeFilterProps {
  readonly job: JobSummary;
  readonly counts: readonly SegmentCount[];
  readonly segment: VolumeSegment;
  readonly text: string;
  readonly onSegment: (segment: VolumeSegment) => void;
  readonly onText: (text: string) => void;
  readonly onCsv: () => void;
  readonly onPrint: () => void;
}

/** Narrows a card's volumes by their state and by a text, and takes them along as a file or on paper. */
export function VolumeFilter({ job, counts, segment, text, ...on }: VolumeFilterProps) {
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
              onChange={() => on.onSegment(name)}
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
        onInput={(event) => on.onText(event.currentTarget.value)}
      />
      <button class="btn" type="button" aria-label={CARD.rowsAsCsvOf(job.name)} onClick={on.onCsv}>
        <Icon name="download" />
        {CARD.rowsAsCsv}
      </button>
      <button class="btn" type="button" aria-label={CARD.printOf(job.name)} onClick={on.onPrint}>
        <Icon name="print" />
        {CARD.print}
      </button>
    </search>
  );
}
