import { Moment } from "@/components/moment.tsx";
import type { MomentStyle } from "@/lib/pages/moments.ts";
import { ALL_SENTENCES } from "@/lib/pages/coded_check_sentences.ts";
import { codedText } from "@/lib/pages/coded_sentences.ts";
import { checkedPlace, FIXITY_LABELS, FIXITY_SENTENCES } from "@/lib/pages/storage/fixity_check.ts";
import { fixityPath } from "@/lib/pages/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/pages/storage/storage_sentences.ts";
import type { ListedSchedules } from "@/lib/tasks/fixity/responses.ts";

interface FixitySchedulesProps {
  readonly account: string;
  readonly listed: ListedSchedules;
  readonly style: MomentStyle;
}

/** The schedules of fixity checks: when each runs next, and how its last check went. On a phone each is a block. */
export function FixitySchedules({ account, listed: { schedules, partial }, style }: FixitySchedulesProps) {
  return (
    <section class="schedules">
      <h2>{FIXITY_LABELS.schedules}</h2>
      {partial && <p class="banner warn">{FIXITY_SENTENCES.othersNotRead}</p>}
      {schedules.length > 0 && (
        <div class="records">
          <table>
            <thead>
              <tr>
                <th scope="col">{FIXITY_LABELS.schedule}</th>
                <th scope="col">{FIXITY_LABELS.time}</th>
                <th scope="col">{FIXITY_LABELS.next}</th>
                <th scope="col">{FIXITY_LABELS.last}</th>
              </tr>
            </thead>
            <tbody>
              {schedules.map((schedule) => (
                <Schedule key={schedule.name} account={account} schedule={schedule} style={style} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

interface ScheduleProps {
  readonly account: string;
  readonly schedule: ListedSchedules["schedules"][number];
  readonly style: MomentStyle;
}

function Schedule({ account, schedule, style }: ScheduleProps) {
  const { name, own, bucket, prefix, cron, time_zone, next_at, last } = schedule;
  const error = codedText(schedule, "error", ALL_SENTENCES);
  return (
    <tr>
      <th scope="row">
        <bdi>{name}</bdi>
        <p class="sub">
          <bdi>{checkedPlace({ bucket, prefix })}</bdi>
        </p>
        {!own && (
          <p class="sub">
            {FIXITY_LABELS.of} <bdi>{schedule.account}</bdi>
          </p>
        )}
      </th>
      <td>
        <bdi>{FIXITY_SENTENCES.scheduleAt(cron, time_zone)}</bdi>
      </td>
      <td>
        <span class="cell-name">{FIXITY_LABELS.next}:</span>
        {next_at === null ? STORAGE_LABELS.unknown : <Moment at={next_at} style={style} />}
      </td>
      <td>
        <span class="cell-name">{FIXITY_LABELS.last}:</span>
        {last === null
          ? FIXITY_LABELS.never
          : !own
          ? FIXITY_SENTENCES.lastCheck(last.files, last.damaged)
          : (
            <a href={fixityPath({ account, bucket, task: last.task_id })}>
              {FIXITY_SENTENCES.lastCheck(last.files, last.damaged)}
            </a>
          )}
        {last && (
          <p class="sub">
            <Moment at={last.started_at} style={style} />
          </p>
        )}
        {error !== "" && <p class="sub warn">{FIXITY_SENTENCES.scheduleError(error)}</p>}
      </td>
    </tr>
  );
}
