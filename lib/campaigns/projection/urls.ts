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

/**
 * The addresses of a volume's progress, given the internal results base: of the file that a worker updates, and of the one
 * that it writes last.
 */
export function progressUrls(internalBase: string, namespace: string, pipeline: string, id: string) {
  const base = `${resultsBaseOf(internalBase, namespace, pipeline)}/${encodeSegment(id)}`;
  return { progress: `${base}/progress.json`, manifest: `${base}/manifest.json` };
}

/**
 * The source of a volume when each browser can open it: an absolute http(s) URL, returned unchanged; else null (spec,
 * VolumeView). Stricter than the URL Standard, whose parser repairs hosts (`%41`, `1.2.3`, `a!b`) that other parsers of
 * the same line reject.
 */
export function openableSource(source: string | null): string | null {
  // deno-lint-ignore no-control-regex
  if (source === null || !/^https?:\/\//i.test(source) || /[\x00-\x20\x7f\\]/.test(source)) return null;
  const authority = source.slice(source.indexOf("//") + 2).split(/[/?#]/, 1)[0];
  const host = authority.slice(authority.lastIndexOf("@") + 1);
  const url = URL.parse(source);
  return url && isPlainHost(host, url.hostname) ? source : null;
}

/** `written` is the original host and port, `parsed` the host after IDNA and number parsing. */
function isPlainHost(written: string, parsed: string): boolean {
  if (written.startsWith("[")) return !written.includes("%");
  if (written === "" || written.includes("%")) return false;
  const name = written.replace(/:\d*$/, "").replace(/\.$/, "");
  const labels = parsed.replace(/\.$/, "").split(".");
  if (!labels.every((label) => /^[A-Za-z0-9_-]+$/.test(label))) return false;
  const isNumeric = /^\d+$/.test(labels[labels.length - 1]);
  return !isNumeric || /^(?:(?:0|[1-9]\d{0,2})\.){3}(?:0|[1-9]\d{0,2})$/.test(name);
}
