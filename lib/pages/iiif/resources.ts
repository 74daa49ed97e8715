import { isObject } from "@/lib/std/untrusted.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { imageSourcesOf } from "./image_service.ts";
import { type Behavior, BEHAVIORS, type Link, type MetadataEntry, type Provider, type Reference } from "./manifest.ts";
import {
  addressOf,
  idOf,
  type Json,
  labelOf,
  LIMITS,
  listOf,
  metadataEntry,
  metadataOf,
  objectsOf,
  type Reading,
  textOf,
  wordOf,
} from "./nodes.ts";

/** Reads the members that manifests and canvases have in common. */
export function describedOf(node: Json, reading: Reading) {
  return {
    id: idOf(node),
    summary: textOf(node.summary ?? node.description, reading),
    metadata: metadataOf(node.metadata, reading),
    requiredStatement: requiredStatementOf(node, reading),
    homepages: linksOf(node.homepage ?? node.related, reading),
    renderings: linksOf(node.rendering, reading),
    seeAlso: linksOf(node.seeAlso, reading),
    behaviors: behaviorsOf(node),
  };
}

/** The known behaviors of a resource, each once. */
export function behaviorsOf({ behavior, viewingHint }: Json): readonly Behavior[] {
  const value = behavior ?? viewingHint;
  if (value === undefined) return [];
  const stated = new Set(listOf(value, LIMITS.words).map(wordOf));
  return BEHAVIORS.filter((behavior) => stated.has(behavior));
}

/** The statement that must be shown with a resource; null without any words. */
function requiredStatementOf({ requiredStatement, attribution }: Json, reading: Reading): MetadataEntry | null {
  const stated = requiredStatement ?? (attribution && { label: "Attribution", value: attribution });
  const node = listOf(stated, 1)[0];
  const isPair = isObject(node) && ("label" in node || "value" in node);
  const entry = metadataEntry(isPair ? node : { value: stated }, reading);
  return entry && entry.values.length > 0 ? entry : null;
}

/**
 * Reads links. A link that is not of http or https has only its label, or a sentence in place of its address; without either
 * it is left out.
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

/** Whether a text in place of an address is none: neither of http or https, nor a relative path or file name. */
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

/** The institutions behind a manifest; those with nothing to show are left out. Presentation 2 has a logo alone. */
export function providersOf({ provider, logo }: Json, reading: Reading): readonly Provider[] {
  return objectsOf(provider ?? (logo && { logo }), LIMITS.providers).map((agent) => ({
    label: labelOf(agent.label, reading) ?? "",
    homepages: [
      ...linksOf(agent.homepage, reading),
      ...linksOf(agent.logo, reading).filter(({ href }) => href === null),
    ],
    logos: imageSourcesOf(listOf(agent.logo, LIMITS.images).filter((logo) => !isSentence(idOf(logo))), reading),
  })).filter(({ label, homepages, logos }) => label !== "" || homepages.length + logos.length > 0);
}

/** The licence or rights statement: its address, else its words; of several the first with an address. */
export function rightsOf({ rights, license }: Json, reading: Reading): string | null {
  const stated = listOf(rights ?? license, LIMITS.links);
  return stated.map((entry) => webAddressOf(idOf(entry))).find((address) => address !== null) ??
    stated.map((entry) => wordsOf(entry, reading)).find((words) => words !== null) ?? null;
}

/** A text that is an address of http or https and nothing else; null: it is none. */
export function webAddressOf(text: string): string | null {
  return /^https?:\/\/\S+$/i.test(text) ? addressOf(text, { base: text, languages: [] }) : null;
}

function wordsOf(entry: unknown, reading: Reading): string | null {
  return isObject(entry) && idOf(entry) !== "" ? labelOf(entry.label ?? idOf(entry), reading) : textOf(entry, reading);
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
  const source = isObject(value) ? value.source ?? value.full ?? value : value;
  return idOf(source).split("#", 1)[0];
}
