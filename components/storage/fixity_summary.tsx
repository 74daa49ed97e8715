import { Chip } from "@/components/chip.tsx";
import { Meter } from "@/components/meter.tsx";
import { Moment } from "@/components/moment.tsx";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import {
  checkChip,
  checkedPlace,
  checkFigures,
  checkMeter,
  checkSpan,
  damageSentence,
  type Expected,
  failureSentence,
  FIXITY_LABELS,
  type FixityCheck,
  unwrittenSentence,
} from "@/lib/pages/storage/fixity_check.ts";
import { fixityPath } from "@/lib/pages/storage/storage_paths.ts";
import { KeyName } from "./key_name.tsx";

interface FixitySummaryProps {
  readonly account: string;
  readonly check: FixityCheck;
  /** Its estimated size; null: not known. */
  readonly expected: Expected | null;
  readonly style: MomentStyle;
  /** Whether the page is that of this check, which has its name as heading. */
  readonly isAlone: boolean;
}

/** A fixity check in one grid: its place, its progress and result, and its times. */
export function FixitySummary({ account, check, expected, style, isAlone }: FixitySummaryProps) {
  const { bucket, prefix, task_id: task, status, schedule } = check;
  const meter = checkMeter(check, expected);
  const damage = damageSentence(check);
  // The page of a check shows elsewhere what was not written.
  const failure = failureSentence(check) || (isAlone ? "" : unwrittenSentence(check));
  const span = checkSpan(check, expected, style.now);
  const isRunning = status === "processing";
  return (
    <div class={damage === "" ? "fixity-check" : "fixity-check bad"}>
      <div class="what">
        {!isAlone && (
          <p class="subject">
            <a href={fixityPath({ account, bucket, task })}>
              {prefix === "" ? FIXITY_LABELS.allOf(bucket) : <KeyName name={`${bucket}/${prefix}`} />}
            </a>
          </p>
        )}
        <p class="states">
          <Chip {...checkChip(check)} />
          {schedule !== null && (
            <span class="sub">
              {FIXITY_LABELS.schedule} <bdi>{schedule}</bdi>
            </span>
          )}
        </p>
      </div>
      <div class="findings">
        {meter && <Meter {...meter} />}
        <p class="dots">{checkFigures(check, expected).map((figure) => <span key={figure}>{figure}</span>)}</p>
        {damage !== "" && <p class="trouble">{damage}</p>}
        {failure !== "" && <p class="failure">{failure}</p>}
      </div>
      <div class="timing">
        <p>
          <Moment at={check.started_at} style={style} />
        </p>
        {span !== "" && <p>{span}</p>}
        {isRunning && (
          <form method="post" action={fixityPath({ account })}>
            <input type="hidden" name="act" value="cancel" />
            <input type="hidden" name="bucket" value={bucket} />
            <input type="hidden" name="task" value={task} />
            <button class="btn small" type="submit" aria-label={`${FIXITY_LABELS.cancel}: ${checkedPlace(check)}`}>
              {FIXITY_LABELS.cancel}
            </button>
          </form>
        )}
      </div>
    </div>
  );
}
