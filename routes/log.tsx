import RunViewer from "@/islands/run_viewer.tsx";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { readLogAddress } from "@/lib/presentation/volume_address.ts";
import { type NamedCampaign, readNamedCampaign, viewerPath } from "@/lib/presentation/page_paths.ts";
import { refusedUrlSentence } from "@/lib/presentation/page_sentences.ts";
import { guardResultUrl } from "@/lib/presentation/result_url_guard.ts";
import { LOG_LABELS, LOG_SENTENCES } from "@/lib/presentation/run_log/words.ts";
import { pageResponse } from "@/lib/site/page_response.tsx";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { RefusedAddress, WayBack } from "./viewer_frame.tsx";
import { addressOf, Shell } from "@/routes/frame/shell.tsx";

/** The log that the query names, once its address is known to be within the results. */
type LogRequest =
  | { readonly ok: true; readonly run: NamedRun }
  | { readonly ok: false; readonly sentence: string };

interface NamedRun {
  readonly log: string;
  readonly manifest: string | null;
  readonly live: boolean;
  /** The campaign that the reader came from; null: the address names none. */
  readonly campaign: NamedCampaign | null;
}

/** `/log`: the viewer of a run's log. It opens nothing outside the results (spec, Endpoints). */
export function logPage(deps: SiteDeps) {
  return async function logPage(context: RequestContext): Promise<Response> {
    const request = context.request;
    const resultsUrl = deps.resultsUrl(request);
    const named = readLogRequest(new URLSearchParams(context.target.query), resultsUrl);
    const session = await deps.session(request);
    const user = userOf(session);
    return pageResponse(request, {
      title: named.ok ? titleOf(named.run.log) : LOG_LABELS.runLog,
      body: (
        <Shell user={user} current={null} hasStorage={deps.hasStorage} here={context.target}>
          {named.ok
            ? <Run {...named.run} hasSession={session !== null} address={addressOf(context.target)} />
            : <RefusedAddress title={LOG_LABELS.runLog} sentence={named.sentence} />}
        </Shell>
      ),
    }, { assets: deps.assets, resultsUrl, status: named.ok ? 200 : 400 });
  };
}

function titleOf(log: string): string {
  const { volume } = readLogAddress(log);
  return volume === "" ? LOG_LABELS.runLog : LOG_LABELS.runLogOf(volume);
}

interface RunProps extends NamedRun {
  readonly hasSession: boolean;
  /** The path and query of this page. */
  readonly address: string;
}

function Run({ log, manifest, live, campaign, hasSession, address }: RunProps) {
  const { volume, pipeline, namespace } = readLogAddress(log);
  return (
    <>
      <WayBack campaign={campaign} here={LOG_LABELS.runLog} />
      <div class="log-head">
        <div>
          <h1 class="vid">{volume || LOG_LABELS.runLog}</h1>
          <p>{LOG_LABELS.runLog}{pipeline !== null && ` · ${pipeline}`}{namespace !== null && ` · ${namespace}`}</p>
        </div>
        <div class="head-links">
          <a class="btn" href={log}>{LOG_LABELS.rawText}</a>
          {/* A run publishes the viewer manifest beside its own, at its end. */}
          {manifest !== null && !live && (
            <a class="btn primary" href={viewerPath(new URL("iiif.json", manifest).href, null, campaign)}>
              {LOG_LABELS.viewPages}
            </a>
          )}
        </div>
      </div>
      <RunViewer
        log={log}
        manifest={manifest}
        live={live}
        campaign={campaign}
        hasSession={hasSession}
        address={address}
      />
    </>
  );
}

function readLogRequest(query: URLSearchParams, resultsUrl: string): LogRequest {
  const log = query.get("log");
  if (log === null) {
    return { ok: false, sentence: LOG_SENTENCES.noLogNamed };
  }
  const guarded = guardResultUrl(log, resultsUrl);
  if (!guarded.ok) return { ok: false, sentence: refusedUrlSentence(guarded.refused, "log") };
  const manifest = query.get("manifest");
  const guardedManifest = manifest === null ? null : guardResultUrl(manifest, resultsUrl);
  if (guardedManifest && !guardedManifest.ok) {
    return { ok: false, sentence: refusedUrlSentence(guardedManifest.refused, "manifest") };
  }
  return {
    ok: true,
    run: {
      log: guarded.href,
      manifest: guardedManifest?.href ?? null,
      live: query.get("live") === "1",
      campaign: readNamedCampaign(query.get("campaign")),
    },
  };
}
