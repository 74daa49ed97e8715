import { readVolumes, type VolumeList } from "./volumes.ts";

/** Volumes stored as bytes. */
interface VolumeBytes extends VolumeList {
  /** Memory in use, bytes. */
  readonly size: number;
}

/**
 * Reads volumes.txt by the rules of `readVolumes` and stores it as bytes and offsets, outside of the heap: for lists that
 * are cached for long and read rarely.
 */
export function volumesAsBytes(text: string): VolumeBytes {
  // A lone surrogate cannot be encoded as UTF-8.
  if (!text.isWellFormed()) {
    const volumes = readVolumes(text);
    return { ...volumes, size: text.length * 2 + volumes.count * 4 };
  }
  const bytes = new TextEncoder().encode(text);
  const starts = lineStarts(bytes);
  const lineBytes = (index: number): Uint8Array => {
    const start = starts[index];
    if (start === undefined) throw new RangeError(`no volume ${index} among ${starts.length}`);
    const end = endOfLine(bytes, start);
    return bytes.subarray(start, bytes[end - 1] === RETURN ? end - 1 : end);
  };
  return {
    count: starts.length,
    size: bytes.byteLength + starts.byteLength,
    line(index) {
      const line = lineBytes(index);
      const tab = line.indexOf(TAB);
      if (tab < 0) return { id: decoder.decode(line), source: null };
      return { id: decoder.decode(line.subarray(0, tab)), source: decoder.decode(line.subarray(tab + 1)) };
    },
    id(index) {
      const line = lineBytes(index);
      const tab = line.indexOf(TAB);
      return decoder.decode(tab < 0 ? line : line.subarray(0, tab));
    },
    idLines: () => decoder.decode(idLines(bytes, starts)),
  };
}

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function lineStarts(bytes: Uint8Array): Uint32Array {
  const starts: number[] = [];
  for (let start = 0; start < bytes.length;) {
    const end = endOfLine(bytes, start);
    if (!isBlank(bytes, start, end)) starts.push(start);
    start = end + 1;
  }
  return Uint32Array.from(starts);
}

/** Copies byte by byte: a view of each line would cost as much as decoding it. */
function idLines(bytes: Uint8Array, starts: Uint32Array): Uint8Array {
  const ids = new Uint8Array(bytes.length);
  let length = 0;
  for (const start of starts) {
    if (start !== starts[0]) ids[length++] = NEWLINE;
    let at = start;
    for (; at < bytes.length && bytes[at] !== TAB && bytes[at] !== NEWLINE; at++) ids[length++] = bytes[at];
    // A return belongs to the end of the line, and no id that a tab ends.
    if (bytes[at] !== TAB && at > start && bytes[at - 1] === RETURN) length--;
  }
  return ids.subarray(0, length);
}

function endOfLine(bytes: Uint8Array, start: number): number {
  const end = bytes.indexOf(NEWLINE, start);
  return end < 0 ? bytes.length : end;
}

function isBlank(bytes: Uint8Array, start: number, end: number): boolean {
  if (bytes[start] > 0x20 && bytes[start] < 0x7f) return false;
  return decoder.decode(bytes.subarray(start, end)).trim() === "";
}
