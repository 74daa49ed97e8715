import AltoViewer from "@/islands/alto_viewer.tsx";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { readPageAddress } from "@/lib/presentation/volume_address.ts";
import { type NamedCampaign, readNamedCampaign, runLogOf } from "@/lib/presentation/page_paths.ts";
import { refusedUrlSentence } from "@/lib/presentation/page_sentences.ts";
import { PAGE_TEXT_LABELS, PAGE_TEXT_SENTENCES } from "@/lib/presentation/page_text_words.ts";
import { guardResultUrl } from "@/lib/presentation/result_url_guard.ts";
import { pageResponse } from "@/lib/site/page_response.tsx";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { RefusedAddress, WayBack } from "./viewer_frame.tsx";
import { Shell } from "@/routes/frame/shell.tsx";

/** The file that the query names, once its address is known to be within the results. */
type PageRequest =
  | { readonly ok: true; readonly src: string; readonly campaign: NamedCampaign | null }
  | { readonly ok: false; readonly sentence: string };

/** `/alto`: the viewer of one page's text. It opens nothing outside the results (spec, Endpoints). */
export function altoPage(deps: SiteDeps) {
  return async function altoPage(context: RequestContext): Promise<Response> {
    const request = context.request;
    const resultsUrl = deps.resultsUrl(request);
    const requested = readPageRequest(new URLSearchParams(context.target.query), resultsUrl);
    const session = await deps.session(request);
    const user = userOf(session);
    return pageResponse(request, {
      title: requested.ok ? titleOf(requested.src) : PAGE_TEXT_LABELS.pageText,
      body: (
        <Shell user={user} current={null} hasStorage={deps.hasStorage} here={context.target}>
          {requested.ok
            ? <PageOfVolume src={requested.src} campaign={requested.campaign} hasSession={session !== null} />
            : <RefusedAddress title={PAGE_TEXT_LABELS.pageText} sentence={requested.sentence} />}
        </Shell>
      ),
    }, { assets: deps.assets, resultsUrl, status: requested.ok ? 200 : 400 });
  };
}

/** The page and its volume: pages of several volumes have the same name. */
function titleOf(src: string): string {
  const { page, volume } = readPageAddress(src);
  return [page || PAGE_TEXT_LABELS.pageText, ...(volume === null ? [] : [volume.volume])].join(" · ");
}

interface PageOfVolumeProps {
  readonly src: string;
  /** The one that the reader comes from; null: the address names none. */
  readonly campaign: NamedCampaign | null;
  readonly hasSession: boolean;
}

function PageOfVolume({ src, campaign, hasSession }: PageOfVolumeProps) {
  const { page, volume } = readPageAddress(src);
  const of = volume === null ? [] : [volume.volume, volume.pipeline, volume.namespace];
  return (
    <>
      <WayBack
        campaign={campaign}
        runLog={volume && runLogOf(volume, campaign)}
        here={PAGE_TEXT_LABELS.pageText}
      />
      <div class="head">
        <div>
          <h1 class="vid">{page || PAGE_TEXT_LABELS.pageText}</h1>
          <p>{[PAGE_TEXT_LABELS.pageText, ...of].join(" · ")}</p>
        </div>
      </div>
      <AltoViewer src={src} campaign={campaign} hasSession={hasSession} />
    </>
  );
}

function readPageRequest(query: URLSearchParams, resultsUrl: string): PageRequest {
  const src = query.get("src");
  if (src === null) return { ok: false, sentence: PAGE_TEXT_SENTENCES.noPageNamed };
  const guarded = guardResultUrl(src, resultsUrl);
  return guarded.ok
    ? { ok: true, src: guarded.href, campaign: readNamedCampaign(query.get("campaign")) }
    : { ok: false, sentence: refusedUrlSentence(guarded.refused, "src") };
}
