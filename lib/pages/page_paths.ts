import { DNS_LABEL } from "@/lib/std/text.ts";
import type { VolumeAddress } from "./volume_address.ts";

export interface NamedCampaign {
  readonly namespace: string;
  readonly name: string;
}

/**
 * Reads the `campaign` of an address, `<namespace>/<name>`. Other text is not shown as the name of a campaign.
 *
 * @returns null where the address names none
 */
export function readNamedCampaign(text: string | null): NamedCampaign | null {
  const [namespace, name, ...rest] = text?.split("/") ?? [];
  const isName = rest.length === 0 && [namespace, name].every((part) => DNS_LABEL.test(part ?? ""));
  return isName ? { namespace, name } : null;
}

/** Writes it as a further parameter of an address: `&campaign=<namespace>%2F<name>`, or "" for none. */
function campaignParameter(campaign: NamedCampaign | null): string {
  return campaign === null ? "" : `&campaign=${encodeURIComponent(`${campaign.namespace}/${campaign.name}`)}`;
}

/** A volume of a campaign, as the addresses of viewers name it. */
export interface NamedVolume {
  readonly pipeline: string;
  readonly id: string;
  /** Its source manifest; null where none is known. */
  readonly sourceUrl: string | null;
}

/** The parameters in the address of the manifest viewer. */
export type ViewerAddress = ReturnType<typeof readViewerAddress>;

const MAX_HASH_CHARACTERS = 20_000;

/**
 * Reads `#?manifest=<address>&cv=<index>`, the form of the Universal Viewer, and `page=<name>`,
 * `campaign=<namespace>/<name>`, `volume=<pipeline>/<id>` and `source=<address>` of our own. Other parameters are ignored;
 * of one that is repeated the first counts.
 *
 * @param hash the fragment of the page, with or without its `#`
 * @param page address of the page, against which a relative address is resolved
 * @returns `manifest`: absolute, of http or https; null if there is none, or one that is not opened (`isRefused`).
 *   `canvas`: an index, which the manifest may not have; null: none
 */
export function readViewerAddress(hash: string, page: string) {
  // A plus sign is one, as it is in the path of an address, and no space as in a form.
  const text = hash.slice(0, MAX_HASH_CHARACTERS).replace(/^#?\??/, "").replaceAll("+", "%2B");
  const parameters = new URLSearchParams(text);
  const named = parameters.get("manifest")?.trim() ?? "";
  const manifest = openedAddress(named, page);
  const canvas = parameters.get("cv") ?? "";
  // The id of a volume may hold slashes.
  const [, pipeline, id] = /^([^/]+)\/(.+)$/.exec(parameters.get("volume") ?? "") ?? [];
  return {
    manifest,
    isRefused: named !== "" && manifest === null,
    canvas: /^\d{1,6}$/.test(canvas) ? Number(canvas) : null,
    page: parameters.get("page") || null,
    campaign: readNamedCampaign(parameters.get("campaign")),
    volume: id ? { pipeline, id, sourceUrl: openedAddress(parameters.get("source") ?? "", page) } : null,
  };
}

/** An absolute address that the viewer may open; null for any other text. */
function openedAddress(text: string, page: string): string | null {
  const url = text === "" ? null : URL.parse(text, page);
  const isOpened = url !== null && /^https?:$/.test(url.protocol) && url.username === "" && url.password === "";
  return isOpened ? url.href : null;
}

/**
 * Writes the fragment of the page for a manifest.
 *
 * @param place index among the canvases as the manifest lists them, or the name of a page; null for its start canvas
 */
export function writeViewerAddress(
  manifest: string,
  place: number | string | null,
  campaign: NamedCampaign | null = null,
  volume: NamedVolume | null = null,
): string {
  const at = place === null ? "" : typeof place === "number" ? `&cv=${place}` : `&page=${encodeURIComponent(place)}`;
  const named = volume === null ? "" : `&volume=${encodeURIComponent(`${volume.pipeline}/${volume.id}`)}`;
  const source = volume?.sourceUrl && volume.sourceUrl !== manifest
    ? `&source=${encodeURIComponent(volume.sourceUrl)}`
    : "";
  return `#?manifest=${encodeURIComponent(manifest)}${at}${campaignParameter(campaign)}${named}${source}`;
}

/** Parameters of the run viewer; `live`: the log is followed until the run ends. */
interface ShownRun {
  readonly logUrl: string;
  readonly manifestUrl: string | null;
  readonly live: boolean;
}

// The campaign in the addresses of viewers is the one that the reader comes from: their back links lead to it.

/** The address of a volume's run viewer (spec, Endpoints). */
export function runLogPath({ logUrl, manifestUrl, live }: ShownRun, campaign: NamedCampaign | null): string {
  const manifest = manifestUrl === null ? "" : `&manifest=${encodeURIComponent(manifestUrl)}`;
  return `/log?log=${encodeURIComponent(logUrl)}${manifest}${live ? "&live=1" : ""}${campaignParameter(campaign)}`;
}

/** The address of a volume's run viewer, where the address of one of its files alone says which volume that is. */
export function runLogOf({ logUrl, runManifestUrl }: VolumeAddress, campaign: NamedCampaign | null): string {
  return runLogPath({ logUrl, manifestUrl: runManifestUrl, live: false }, campaign);
}

/** The address of the manifest viewer; see {@link writeViewerAddress}. */
export function viewerPath(
  manifestUrl: string,
  place: number | string | null,
  campaign: NamedCampaign | null,
  volume: NamedVolume | null = null,
): string {
  return `/uv.html${writeViewerAddress(manifestUrl, place, campaign, volume)}`;
}

/** The address of the viewer of one page's text. */
export function altoPath(altoUrl: string, campaign: NamedCampaign | null): string {
  return `/alto?src=${encodeURIComponent(altoUrl)}${campaignParameter(campaign)}`;
}

/** The address of the login page that leads back to where the reader is. */
export function loginPath(next: string): string {
  return next === "/" ? "/login" : `/login?next=${encodeURIComponent(next)}`;
}

/** The list as it shows one campaign: its card alone, or its volumes for readers without scripts. */
export function campaignPath(namespace: string, name: string): string {
  return openCampaignPath(namespace, name).replace("?", `?q=${encodeURIComponent(name)}&`);
}

/** The list with one campaign's volumes from `offset` on, for readers without scripts. */
export function openCampaignPath(namespace: string, name: string, offset = 0): string {
  const open = encodeURIComponent(`${namespace}/${name}`);
  return `/?open=${open}${offset > 0 ? `&offset=${offset}` : ""}#${OPEN_CAMPAIGN_ID}`;
}

/** The element of the campaign that such an address opens. */
export const OPEN_CAMPAIGN_ID = "open-campaign";

/** A campaign that the address of the list opens. It may not exist. */
export interface OpenRequest extends NamedCampaign {
  /** Volumes to leave out. */
  readonly offset: number;
}

/** Reads `open=<namespace>/<name>` and `offset`; null when they are absent or malformed. */
export function readOpenRequest(query: URLSearchParams): OpenRequest | null {
  const parts = query.get("open")?.split("/") ?? [];
  const offset = query.get("offset") ?? "0";
  if (parts.length !== 2 || parts.includes("") || !OFFSET.test(offset)) return null;
  return { namespace: parts[0], name: parts[1], offset: Number(offset) };
}

const OFFSET = /^\d{1,9}$/;

/** Where the development server tells its pages that it has started again. */
export const DEV_RELOAD_PATH = "/_dev/reload";
