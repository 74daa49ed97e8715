import { campaignPath, type NamedCampaign } from "@/lib/pages/page_paths.ts";
import { LABELS, refusedUrlSentence } from "@/lib/pages/page_sentences.ts";
import { guardResultUrl } from "@/lib/pages/result_url_guard.ts";

interface BackLinkProps {
  /** The campaign that the reader came from; null: the address names none. */
  readonly campaign: NamedCampaign | null;
  /** The run log between the campaign and this page; null: there is none. */
  readonly runLog?: string | null;
  /** Name of this page. */
  readonly here: string;
}

/** The way from a page back to the list of campaigns. */
export function BackLink({ campaign, runLog = null, here }: BackLinkProps) {
  return (
    <nav class="crumbs" aria-label={LABELS.breadcrumb}>
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

/** Why an address in a query is not opened, as a sentence. */
export interface RefusedQuery {
  readonly refused: string;
}

/** The address of a result in the query, or the sentence why it is not opened; null if there is none (spec, Endpoints). */
export function resultNamed(query: URLSearchParams, name: string, resultsUrl: string): string | RefusedQuery | null {
  const text = query.get(name);
  if (text === null) return null;
  const guarded = guardResultUrl(text, resultsUrl);
  return guarded.ok ? guarded.href : { refused: refusedUrlSentence(guarded.refused, name) };
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
