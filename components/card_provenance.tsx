import { useSignal } from "@preact/signals";
import { Fragment } from "preact";

import type { JobDetail, JobSummary } from "@/lib/campaigns/types.ts";

/** As many as people use to tell revisions apart. */
const SHOWN_REVISION_CHARACTERS = 7;

/** Where a campaign's results come from: its pipeline, the steps of it, and its document on request. */
export function CardProvenance({ job, detail }: { job: JobSummary; detail: JobDetail | null }) {
  const open = useSignal(false);
  const id = `pipeline-${job.namespace}-${job.name}`;
  return (
    <section class="provenance" aria-label={`Provenance of ${job.name}`}>
      <p>
        <span>
          Pipeline <code>{job.pipeline || "not named"}</code>
        </span>
        <span>
          Namespace <code>{job.namespace}</code>
        </span>
        {detail && detail.pipelineSteps.length > 0 && <span>{detail.pipelineSteps.map(stepWords).join(" → ")}</span>}
        {detail && detail.pipelineModels.length > 0 && (
          <span>
            Models: {detail.pipelineModels.map(({ model, revision }, i) => (
              <Fragment key={model}>
                {i > 0 && " · "}
                <code>{model}</code> {revision === null
                  ? <b class="unpinned">unpinned</b>
                  : <span title={revision}>@{revision.slice(0, SHOWN_REVISION_CHARACTERS)}</span>}
              </Fragment>
            ))}
          </span>
        )}
        {detail && detail.pipelineYaml === "" && <span>The pipeline's document is gone.</span>}
        {detail && detail.pipelineYaml !== "" && (
          <button
            class="btn small"
            type="button"
            aria-expanded={open.value}
            aria-controls={id}
            onClick={() => open.value = !open.value}
          >
            Pipeline YAML
          </button>
        )}
      </p>
      {detail && <pre id={id} hidden={!open.value} tabIndex={0}>{detail.pipelineYaml}</pre>}
    </section>
  );
}

/** `TextRecognition` as `Text recognition`. */
function stepWords(step: string): string {
  const words = step.replace(/(?<=[a-zåäö])(?=[A-ZÅÄÖ])/g, " ").replace(/[_-]+/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
