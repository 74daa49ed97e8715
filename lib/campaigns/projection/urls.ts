import { encodeRfc3986, withoutTrailingSlash } from "@/lib/std/text.ts";
import type { VolumeLinks } from "./types.ts";

/** A segment of a path; a lone surrogate becomes U+FFFD, so that it never throws. */
export function encodeSegment(text: string): string {
  return encodeRfc3986(text.toWellFormed());
}

/** `<results URL>/<namespace>/<pipeline>`, for the browser's results URL and for the internal one. */
export function resultsBaseOf(resultsUrl: string, namespace: string, pipeline: string): string {
  return `${withoutTrailingSlash(resultsUrl)}/${encodeSegment(namespace)}/${encodeSegment(pipeline)}`;
}

/** Makes the result URLs of a campaign's volumes (spec, VolumeView). */
export function volumeLinks(resultsUrl: string, namespace: string, pipeline: string): (id: string) => VolumeLinks {
  const base = resultsBaseOf(resultsUrl, namespace, pipeline);
  const logs = `${withoutTrailingSlash(resultsUrl)}/${encodeSegment(namespace)}/status/logs/${encodeSegment(pipeline)}`;
  return (id) => {
    const key = encodeSegment(id);
    return {
      manifestUrl: `${base}/${key}/manifest.json`,
      iiifUrl: `${base}/${key}/iiif.json`,
      altoPrefix: `${base}/${key}/alto/`,
      logUrl: `${logs}/${key}.txt`,
    };
  };
}

/** The files with a volume's progress: the one that a worker updates, and the one that it writes last. */
export interface ProgressUrls {
  readonly progress: string;
  readonly manifest: string;
}

/** The addresses of a volume's progress, given the internal results base. */
export function progressUrls(internalBase: string, namespace: string, pipeline: string, id: string): ProgressUrls {
  const base = `${resultsBaseOf(internalBase, namespace, pipeline)}/${encodeSegment(id)}`;
  return { progress: `${base}/progress.json`, manifest: `${base}/manifest.json` };
}
