import { createHash } from "node:crypto";

/** The volumes of a campaign; line `i` belongs to the Job's index `i`. */
export type VolumeList = ReturnType<typeof readVolumes>;

const TAB = 0x09;
const NEWLINE = 0x0a;
const RETURN = 0x0d;
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A campaign whose volumes.txt is missing. */
export const NO_VOLUMES = readVolumes("");

/**
 * Reads volumes.txt: one volume per line that is not blank, ends of lines LF or CRLF. The text is stored as bytes and
 * offsets, outside of the heap, and a line is cut on access: a list of thousands costs little more than its text.
 */
export function readVolumes(text: string) {
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
    /** Memory in use, bytes. */
    size: bytes.byteLength + starts.byteLength,
    /**
     * The id of a line, and what follows the first tab: a manifest's URL or `images:` with URLs; null without a tab.
     *
     * @throws RangeError beyond the last line
     */
    line(index: number): { readonly id: string; readonly source: string | null } {
      const line = decoder.decode(lineBytes(index));
      const tab = line.indexOf("\t");
      return tab < 0 ? { id: line, source: null } : { id: line.slice(0, tab), source: line.slice(tab + 1) };
    },
    /** Only the id of a line, for loops over all of them. @throws RangeError beyond the last line */
    id(index: number): string {
      const line = lineBytes(index);
      const tab = line.indexOf(TAB);
      return decoder.decode(tab < 0 ? line : line.subarray(0, tab));
    },
  };
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

/** Tells one list of volumes, and each volume in it, from others. */
interface VolumeIdentity {
  /** The digest of the ids in their order, base64url. */
  readonly digest: string;
  /** The first line with the id of a line: the line itself, unless volumes.txt lists the volume twice. */
  first(index: number): number;
}

/** Computed once for each list, since requests for a campaign's detail share it. */
const identities = new WeakMap<VolumeList, VolumeIdentity>();

/** The identity of a list of volumes. */
export function volumeIdentity(volumes: VolumeList): VolumeIdentity {
  let identity = identities.get(volumes);
  if (!identity) identities.set(volumes, identity = readIdentity(volumes));
  return identity;
}

function readIdentity(volumes: VolumeList): VolumeIdentity {
  const ids = Array.from({ length: volumes.count }, (_, index) => volumes.id(index));
  const digest = createHash("sha256").update(ids.join("\n")).digest("base64url");
  // Nearly all lists name each volume once: nothing is stored for them.
  if (new Set(ids).size === ids.length) return { digest, first: (index) => index };
  const lines = firstLines(ids);
  return { digest, first: (index) => lines[index] };
}

/** The first line of the id of each line. A separate function, so that its result does not retain the ids. */
function firstLines(ids: readonly string[]): Uint32Array {
  const first = new Map<string, number>();
  ids.forEach((id, index) => first.has(id) || first.set(id, index));
  return Uint32Array.from(ids, (id) => first.get(id)!);
}
