import { type CsvTable, readCsvTable } from "./csv_table.ts";
import { prettyJson } from "./pretty_json.ts";
import type { PixelSize } from "./image_size.ts";
import { readTextBeginning, type TextBeginning } from "./text_beginning.ts";

/** The preview of an object's content. */
export type ObjectPreview =
  | { readonly kind: "audio" | "video" | "pdf" }
  /** `size`: null where it is not known. */
  | { readonly kind: "image"; readonly size: PixelSize | null }
  /** An image that browsers do not show. */
  | { readonly kind: "hidden image"; readonly format: "TIFF" | "JPEG 2000"; readonly size: PixelSize | null }
  | ShownText
  | { readonly kind: "table"; readonly table: CsvTable; readonly encoding: TextBeginning["encoding"] }
  /** `type`: the media type by which it was taken for text; null: its name. */
  | { readonly kind: "not text"; readonly type: string | null }
  | { readonly kind: "none"; readonly reason: "unknown" | "empty" | "encoded" | "unreadable" };

/** Lines of a text. */
interface ShownText {
  readonly kind: "text";
  readonly lines: readonly string[];
  readonly encoding: TextBeginning["encoding"];
  /** There is more of it. */
  readonly isCut: boolean;
  /** A viewer of ours that shows more than the text. */
  readonly viewer: "alto" | "manifest" | null;
}

/** Bytes that are read of a text. */
export const PREVIEW_BYTES = 256 * 1024;
/** Characters in which a file says what it is. */
const HEAD_CHARACTERS = 4096;

/** The first bytes of an object as text, laid out by its kind; null: they are not text. */
export function textPreview(bytes: Uint8Array, kind: "text" | "json" | "csv", isCut: boolean): ObjectPreview | null {
  const beginning = readTextBeginning(bytes, isCut);
  if (beginning === null) return null;
  const { text, encoding } = beginning;
  const table = kind === "csv" ? readCsvTable(text, isCut) : null;
  if (table !== null) return { kind: "table", table, encoding };
  const json = kind === "json" ? prettyJson(text) : null;
  return {
    kind: "text",
    lines: json?.lines ?? text.split("\n"),
    encoding,
    isCut: isCut || (json?.isCut ?? false),
    viewer: viewerOf(text.slice(0, HEAD_CHARACTERS), json !== null),
  };
}

/** ALTO by its root element, a manifest by its context and type (IIIF Presentation 2 and 3). */
function viewerOf(head: string, isJson: boolean): ShownText["viewer"] {
  if (/<(?:[\w.-]+:)?alto[\s>]/i.test(head)) return "alto";
  const isManifest = isJson && /iiif\.io\/api\/presentation\/[23]\/context\.json/.test(head) &&
    /"(?:sc:)?Manifest"/.test(head);
  return isManifest ? "manifest" : null;
}
