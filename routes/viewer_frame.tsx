import type { ComponentChildren, FunctionComponent } from "preact";

import type { RequestContext } from "@/lib/http/request_context.ts";
import { campaignPath, type NamedCampaign } from "@/lib/pages/page_paths.ts";
import { LABELS, refusedUrlSentence } from "@/lib/pages/page_sentences.ts";
import { guardResultUrl } from "@/lib/pages/result_url_guard.ts";
import { pageResponse } from "@/lib/site/page_response.tsx";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { addressOf, Shell } from "@/routes/frame/shell.tsx";

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

/** A page that shows a file of the results, as its query names it. */
interface ResultPage<T> {
  /** The name of such a page. */
  name(): string;
  /** Reads the query. @throws {RefusedQuery} */
  read(query: URLSearchParams, resultsUrl: string): T;
  /** The title of a page that shows what was named. */
  title(named: T): string;
  readonly Body: FunctionComponent<ResultBodyProps<T>>;
}

export interface ResultBodyProps<T> {
  readonly named: T;
  readonly hasSession: boolean;
  /** The path and query of this page. */
  readonly address: string;
}

/** The handler of a page of a result file. It opens nothing outside the results (spec, Endpoints). */
export function resultPage<T>(deps: SiteDeps, { name, read, title, Body }: ResultPage<T>) {
  return async function resultPage(context: RequestContext): Promise<Response> {
    const { request, target } = context;
    const resultsUrl = deps.resultsUrl(request);
    const session = await deps.session(request);
    const respond = (title: string, status: number, body: ComponentChildren) =>
      pageResponse(request, {
        title,
        body: (
          <Shell user={userOf(session)} current={null} hasStorage={deps.hasStorage} here={target}>
            {body}
          </Shell>
        ),
      }, { assets: deps.assets, resultsUrl, status });
    try {
      const named = read(new URLSearchParams(target.query), resultsUrl);
      const body = <Body named={named} hasSession={session !== null} address={addressOf(target)} />;
      return respond(title(named), 200, body);
    } catch (error) {
      if (!(error instanceof RefusedQuery)) throw error;
      return respond(name(), 400, <RefusedAddress title={name()} sentence={error.message} />);
    }
  };
}

/** A query that names no file to be opened; its message is a sentence for the reader. */
export class RefusedQuery extends Error {}

/** The address of a result that the query names; null where it names none. @throws {RefusedQuery} */
export function resultNamed(query: URLSearchParams, name: string, resultsUrl: string): string | null {
  const text = query.get(name);
  if (text === null) return null;
  const guarded = guardResultUrl(text, resultsUrl);
  if (guarded.ok) return guarded.href;
  throw new RefusedQuery(refusedUrlSentence(guarded.refused, name));
}

/** The page of a viewer that does not open what its address names. */
function RefusedAddress({ title, sentence }: { title: string; sentence: string }) {
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
