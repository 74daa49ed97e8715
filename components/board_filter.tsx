import type { JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isIn, type Segment, SEGMENT_WORDS, SEGMENTS } from "@/lib/presentation/campaign_filter.ts";
import { formatCount } from "@/lib/presentation/figures.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";

interface BoardFilterProps {
  readonly jobs: readonly JobSummary[];
  readonly segment: Segment;
  readonly text: string;
  readonly onSegment: (segment: Segment) => void;
  readonly onText: (text: string) => void;
}

/** Narrows the list by a text and by state. It needs scripts, and keeps its place without them. */
export function BoardFilter({ jobs, segment, text, onSegment, onText }: BoardFilterProps) {
  return (
    <search class="filters needs-scripts">
      <input
        type="search"
        aria-label={LABELS.filterByText}
        placeholder={LABELS.filterByText}
        value={text}
        onInput={(event) => onText(event.currentTarget.value)}
      />
      <fieldset class="segments">
        <legend class="sr">{LABELS.filterByState}</legend>
        {SEGMENTS.map((name) => (
          <label key={name}>
            <input
              type="radio"
              name="segment"
              value={name}
              checked={name === segment}
              onChange={() => onSegment(name)}
            />
            {SEGMENT_WORDS[name]} <span class="count">{formatCount(jobs.filter((job) => isIn(job, name)).length)}</span>
          </label>
        ))}
      </fieldset>
    </search>
  );
}
