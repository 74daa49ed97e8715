import { BackLink, RefusedAddress, type RefusedQuery, resultNamed } from "@/components/viewer/result_page.tsx";
import RunViewer from "@/islands/run_viewer.tsx";
import { addressOf } from "@/lib/http/request_context.ts";
import { type NamedCampaign, readNamedCampaign, viewerPath } from "@/lib/pages/page_paths.ts";
import { LOG_LABELS, LOG_SENTENCES } from "@/lib/pages/log/log_sentences.ts";
import { readLogAddress } from "@/lib/pages/volume_address.ts";
import { userOf } from "@/lib/results/session_check.ts";
import { page } from "@/lib/site/define.ts";
import { define } from "@/lib/site/state.ts";

/** `/log`: the viewer of a run's log. */
export const handler = define.handlers({
  async GET({ req, url, state }) {
    const session = await state.session(req);
    const run = readRun(url.searchParams, state.resultsUrl(req));
    state.user = userOf(session);
    state.title = "refused" in run ? LOG_LABELS.runLog : titleOf(run);
    return page({ run, hasSession: session !== null }, { status: "refused" in run ? 400 : 200 });
  },
});

interface NamedRun {
  readonly log: string;
  readonly manifest: string | null;
  readonly live: boolean;
  readonly campaign: NamedCampaign | null;
}

/** The run in the query, and the campaign that the reader came from. */
function readRun(query: URLSearchParams, resultsUrl: string): NamedRun | RefusedQuery {
  const log = resultNamed(query, "log", resultsUrl);
  if (log === null) return { refused: LOG_SENTENCES.noLogNamed };
  if (typeof log !== "string") return log;
  const manifest = resultNamed(query, "manifest", resultsUrl);
  if (typeof manifest !== "string" && manifest !== null) return manifest;
  return { log, manifest, live: query.get("live") === "1", campaign: readNamedCampaign(query.get("campaign")) };
}

function titleOf({ log }: { readonly log: string }): string {
  const { volume } = readLogAddress(log);
  return volume === "" ? LOG_LABELS.runLog : LOG_LABELS.runLogOf(volume);
}

export default define.page<typeof handler>(function RunLog({ data: { run, hasSession }, info }) {
  if ("refused" in run) return <RefusedAddress title={LOG_LABELS.runLog} sentence={run.refused} />;
  const { log, manifest, live, campaign } = run;
  const { volume, pipeline, namespace } = readLogAddress(log);
  return (
    <>
      <BackLink campaign={campaign} here={LOG_LABELS.runLog} />
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
      <RunViewer {...run} hasSession={hasSession} address={addressOf(info.target)} />
    </>
  );
});
