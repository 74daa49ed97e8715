import { percentDecoded } from "@/lib/std/percent_decoded.ts";

/** What the address of a page's text says. */
interface PageAddress {
  /** The file's name without `.xml`. */
  readonly page: string;
  /** Null where the address is not that of a result; likewise below. */
  readonly volume: string | null;
  readonly pipeline: string | null;
  readonly namespace: string | null;
  /** The manifest of the volume's pages. */
  readonly manifestUrl: string | null;
}

/** Reads `<results URL>/<namespace>/<pipeline>/<volume>/alto/<page>.xml`; any other address gives the file's name alone. */
export function readPageAddress(href: string): PageAddress {
  const url = URL.parse(href);
  const parts = (url?.pathname ?? "").split("/").map((part) => percentDecoded(part) ?? part);
  const page = (parts.at(-1) ?? "").replace(/\.xml$/i, "") || "page";
  if (!url || parts.at(-2) !== "alto" || parts.length < 6) {
    return { page, volume: null, pipeline: null, namespace: null, manifestUrl: null };
  }
  return {
    page,
    volume: parts.at(-3) ?? null,
    pipeline: parts.at(-4) ?? null,
    namespace: parts.at(-5) ?? null,
    manifestUrl: new URL("../iiif.json", `${url.origin}${url.pathname}`).href,
  };
}
