import { DNS_LABEL } from "@/lib/std/text.ts";

/** What names a campaign. */
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
export function campaignParameter(campaign: NamedCampaign | null): string {
  return campaign === null ? "" : `&campaign=${encodeURIComponent(`${campaign.namespace}/${campaign.name}`)}`;
}
