import type { Ref } from "preact";

import type { Baseline } from "@/lib/pages/storage/fixity_fields.ts";
import { FIELD_LABELS, FIXITY_LABELS } from "@/lib/pages/storage/fixity_check.ts";

export interface BaselineFieldProps {
  readonly baselines: readonly Baseline[];
  /** The bucket of the new check: earlier ones of others cannot be compared with it. "" where none is chosen. */
  readonly bucket: string;
  /** The check that is chosen; "" for none. */
  readonly chosen: string;
  /** The id of the message about a wrong choice; null: there is none. */
  readonly problem: string | null;
}

/** The choice of an earlier check. */
export function BaselineField(
  { baselines, bucket, chosen, problem, select }: BaselineFieldProps & { readonly select?: Ref<HTMLSelectElement> },
) {
  return (
    <label class="wide">
      {FIELD_LABELS.baseline}
      <select
        ref={select}
        name="baseline"
        {...problem === null ? {} : { "aria-invalid": true, "aria-describedby": problem } as const}
      >
        <option value="">{FIXITY_LABELS.noBaseline}</option>
        {baselines.filter((one) => one.bucket === bucket).map(({ task, text }) => (
          <option key={task} value={task} selected={task === chosen}>{text}</option>
        ))}
      </select>
    </label>
  );
}
