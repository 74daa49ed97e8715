import { formatFull } from "@/lib/presentation/moments.ts";
import { checkedObjects, type FixityCheck, isBaseline } from "./fixity_check.ts";
import type { FixityFields } from "./fixity_fields.ts";
import { checkedPlace, FIXITY_SENTENCES } from "./fixity_sentences.ts";

/** Checks to choose from. */
const MAX_BASELINES = 200;

/** An earlier check that a new one of its bucket can be compared with. Plain data, which crosses into the browser. */
export interface Baseline {
  readonly task: string;
  readonly bucket: string;
  readonly text: string;
}

/**
 * The checks to choose from. The one that was chosen is among those of the form's bucket, whatever is known of it: what is
 * said about it must have something that it is about.
 *
 * @param checks the newest first
 */
export function baselinesOf(checks: readonly FixityCheck[], { bucket, baseline }: FixityFields): Baseline[] {
  const choices = checks.filter(isBaseline).slice(0, MAX_BASELINES).map((check): Baseline => ({
    task: check.task_id,
    bucket: check.bucket,
    text: textOf(check),
  }));
  if (baseline === "" || choices.some((one) => one.task === baseline && one.bucket === bucket)) return choices;
  const known = checks.find(({ task_id }) => task_id === baseline);
  return [{ task: baseline, bucket, text: known ? textOf(known) : baseline }, ...choices];
}

function textOf(check: FixityCheck): string {
  return [
    // First, since a closed list may cut off the rest.
    formatFull(check.started_at, "UTC"),
    checkedPlace(check),
    FIXITY_SENTENCES.ofObjects(checkedObjects(check)),
  ].join(", ");
}
