import { PAGE_TEXT_LABELS } from "./page_text_words.ts";
import { readVolumeAddress, type VolumeAddress } from "./volume_address.ts";
import { percentDecoded } from "@/lib/std/text.ts";

/** What the address of a page's text says. */
interface PageAddress {
  /** The file's name without `.xml`. */
  readonly page: string;
  /** Null where the address is not that of a result. */
  readonly volume: VolumeAddress | null;
}

/** Reads `<results URL>/<namespace>/<pipeline>/<volume>/alto/<page>.xml`; any other address gives the file's name alone. */
export function readPageAddress(href: string): PageAddress {
  const segments = (URL.parse(href)?.pathname ?? "").split("/");
  const file = segments.at(-1) ?? "";
  const page = (percentDecoded(file) ?? file).replace(/\.xml$/i, "") || PAGE_TEXT_LABELS.pageText;
  return { page, volume: segments.at(-2) === "alto" ? readVolumeAddress(href) : null };
}
