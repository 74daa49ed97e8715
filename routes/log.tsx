import RunViewer from "@/islands/run_viewer.tsx";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { readLogAddress } from "@/lib/presentation/log_address.ts";
import { LABELS, refusedUrlSentence, SENTENCES } from "@/lib/presentation/page_sentences.ts";
import { guardResultUrl } from "@/lib/presentation/result_url_guard.ts";
import { pageResponse } from "@/lib/site/page_response.ts";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { RefusedAddress } from "./refused_address.tsx";
import { Shell } from "./shell.tsx";

/** The log that the query names, once its address is known to be within the results. */
type LogRequest =
  | { readonly ok: true; readonly log: string; readonly manifest: string | null; readonly live: boolean }
  | { readonly ok: false; readonly sentence: string };

/** `/log`: the viewer of a run's log. It opens nothing outside the results (spec, Endpoints). */
export function logPage(deps: SiteDeps) {
  return async function logPage(context: RequestContext): Promise<Response> {
    const request = context.request;
    const resultsUrl = deps.resultsUrl(request);
    const asked = readLogRequest(new URLSearchParams(context.target.query), resultsUrl);
    const session = await deps.session(request);
    const user = userOf(session);
    return pageResponse(request, {
      title: asked.ok ? LABELS.runLogOf(readLogAddress(asked.log).volume) : LABELS.runLog,
      body: (
        <Shell user={user} current={null}>
          {asked.ok
            ? <Run log={asked.log} manifest={asked.manifest} live={asked.live} hasSession={session !== null} />
            : <RefusedAddress title={LABELS.runLog} sentence={asked.sentence} />}
        </Shell>
      ),
    }, { assets: deps.assets, resultsUrl, status: asked.ok ? 200 : 400 });
  };
}

interface RunProps {
  readonly log: string;
  readonly manifest: string | null;
  readonly live: boolean;
  readonly hasSession: boolean;
}

function Run({ log, manifest, live, hasSession }: RunProps) {
  const { volume, pipeline, namespace } = readLogAddress(log);
  return (
    <>
      <div class="head">
        <div>
          <h1 class="vid">{volume}</h1>
          <p>{LABELS.runLog}{pipeline !== null && ` · ${pipeline}`}{namespace !== null && ` · ${namespace}`}</p>
        </div>
      </div>
      <RunViewer log={log} manifest={manifest} live={live} hasSession={hasSession} />
    </>
  );
}

function readLogRequest(query: URLSearchParams, resultsUrl: string): LogRequest {
  const log = query.get("log");
  if (log === null) {
    return { ok: false, sentence: SENTENCES.noLogNamed };
  }
  const guarded = guardResultUrl(log, resultsUrl);
  if (!guarded.ok) return { ok: false, sentence: refusedUrlSentence(guarded.refused, "log") };
  const manifest = query.get("manifest");
  const guardedManifest = manifest === null ? null : guardResultUrl(manifest, resultsUrl);
  if (guardedManifest && !guardedManifest.ok) {
    return { ok: false, sentence: refusedUrlSentence(guardedManifest.refused, "manifest") };
  }
  return { ok: true, log: guarded.href, manifest: guardedManifest?.href ?? null, live: query.get("live") === "1" };
}
