import { OpenCampaign } from "@/components/open_campaign.tsx";
import type { JobDetail } from "@/lib/campaigns/projection/types.ts";
import { SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { OPEN_CAMPAIGN_ID } from "@/lib/presentation/page_paths.ts";

/** A campaign that the query names. It may not exist. */
export interface OpenRequest {
  readonly namespace: string;
  readonly name: string;
  /** Volumes to leave out. */
  readonly offset: number;
}

/** null: there is no such campaign. */
export type OpenAnswer = { readonly detail: JobDetail } | { readonly problem: string } | null;

/** Reads `open=<namespace>/<name>` and `offset`; null when they are absent or malformed. */
export function readOpenRequest(query: URLSearchParams): OpenRequest | null {
  const parts = query.get("open")?.split("/") ?? [];
  const offset = query.get("offset") ?? "0";
  if (parts.length !== 2 || parts.includes("") || !OFFSET.test(offset)) return null;
  return { namespace: parts[0], name: parts[1], offset: Number(offset) };
}

/** As many digits as every volume of the largest campaign needs. */
const OFFSET = /^\d{1,9}$/;

interface OpenedCampaignProps {
  readonly requested: OpenRequest;
  readonly answer: OpenAnswer;
  /** ms since 1970 */
  readonly now: number;
}

/** The campaign that the query names, for browsers without scripts: with scripts the list opens its card. */
export function OpenedCampaign({ requested, answer, now }: OpenedCampaignProps) {
  if (answer === null) {
    return <NotOpened>{SENTENCES.noCampaign(requested.namespace, requested.name)}</NotOpened>;
  }
  return (
    <noscript>
      {"detail" in answer
        ? <OpenCampaign detail={answer.detail} offset={requested.offset} style={{ zone: "UTC", now }} />
        : <NotOpened>{answer.problem}</NotOpened>}
    </noscript>
  );
}

function NotOpened({ children }: { readonly children: string }) {
  return <p id={OPEN_CAMPAIGN_ID} class="banner bad" role="alert">{children}</p>;
}
