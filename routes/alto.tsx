import { BackLink, RefusedAddress, type RefusedQuery, resultNamed } from "@/components/viewer/result_page.tsx";
import AltoViewer from "@/islands/alto_viewer.tsx";
import { type NamedCampaign, readNamedCampaign, runLogOf } from "@/lib/pages/page_paths.ts";
import { PAGE_TEXT_LABELS, PAGE_TEXT_SENTENCES } from "@/lib/pages/alto/page_text_sentences.ts";
import { readPageAddress } from "@/lib/pages/volume_address.ts";
import { userOf } from "@/lib/results/session_check.ts";
import { page } from "@/lib/site/define.ts";
import { define } from "@/lib/site/state.ts";

/** `/alto`: the viewer of one page's text. */
export const handler = define.handlers({
  async GET({ req, url, state }) {
    const session = await state.session(req);
    const named = readPage(url.searchParams, state.resultsUrl(req));
    state.user = userOf(session);
    state.title = "refused" in named ? PAGE_TEXT_LABELS.pageText : titleOf(named);
    return page({ named, hasSession: session !== null }, { status: "refused" in named ? 400 : 200 });
  },
});

interface NamedPage {
  readonly src: string;
  readonly campaign: NamedCampaign | null;
}

/** The page in the query, and the campaign that the reader came from. */
function readPage(query: URLSearchParams, resultsUrl: string): NamedPage | RefusedQuery {
  const src = resultNamed(query, "src", resultsUrl);
  if (src === null) return { refused: PAGE_TEXT_SENTENCES.noPageNamed };
  return typeof src === "string" ? { src, campaign: readNamedCampaign(query.get("campaign")) } : src;
}

/** The page and its volume: pages of several volumes have the same name. */
function titleOf({ src }: { readonly src: string }): string {
  const { page, volume } = readPageAddress(src);
  return [page || PAGE_TEXT_LABELS.pageText, ...(volume === null ? [] : [volume.volume])].join(" · ");
}

export default define.page<typeof handler>(function PageOfVolume({ data: { named, hasSession } }) {
  if ("refused" in named) return <RefusedAddress title={PAGE_TEXT_LABELS.pageText} sentence={named.refused} />;
  const { src, campaign } = named;
  const { page, volume } = readPageAddress(src);
  const of = volume === null ? [] : [volume.volume, volume.pipeline, volume.namespace];
  return (
    <>
      <BackLink campaign={campaign} runLog={volume && runLogOf(volume, campaign)} here={PAGE_TEXT_LABELS.pageText} />
      <div class="head">
        <div>
          <h1 class="vid">{page || PAGE_TEXT_LABELS.pageText}</h1>
          <p>{[PAGE_TEXT_LABELS.pageText, ...of].join(" · ")}</p>
        </div>
      </div>
      <AltoViewer src={src} campaign={campaign} hasSession={hasSession} />
    </>
  );
});
