import type { LogLine } from "./lines.ts";
import type { RunLog } from "./run_log.ts";

/** A line that the fragment of an address names. */
export interface LineLink {
  readonly number: number;
  /** `HH:MM:SS.mmm`; null: the number alone counts. */
  readonly time: string | null;
}

/** Reads `#L12` and `#L12@08:15:00.250`; null for any other fragment. */
export function readLineLink(hash: string): LineLink | null {
  const link = /^#L(\d{1,15})(?:@(\d{2}:\d{2}:\d{2}\.\d{3}))?$/.exec(decoded(hash));
  return link && { number: Number(link[1]), time: link[2] ?? null };
}

/**
 * The fragment that names a line. The numbers are those of the whole file. Behind a middle that a worker left out, they
 * change while the log grows, so that the time of the line is added.
 */
export function writeLineLink({ number, time }: LogLine, { cutNumber }: RunLog): string {
  return cutNumber !== null && number > cutNumber && time !== null ? `#L${number}@${time}` : `#L${number}`;
}

/**
 * The line that a link means: the one with its number, or, where the link has a time that is not that line's, the nearest
 * with that time.
 *
 * @returns null where it is not among the lines that are shown
 */
export function findLinkedLine({ stages }: RunLog, { number, time }: LineLink): LogLine | null {
  let nearest: LogLine | null = null;
  for (const { folds } of stages) {
    for (const { lines } of folds) {
      for (const line of lines) {
        if (line.number === number && (time === null || line.time === time)) return line;
        const isNearer = Math.abs(line.number - number) < Math.abs((nearest?.number ?? Infinity) - number);
        if (time !== null && line.time === time && isNearer) nearest = line;
      }
    }
  }
  return nearest;
}

function decoded(hash: string): string {
  return hash.replace(/%40/g, "@").replace(/%3A/gi, ":");
}
