import { campaignParameter, type NamedCampaign, readNamedCampaign } from "./named_campaign.ts";

/** What the address of the manifest viewer names. */
interface ViewerAddress {
  /** Absolute address of a manifest, of http or https; null where none is named, or none that may be opened. */
  readonly manifest: string | null;
  /** An address is named that may not be opened. */
  readonly isRefused: boolean;
  /** Index of a canvas; null where none is named. The manifest may have fewer canvases. */
  readonly canvas: number | null;
  /** The one that the reader comes from; null where none is named. */
  readonly campaign: NamedCampaign | null;
}

const MAX_HASH_CHARACTERS = 20_000;

/**
 * Reads `#?manifest=<address>&cv=<index>`, the form of the Universal Viewer, and `campaign=<namespace>/<name>` of our own.
 * Other parameters are ignored; of one that is repeated the first counts.
 *
 * @param hash the fragment of the page, with or without its `#`
 * @param page address of the page, against which a relative address is resolved
 */
export function readViewerAddress(hash: string, page: string): ViewerAddress {
  // A plus sign is one, as it is in the path of an address, and no space as in a form.
  const text = hash.slice(0, MAX_HASH_CHARACTERS).replace(/^#?\??/, "").replaceAll("+", "%2B");
  const parameters = new URLSearchParams(text);
  const named = parameters.get("manifest")?.trim() ?? "";
  const url = named === "" ? null : URL.parse(named, page);
  const isOpened = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  const canvas = parameters.get("cv") ?? "";
  return {
    manifest: isOpened ? url.href : null,
    isRefused: named !== "" && !isOpened,
    canvas: /^\d{1,6}$/.test(canvas) ? Number(canvas) : null,
    campaign: readNamedCampaign(parameters.get("campaign")),
  };
}

/**
 * Writes the fragment of the page for a manifest.
 *
 * @param canvas index among the canvases as the manifest lists them; null for the one that the manifest begins with
 */
export function writeViewerAddress(
  manifest: string,
  canvas: number | null,
  campaign: NamedCampaign | null = null,
): string {
  const page = canvas === null ? "" : `&cv=${canvas}`;
  return `#?manifest=${encodeURIComponent(manifest)}${page}${campaignParameter(campaign)}`;
}
