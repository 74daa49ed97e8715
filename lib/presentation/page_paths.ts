import { writeViewerAddress } from "./viewer_address.ts";
import { campaignParameter, type NamedCampaign } from "./named_campaign.ts";
import type { VolumeAddress } from "./volume_address.ts";

/** What a run viewer shows; `live` follows the log until the run ends. */
interface ShownRun {
  readonly logUrl: string;
  readonly manifestUrl: string | null;
  readonly live: boolean;
}

// The campaign in the addresses of viewers is the one that the reader comes from, to which their way back leads.

/** The address of a volume's run viewer (spec, Endpoints). */
export function runLogPath({ logUrl, manifestUrl, live }: ShownRun, campaign: NamedCampaign | null): string {
  const manifest = manifestUrl === null ? "" : `&manifest=${encodeURIComponent(manifestUrl)}`;
  return `/log?log=${encodeURIComponent(logUrl)}${manifest}${live ? "&live=1" : ""}${campaignParameter(campaign)}`;
}

/** The address of a volume's run viewer, where the address of one of its files alone says which volume that is. */
export function runLogOf({ logUrl, runManifestUrl }: VolumeAddress, campaign: NamedCampaign | null): string {
  return runLogPath({ logUrl, manifestUrl: runManifestUrl, live: false }, campaign);
}

/** The address of the manifest viewer; it opens the canvas with this index, where that is null the manifest's first. */
export function viewerPath(manifestUrl: string, canvas: number | null, campaign: NamedCampaign | null): string {
  return `/uv.html${writeViewerAddress(manifestUrl, canvas, campaign)}`;
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

/** Where the development server tells its pages that it has started again. */
export const DEV_RELOAD_PATH = "/_dev/reload";
