import { isObject } from "@/lib/std/untrusted.ts";
import { encodeRfc3986, percentDecoded } from "@/lib/std/text.ts";

/** A volume and its files, derived from the address of one of them. */
export interface VolumeAddress {
  readonly volume: string;
  readonly pipeline: string;
  readonly namespace: string;
  /** The manifest of the volume's pages. */
  readonly iiifUrl: string;
  /** The run's manifest.json. */
  readonly runManifestUrl: string;
  readonly progressUrl: string;
  /** The list of the pages whose text is published. */
  readonly pagesUrl: string;
  /** The manifest of a volume that is listed by its images. */
  readonly imagesManifestUrl: string;
  readonly logUrl: string;
}

/** The files of a volume below its folder. */
const FILES = /\/(?:iiif\.json|manifest\.json|alto\/[^/]*)$/;

/**
 * Reads the address of a volume's manifest or of a page's text, `<results URL>/<namespace>/<pipeline>/<volume>/…`.
 *
 * @returns null for any other address
 */
export function readVolumeAddress(href: string): VolumeAddress | null {
  const url = URL.parse(href);
  const [folder, file] = url?.pathname.split(FILES) ?? [];
  const segments = folder?.split("/") ?? [];
  // The first segment is the empty one before the path's own slash.
  if (!url || !/^https?:$/.test(url.protocol) || file === undefined || segments.length < 4) return null;
  const [namespace, pipeline, volume] = segments.slice(-3);
  const results = `${url.origin}${segments.slice(0, -3).join("/")}`;
  const decoded = (segment: string) => percentDecoded(segment) ?? segment;
  return {
    volume: decoded(volume),
    pipeline: decoded(pipeline),
    namespace: decoded(namespace),
    iiifUrl: `${url.origin}${folder}/iiif.json`,
    runManifestUrl: `${url.origin}${folder}/manifest.json`,
    progressUrl: `${url.origin}${folder}/progress.json`,
    pagesUrl: `${results}/_pages/${namespace}/${pipeline}/${volume}`,
    imagesManifestUrl: `${results}/${namespace}/sources/${pipeline}/${volume}/manifest.json`,
    logUrl: `${results}/${namespace}/status/logs/${pipeline}/${volume}.txt`,
  };
}

/** The same of a volume that is known by its names. */
export function volumeAddress(
  results: string,
  namespace: string,
  pipeline: string,
  volume: string,
): VolumeAddress | null {
  const folder = [namespace, pipeline, volume].map(encodeRfc3986).join("/");
  return readVolumeAddress(`${results}/${folder}/iiif.json`);
}

/** Reads `<results URL>/<namespace>/<pipeline>/<volume>/alto/<page>.xml`; any other address gives the file's name alone. */
export function readPageAddress(href: string) {
  const segments = (URL.parse(href)?.pathname ?? "").split("/");
  const file = segments.at(-1) ?? "";
  const page = (percentDecoded(file) ?? file).replace(/\.xml$/i, "");
  return { page, volume: segments.at(-2) === "alto" ? readVolumeAddress(href) : null };
}

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

/** Reads `<results URL>/<namespace>/status/logs/<pipeline>/<volume>.txt`; any other address gives its last part alone. */
export function readLogAddress(href: string) {
  const parts = (URL.parse(href)?.pathname ?? "").split("/").map((part) => percentDecoded(part) ?? part);
  const volume = (parts.at(-1) ?? "").replace(/\.txt$/, "");
  const isUsual = parts.at(-3) === "logs" && parts.at(-4) === "status";
  return isUsual
    ? { volume, pipeline: parts.at(-2) ?? null, namespace: parts.at(-5) ?? null }
    : { volume, pipeline: null, namespace: null };
}
