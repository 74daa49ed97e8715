/** Size of an image. */
export interface PixelSize {
  readonly width: number;
  readonly height: number;
}

/** Reads bytes of a file; fewer where it ends before. */
type ReadBytes = (from: number, length: number) => Promise<Uint8Array>;

/** Bytes that are read first: most files with the directory in front hold it there. */
const HEAD_BYTES = 4096;
/** Entries of a directory that are looked at; width and height are among the first, since entries are sorted. */
const MAX_ENTRIES = 100;
const WIDTH = 256;
const HEIGHT = 257;

/**
 * The size of the first image of a TIFF file (TIFF 6.0, section 2) or a BigTIFF file, by at most two reads of a few
 * kilobytes.
 *
 * @returns null for any other file, and for one whose directory cannot be read
 */
export async function tiffSize(read: ReadBytes): Promise<PixelSize | null> {
  const head = await read(0, HEAD_BYTES);
  const layout = layoutOf(head);
  if (layout === null) return null;
  const { offset, countBytes, entryBytes } = layout;
  const length = countBytes + MAX_ENTRIES * entryBytes;
  const directory = offset + length <= head.length ? head.subarray(offset) : await read(offset, length);
  if (directory.length < countBytes) return null;
  const view = viewOf(directory);
  const count = countBytes === 2 ? view.getUint16(0, layout.isLittle) : integer(view, 0, layout.isLittle);
  const whole = Math.floor((directory.length - countBytes) / entryBytes);
  let [width, height] = [0, 0];
  for (let entry = 0; entry < Math.min(count, whole, MAX_ENTRIES); entry++) {
    const at = countBytes + entry * entryBytes;
    const tag = view.getUint16(at, layout.isLittle);
    if (tag === WIDTH) width = valueOf(view, at, layout);
    if (tag === HEIGHT) height = valueOf(view, at, layout);
  }
  return width > 0 && height > 0 ? { width, height } : null;
}

interface Layout {
  readonly isLittle: boolean;
  /** Where the first directory begins. */
  readonly offset: number;
  readonly countBytes: 2 | 8;
  readonly entryBytes: 12 | 20;
}

function layoutOf(head: Uint8Array): Layout | null {
  if (head.length < 16) return null;
  const order = String.fromCharCode(head[0], head[1]);
  if (order !== "II" && order !== "MM") return null;
  const isLittle = order === "II";
  const view = viewOf(head);
  const version = view.getUint16(2, isLittle);
  if (version === 42) {
    const offset = view.getUint32(4, isLittle);
    return offset < 8 ? null : { isLittle, offset, countBytes: 2, entryBytes: 12 };
  }
  if (version !== 43 || view.getUint16(4, isLittle) !== 8) return null;
  const offset = integer(view, 8, isLittle);
  return offset < 16 ? null : { isLittle, offset, countBytes: 8, entryBytes: 20 };
}

/** The value of an entry with one number, which stands in the entry itself; 0 for any other. */
function valueOf(view: DataView, at: number, { isLittle, countBytes }: Layout): number {
  const isBig = countBytes === 8;
  const count = isBig ? integer(view, at + 4, isLittle) : view.getUint32(at + 4, isLittle);
  if (count !== 1) return 0;
  const value = at + (isBig ? 12 : 8);
  switch (view.getUint16(at + 2, isLittle)) {
    case 3:
      return view.getUint16(value, isLittle);
    case 4:
      return view.getUint32(value, isLittle);
    case 16:
      return isBig ? integer(view, value, isLittle) : 0;
    default:
      return 0;
  }
}

/** Eight bytes as a number; 0 for one that no number holds exactly. */
function integer(view: DataView, at: number, isLittle: boolean): number {
  const value = Number(view.getBigUint64(at, isLittle));
  return Number.isSafeInteger(value) ? value : 0;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
