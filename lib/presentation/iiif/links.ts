import { addressOf, idOf, type Json, listOf, objectsOf, type Reading, wordOf } from "./json.ts";
import { imageSourcesOf } from "./image_source.ts";
import { LIMITS } from "./limits.ts";
import type { Link, Provider, Reference } from "./manifest.ts";
import { labelOf } from "./text.ts";
import { isObject } from "@/lib/std/untrusted.ts";
import { percentDecoded } from "@/lib/std/text.ts";

/**
 * Reads links. Those that are not of http or https have their label alone, or the sentence that stands in place of an
 * address; without either they are left out.
 */
export function linksOf(value: unknown, reading: Reading): readonly Reference[] {
  return listOf(value, LIMITS.links).flatMap((entry) => {
    const id = idOf(entry);
    const href = isSentence(id) ? null : addressOf(id, reading);
    const node: Json = isObject(entry) ? entry : {};
    const label = labelOf(node.label, reading) ??
      (href !== null ? lastPart(href) : isSentence(id) ? labelOf(id, reading) : null);
    if (label === null) return [];
    return [{
      href,
      label,
      format: wordOf(node.format),
      profile: typeof node.profile === "string" && node.profile.length <= 1000 ? node.profile : null,
    }];
  });
}

/** Whether a text stands in place of an address: neither of http or https, nor a relative path or file name. */
function isSentence(id: string): boolean {
  if (id === "" || /^(?:javascript|data|vbscript|blob|file):/i.test(id)) return false;
  if (/^(?:www\.|[^/?#]*@)/i.test(id)) return true;
  return !/^https?:\S|^(?:\.{0,2}\/|[?#])\S*$|^[^\s:]+\.[a-z][a-z\d]{0,4}(?:[?#]\S*)?$|^[^\s:]+\/$/i.test(id);
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
    homepages: [
      ...linksOf(agent.homepage, reading),
      ...linksOf(agent.logo, reading).filter(({ href }) => href === null),
    ],
    logos: imageSourcesOf(listOf(agent.logo, LIMITS.images).filter((logo) => !isSentence(idOf(logo))), reading),
    seeAlso: linksOf(agent.seeAlso, reading),
  })).filter(({ label, homepages, logos, seeAlso }) =>
    label !== "" || [homepages, logos, seeAlso].some(({ length }) => length > 0)
  );
}

/** The links among `links` that lead to ALTO files: by profile, by format, or by a label that says so. */
export function altoAmong(links: readonly Reference[]): readonly Link[] {
  if (links.length === 0) return [];
  const seen = new Set<string>();
  return links.filter((link): link is Link => link.href !== null).filter(({ href, label, format, profile }) => {
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
