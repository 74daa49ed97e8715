import { readVolumes, type VolumeLine, type VolumeList } from "./volumes.ts";

/** Volumes that are kept as bytes. */
export interface VolumeBytes extends VolumeList {
  /** Memory they take, bytes. */
  readonly size: number;
}

/**
 * Reads volumes.txt by the rules of `readVolumes` and keeps it as bytes and offsets, outside of the heap: for lists that
 * are kept for long and read rarely.
 */
export function keepVolumes(text: string): VolumeBytes {
  // Half of a surrogate pair does not survive as bytes.
  if (!text.isWellFormed()) {
    const { count, line } = readVolumes(text);
    return { count, line, size: text.length * 2 + count * 4 };
  }
  const bytes = new TextEncoder().encode(text);
  const starts = lineStarts(bytes);
  return {
    count: starts.length,
    size: bytes.byteLength + starts.byteLength,
    line(index) {
      const start = starts[index];
      if (start === undefined) throw new RangeError(`no volume ${index} among ${starts.length}`);
      let end = endOfLine(bytes, start);
      if (bytes[end - 1] === RETURN) end--;
      return split(decoder.decode(bytes.subarray(start, end)));
    },
  };
}

const NEWLINE = 0x0a;
const RETURN = 0x0d;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function split(line: string): VolumeLine {
  const tab = line.indexOf("\t");
  return tab < 0 ? { id: line, source: null } : { id: line.slice(0, tab), source: line.slice(tab + 1) };
}

function lineStarts(bytes: Uint8Array): Uint32Array {
  const starts: number[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = endOfLine(bytes, start);
    if (!isBlank(bytes, start, end)) starts.push(start);
    start = end + 1;
  }
  return Uint32Array.from(starts);
}

function endOfLine(bytes: Uint8Array, start: number): number {
  const end = bytes.indexOf(NEWLINE, start);
  return end < 0 ? bytes.length : end;
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] > 0x20 && bytes[start] < 0x7f) return false;
  return decoder.decode(bytes.subarray(start, end)).trim() === "";
}
