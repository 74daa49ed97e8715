import { addressOf, idOf, type Json, listOf, objectsOf, type Reading, wordOf } from "./json.ts";
import { imageSourcesOf } from "./image_source.ts";
import { LIMITS } from "./limits.ts";
import type { Link, Provider } from "./manifest.ts";
import { labelOf } from "./text.ts";
import { isObject } from "@/lib/std/is_object.ts";
import { percentDecoded } from "@/lib/std/percent_decoded.ts";

/** Reads links; those that are not of http or https are left out. */
export function linksOf(value: unknown, reading: Reading): readonly Link[] {
  return listOf(value, LIMITS.links).flatMap((entry) => {
    const href = addressOf(entry, reading);
    if (href === null) return [];
    const node: Json = isObject(entry) ? entry : {};
    return [{
      href,
      label: labelOf(node.label, reading) ?? lastPart(href),
      format: wordOf(node.format),
      profile: typeof node.profile === "string" && node.profile.length <= 1000 ? node.profile : null,
    }];
  });
}

/** The file name of an address, otherwise its host. */
function lastPart(href: string): string {
  const name = href.replace(/[?#].*$/s, "").split("/").findLast((part) => part !== "") ?? href;
  return percentDecoded(name) ?? name;
}

/** The institutions behind a manifest; those with nothing to show are left out. */
export function providersOf({ provider }: Json, reading: Reading): readonly Provider[] {
  return objectsOf(provider, LIMITS.providers).map((agent) => ({
    label: labelOf(agent.label, reading) ?? "",
    homepages: linksOf(agent.homepage, reading),
    logos: imageSourcesOf(agent.logo, reading),
    seeAlso: linksOf(agent.seeAlso, reading),
  })).filter(({ label, homepages, logos, seeAlso }) =>
    label !== "" || [homepages, logos, seeAlso].some(({ length }) => length > 0)
  );
}

/** The links among `links` that lead to ALTO files: by profile, by format, or by a label that says so. */
export function altoAmong(links: readonly Link[]): readonly Link[] {
  if (links.length === 0) return links;
  const seen = new Set<string>();
  return links.filter(({ href, label, format, profile }) => {
    const isAlto = format === "application/xml+alto" || format === "application/alto+xml" ||
      /\/alto\//i.test(profile ?? "") || /\balto\b/i.test(label) && !/html|pdf|plain/.test(format ?? "");
    return isAlto && !seen.has(href) && seen.add(href);
  });
}

/** The identifier of a resource without a fragment, as canvases are referred to. */
export function canvasIdOf(value: unknown): string {
  const source = isObject(value) ? value.source ?? value : value;
  return idOf(source).split("#", 1)[0];
}
