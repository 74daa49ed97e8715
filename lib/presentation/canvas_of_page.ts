import { isObject } from "@/lib/std/untrusted.ts";
import { readPageAddress } from "./page_address.ts";

/**
 * The index of a page's canvas: of the one that names the page's file, by whatever host and with whatever encoding. Pages
 * without dimensions have no canvas, so it is not the page's index.
 *
 * @param manifest the JSON of a volume's IIIF manifest
 * @param page the name of the page's file without `.xml`
 * @returns null where no canvas names the file
 */
export function canvasOfPage(manifest: unknown, page: string): number | null {
  const canvases = isObject(manifest) && Array.isArray(manifest.items) ? manifest.items : [];
  const index = canvases.findIndex((canvas) =>
    isObject(canvas) && Array.isArray(canvas.seeAlso) && canvas.seeAlso.some((file) => isFileOf(file, page))
  );
  return index < 0 ? null : index;
}

function isFileOf(file: unknown, page: string): boolean {
  if (!isObject(file) || typeof file.id !== "string") return false;
  const address = readPageAddress(file.id);
  return address.volume !== null && address.page === page;
}
