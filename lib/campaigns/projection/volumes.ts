/** One line of volumes.txt. */
export interface VolumeLine {
  readonly id: string;
  /** What follows the first tab: a manifest's URL or `images:` with URLs; null without a tab. */
  readonly source: string | null;
}

/** The volumes of a campaign; line `i` belongs to the Job's index `i`. */
export interface VolumeList {
  readonly count: number;
  /** @throws RangeError beyond the last line */
  line(index: number): VolumeLine;
  /** Only the id of a line, for loops over all of them. @throws RangeError beyond the last line */
  id(index: number): string;
  /** All ids, one a line: for what needs them all, at a fraction of the cost of one after another. */
  idLines(): string;
}

/** A campaign whose volumes.txt is missing. */
export const NO_VOLUMES: VolumeList = listOf("", new Uint32Array(0), 0);

/**
 * Reads volumes.txt: one volume per line that is not blank, ends of lines LF or CRLF. Only the offsets
 * of lines are stored and a line is cut on access, so that a list of thousands costs little more than its text.
 */
export function readVolumes(text: string): VolumeList {
  let starts = new Uint32Array(256);
  let count = 0;
  for (let start = 0; start < text.length;) {
    const end = endOfLine(text, start);
    if (!isBlank(text, start, end)) {
      if (count === starts.length) starts = grown(starts);
      starts[count++] = start;
    }
    start = end + 1;
  }
  return listOf(text, starts, count);
}

function listOf(text: string, starts: Uint32Array, count: number): VolumeList {
  const bounds = (index: number): [start: number, end: number] => {
    if (!(index >= 0 && index < count)) {
      throw new RangeError(`no volume ${index} among ${count}`);
    }
    const end = endOfLine(text, starts[index]);
    return [starts[index], text[end - 1] === "\r" ? end - 1 : end];
  };
  const id = (index: number): string => {
    const line = text.slice(...bounds(index));
    // Within the line alone: the next tab of the text may be far away, for each of thousands of lines.
    const tab = line.indexOf("\t");
    return tab < 0 ? line : line.slice(0, tab);
  };
  return {
    count,
    line(index) {
      const line = text.slice(...bounds(index));
      const tab = line.indexOf("\t");
      return tab < 0 ? { id: line, source: null } : { id: line.slice(0, tab), source: line.slice(tab + 1) };
    },
    id,
    idLines: () => Array.from({ length: count }, (_, index) => id(index)).join("\n"),
  };
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf("\n", start);
  return end < 0 ? text.length : end;
}

function isBlank(text: string, start: number, end: number): boolean {
  const first = text.charCodeAt(start);
  if (first > 0x20 && first < 0x7f) return false;
  return text.slice(start, end).trim() === "";
}

function grown(starts: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(starts.length * 4);
  larger.set(starts);
  return larger;
}
