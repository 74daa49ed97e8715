import type { Signal } from "@preact/signals";

import type { JobDetail, JobSummary, PipelineModel } from "@/lib/campaigns/projection/types.ts";
import { modelPage } from "@/lib/presentation/model_page.ts";
import { CARD } from "@/lib/presentation/card_sentences.ts";
import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/pipeline_steps.ts";
import * as sv from "@/locales/sv/pipeline_steps.ts";

const PIPELINE_STEPS = inLanguage({ en: en.PIPELINE_STEPS, sv: sv.PIPELINE_STEPS });

/** As many as people use to tell revisions apart. */
const SHOWN_REVISION_CHARACTERS = 7;

interface CardProvenanceProps {
  readonly job: JobSummary;
  readonly detail: JobDetail | null;
  /** Whether the document is shown; absent: it is, for readers without scripts. */
  readonly expanded?: Signal<boolean>;
}

/** Where a campaign's results come from: its pipeline, the steps of it, and its document on request. */
export function CardProvenance({ job, detail, expanded }: CardProvenanceProps) {
  const isOpen = expanded?.value ?? true;
  const id = `pipeline-${job.namespace}-${job.name}`;
  return (
    <section class="provenance" aria-label={CARD.provenanceOf(job.name)}>
      <p>
        <span>
          {CARD.pipeline} <code>{job.pipeline || CARD.noPipeline}</code>
        </span>
        <span>
          {CARD.namespace} <code>{job.namespace}</code>
        </span>
        {detail && detail.pipelineSteps.length > 0 && <span>{detail.pipelineSteps.map(stepWords).join(" → ")}</span>}
        {detail && detail.pipelineModels.length > 0 && (
          <span class="dots">
            {detail.pipelineModels.map(({ model, revision }, i) => (
              <span key={i}>
                {i === 0 && `${CARD.models} `}
                <ModelName model={model} revision={revision} /> {revision === null
                  ? <b class="unpinned">{CARD.unpinned}</b>
                  : <span title={revision}>@{revision.slice(0, SHOWN_REVISION_CHARACTERS)}</span>}
              </span>
            ))}
          </span>
        )}
        {detail && detail.pipelineYaml === "" && <span>{CARD.pipelineGone}</span>}
        {detail && detail.pipelineYaml !== "" && expanded && (
          <button
            class="btn small"
            type="button"
            aria-expanded={isOpen}
            aria-controls={id}
            onClick={() => expanded.value = !isOpen}
          >
            {CARD.pipelineYaml}
          </button>
        )}
      </p>
      {detail && <pre id={id} hidden={!isOpen} tabIndex={0}>{detail.pipelineYaml}</pre>}
    </section>
  );
}

function ModelName({ model, revision }: PipelineModel) {
  const href = modelPage(model, revision);
  const name = <code>{model}</code>;
  return href === null ? name : <a href={href} rel="noreferrer">{name}</a>;
}

/** A step of a pipeline in words; one that is not known by its name: `ConfidenceStep` as `Confidence step`. */
function stepWords(step: string): string {
  const known = Object.keys(PIPELINE_STEPS).find((name) => name === step.toLowerCase());
  if (known !== undefined) return PIPELINE_STEPS[known as keyof typeof PIPELINE_STEPS];
  const words = step.replace(/(?<=[a-zåäö])(?=[A-ZÅÄÖ])/g, " ").replace(/[_-]+/g, " ").toLowerCase();
  return words.charAt(0).toUpperCase() + words.slice(1);
}
