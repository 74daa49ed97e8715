import { campaignPath, type NamedCampaign } from "@/lib/presentation/page_paths.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";

interface WayBackProps {
  /** The campaign that the reader came from; null: the address names none. */
  readonly campaign: NamedCampaign | null;
  /** The run log between the campaign and this page; null: there is none. */
  readonly runLog?: string | null;
  /** What this page is. */
  readonly here: string;
}

/** The way from a page back to the list of campaigns. */
export function WayBack({ campaign, runLog = null, here }: WayBackProps) {
  return (
    <nav class="crumbs" aria-label={LABELS.wayBack}>
      <ol>
        <li>
          <a href="/">{LABELS.campaigns}</a>
        </li>
        {campaign !== null && (
          <li>
            <a href={campaignPath(campaign.namespace, campaign.name)}>{campaign.name}</a>
          </li>
        )}
        {runLog !== null && (
          <li>
            <a href={runLog}>{LABELS.runLog}</a>
          </li>
        )}
        <li aria-current="page">{here}</li>
      </ol>
    </nav>
  );
}

/** The page of a viewer that does not open what its address names. */
export function RefusedAddress({ title, sentence }: { title: string; sentence: string }) {
  return (
    <>
      <div class="head">
        <h1>{title}</h1>
      </div>
      <p class="banner bad" role="alert">{sentence}</p>
      <p>
        <a href="/">{LABELS.toCampaigns}</a>
      </p>
    </>
  );
}
