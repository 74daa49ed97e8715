import AltoViewer from "@/islands/alto_viewer.tsx";
import { readPageAddress } from "@/lib/pages/volume_address.ts";
import { type NamedCampaign, readNamedCampaign, runLogOf } from "@/lib/pages/page_paths.ts";
import { PAGE_TEXT_LABELS, PAGE_TEXT_SENTENCES } from "@/lib/pages/alto/page_text_sentences.ts";
import type { SiteDeps } from "@/lib/site/site.ts";
import { RefusedQuery, type ResultBodyProps, resultNamed, resultPage, WayBack } from "./viewer_frame.tsx";

/** The page in the query, and the campaign that the reader came from. */
interface NamedPage {
  readonly src: string;
  /** The campaign that the reader came from; null: the address names none. */
  readonly campaign: NamedCampaign | null;
}

/** `/alto`: the viewer of one page's text. */
export function altoPage(deps: SiteDeps) {
  return resultPage(deps, {
    name: () => PAGE_TEXT_LABELS.pageText,
    read: readPage,
    title: titleOf,
    Body: PageOfVolume,
  });
}

function readPage(query: URLSearchParams, resultsUrl: string): NamedPage {
  const src = resultNamed(query, "src", resultsUrl);
  if (src === null) throw new RefusedQuery(PAGE_TEXT_SENTENCES.noPageNamed);
  return { src, campaign: readNamedCampaign(query.get("campaign")) };
}

/** The page and its volume: pages of several volumes have the same name. */
function titleOf({ src }: NamedPage): string {
  const { page, volume } = readPageAddress(src);
  return [page || PAGE_TEXT_LABELS.pageText, ...(volume === null ? [] : [volume.volume])].join(" · ");
}

function PageOfVolume({ named: { src, campaign }, hasSession }: ResultBodyProps<NamedPage>) {
  const { page, volume } = readPageAddress(src);
  const of = volume === null ? [] : [volume.volume, volume.pipeline, volume.namespace];
  return (
    <>
      <WayBack campaign={campaign} runLog={volume && runLogOf(volume, campaign)} here={PAGE_TEXT_LABELS.pageText} />
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
