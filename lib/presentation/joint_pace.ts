import type { JobDetail } from "@/lib/campaigns/projection/types.ts";

/** The speed of several campaigns together. */
export interface JointPace {
  /** null: not known of any. */
  readonly pagesPerMinute: number | null;
  /** When the last of them is estimated to end, ms since 1970; null: not known of any. */
  readonly endsAt: number | null;
  /** Of how many of them both are known. While these are not all, there are more pages, and the end is later. */
  readonly counted: number;
  /** Of how many they can be known. */
  readonly of: number;
}

/**
 * The joint speed of running campaigns.
 *
 * @param details null for one that has not been read
 * @param running how many run, also those that are not in `details`
 */
export function jointPace(details: readonly (JobDetail | null)[], running: number): JointPace {
  const speeds = details.map((detail) => detail?.pace?.pagesPerMinute ?? null).filter((speed) => speed !== null);
  const ends = details.map(endMs).filter((end) => end !== null);
  return {
    pagesPerMinute: speeds.length > 0 ? speeds.reduce((sum, speed) => sum + speed, 0) : null,
    endsAt: ends.length > 0 ? Math.max(...ends) : null,
    counted: Math.min(speeds.length, ends.length, running),
    of: running,
  };
}

/** The estimated end of a campaign, ms since 1970; null where none is known. */
export function endMs(detail: JobDetail | null): number | null {
  const end = Date.parse(detail?.pace?.endsAt ?? "");
  return Number.isNaN(end) ? null : end;
}
