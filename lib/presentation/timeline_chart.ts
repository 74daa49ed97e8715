import type { JobDetail, TimelineEntry } from "@/lib/campaigns/projection/types.ts";

/** Width and height of the chart, units of its view box. */
export const CHART = { width: 600, height: 48 } as const;
/** Rows of the table beside the chart. */
const MAX_ROWS = 12;

/** The course of a campaign as lines over its time, and as rows of a table. */
interface TimelineChart {
  /** Points of the line of volumes that have ended, and of those that failed, as SVG writes them. */
  readonly ended: string;
  readonly failed: string;
  readonly first: TimelineEntry;
  readonly last: TimelineEntry;
  readonly rows: readonly TimelineEntry[];
}

/** The course of a campaign; null until two moments of it are known. The lines reach the top with the newest count. */
export function timelineChart({ timeline }: JobDetail): TimelineChart | null {
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
