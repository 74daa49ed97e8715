import type { NamedCampaign } from "@/lib/presentation/named_campaign.ts";
import { viewerPath } from "@/lib/presentation/page_paths.ts";
import type { RunPage } from "@/lib/presentation/run_manifest/run_manifest.ts";

interface PageLinkProps {
  readonly page: Pick<RunPage, "name" | "canvas">;
  /** The volume's manifest; null where the run names none. */
  readonly viewerUrl: string | null;
  /** The one that the reader comes from. */
  readonly campaign: NamedCampaign | null;
}

/** The name of a page, which leads to it in the manifest viewer where the volume's manifest shows it. */
export function PageLink({ page: { name, canvas }, viewerUrl, campaign }: PageLinkProps) {
  if (viewerUrl === null || canvas === null) return <span class="vid">{name}</span>;
  return <a class="vid" href={viewerPath(viewerUrl, canvas, campaign)}>{name}</a>;
}
