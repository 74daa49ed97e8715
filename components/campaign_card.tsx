import { useMemo } from "preact/hooks";

import type { JobDetail, JobSummary, VolumeView } from "@/lib/campaigns/projection/types.ts";
import type { CardTrouble, CardView } from "@/lib/client/card_store.ts";
import { saveCsv } from "@/lib/client/save_csv.ts";
import { accentOf } from "@/lib/presentation/campaign_state.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import { openCampaignPath } from "@/lib/presentation/page_paths.ts";
import { problemsOf } from "@/lib/presentation/problems.ts";
import { SCRIPT_FAILURE } from "@/lib/presentation/frame_sentences.ts";
import { csvName } from "@/lib/presentation/volume_csv.ts";
import { withNamedRows } from "@/lib/presentation/volume_rows.ts";
import { CardIdentity } from "./card_identity.tsx";
import { CardProblems } from "./card_problems.tsx";
import type { OPEN_ZONES } from "./open_zones.tsx";

interface CampaignCardProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  readonly volumes: readonly VolumeView[];
  /** Volumes that are not loaded. */
  readonly remaining: number;
  readonly loadingMore: boolean;
  /** All volumes are being read. */
  readonly loadingAll: boolean;
  readonly trouble: CardTrouble | null;
  /** Why the failed volumes were not saved, or what their file lacks. */
  readonly failedProblem: string | null;
  readonly open: boolean;
  /** What only an open card shows; null until its code is loaded, `failed` where it could not be. */
  readonly zones: typeof OPEN_ZONES | "failed" | null;
  /** The name alone would be ambiguous. */
  readonly spansNamespaces: boolean;
  readonly style: MomentStyle;
  readonly view: CardView;
  readonly onFold: () => void;
  readonly onLoadMore: () => void;
  /** Reads all volumes that are not loaded; null where one of the reads failed. */
  readonly onLoadAll: () => Promise<readonly VolumeView[] | null>;
  /** All failed volumes; null where a read failed. */
  readonly onFailed: () => Promise<readonly VolumeView[] | null>;
}

/** One campaign: identity and state; body, while open; problems; provenance. */
export function CampaignCard(props: CampaignCardProps) {
  const { job, detail, volumes, open } = props;
  const zones = open && props.zones !== "failed" ? props.zones : null;
  const body = `campaign-${job.namespace}-${job.name}`;
  const shown = useMemo(
    () => open ? new Set(withNamedRows(volumes, detail).map(({ id }) => id)) : null,
    [open, volumes, detail],
  );
  const saveFailed = async () => {
    const failed = await props.onFailed();
    if (failed) saveCsv(csvName(job.name, CARD.failedFile), failed);
  };
  return (
    <article class={`card ${accentOf(job, detail)}`} data-campaign={`${job.namespace}/${job.name}`}>
      <CardIdentity {...props} fold={{ isOpen: open, controls: body, onFold: props.onFold }} />
      <div id={body} class="body" hidden={!open}>
        {zones && <zones.Body {...props} />}
        {open && props.zones === "failed" && (
          <p class="problem" role="alert">
            {SCRIPT_FAILURE.sentence}{" "}
            <button class="btn small" type="button" onClick={() => location.reload()}>{SCRIPT_FAILURE.tryAgain}</button>
          </p>
        )}
        {job.counts.total > 0 && (
          <p class="without-scripts">
            <a href={openCampaignPath(job.namespace, job.name)}>{CARD.toVolumesOf(job.name)}</a>
          </p>
        )}
      </div>
      <CardProblems
        {...problemsOf(job, detail, shown)}
        campaign={job}
        folded={!open}
        expanded={props.view.hasAllProblems}
        onCsv={job.counts.failed > 0 || detail?.failures.length ? saveFailed : null}
        csvProblem={props.failedProblem}
      />
      {zones && <zones.Provenance job={job} detail={detail} expanded={props.view.hasPipeline} />}
    </article>
  );
}
