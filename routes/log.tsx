import RunViewer from "@/islands/run_viewer.tsx";
import { readLogAddress } from "@/lib/pages/volume_address.ts";
import { type NamedCampaign, readNamedCampaign, viewerPath } from "@/lib/pages/page_paths.ts";
import { LOG_LABELS, LOG_SENTENCES } from "@/lib/pages/log/log_sentences.ts";
import type { SiteDeps } from "@/lib/site/site.ts";
import { RefusedQuery, type ResultBodyProps, resultNamed, resultPage, WayBack } from "./viewer_frame.tsx";

/** The run in the query, and the campaign that the reader came from. */
interface NamedRun {
  readonly log: string;
  readonly manifest: string | null;
  readonly live: boolean;
  /** The campaign that the reader came from; null: the address names none. */
  readonly campaign: NamedCampaign | null;
}

/** `/log`: the viewer of a run's log. */
export function logPage(deps: SiteDeps) {
  return resultPage(deps, { name: () => LOG_LABELS.runLog, read: readRun, title: titleOf, Body: Run });
}

function readRun(query: URLSearchParams, resultsUrl: string): NamedRun {
  const log = resultNamed(query, "log", resultsUrl);
  if (log === null) throw new RefusedQuery(LOG_SENTENCES.noLogNamed);
  return {
    log,
    manifest: resultNamed(query, "manifest", resultsUrl),
    live: query.get("live") === "1",
    campaign: readNamedCampaign(query.get("campaign")),
  };
}

function titleOf({ log }: NamedRun): string {
  const { volume } = readLogAddress(log);
  return volume === "" ? LOG_LABELS.runLog : LOG_LABELS.runLogOf(volume);
}

function Run({ named, hasSession, address }: ResultBodyProps<NamedRun>) {
  const { log, manifest, live, campaign } = named;
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
      <RunViewer {...named} hasSession={hasSession} address={address} />
    </>
  );
}
