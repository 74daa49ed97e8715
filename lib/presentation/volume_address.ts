import { percentDecoded } from "@/lib/std/text.ts";

/** What the address of a volume's file says of the volume. */
export interface VolumeAddress {
  readonly volume: string;
  readonly pipeline: string;
  readonly namespace: string;
  /** The manifest of the volume's pages. */
  readonly iiifUrl: string;
  /** What its run says of its pages. */
  readonly runManifestUrl: string;
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
    logUrl: `${results}/${namespace}/status/logs/${pipeline}/${volume}.txt`,
  };
}
