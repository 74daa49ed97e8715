import { Moment } from "@/components/moment.tsx";
import type { ListedSchedules } from "@/lib/presentation/storage/fixity_schedule.ts";
import { checkedPlace, FIXITY_LABELS, FIXITY_SENTENCES } from "@/lib/presentation/storage/fixity_sentences.ts";
import { fixityPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";

interface FixitySchedulesProps {
  readonly account: string;
  readonly listed: ListedSchedules;
  /** ms since 1970 */
  readonly now: number;
}

/** The schedules of fixity checks: when each runs next, and how its last check went. Times are in UTC. */
export function FixitySchedules({ account, listed: { schedules, isPartial }, now }: FixitySchedulesProps) {
  if (schedules.length === 0 && !isPartial) return null;
  const style = { zone: "UTC", now };
  return (
    <section class="schedules">
      <h2>{FIXITY_LABELS.schedules}</h2>
      {isPartial && <p class="banner warn">{FIXITY_SENTENCES.othersNotRead}</p>}
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
              {schedules.map(({ name, account: other, bucket, prefix, cron, zone, nextAt, last, error }) => (
                <tr key={name}>
                  <th scope="row">
                    <bdi>{name}</bdi>
                    <p class="sub">
                      <bdi>{checkedPlace({ bucket, prefix })}</bdi>
                    </p>
                    {other !== null && (
                      <p class="sub">
                        {FIXITY_LABELS.of} <bdi>{other}</bdi>
                      </p>
                    )}
                  </th>
                  <td>
                    <bdi>{FIXITY_SENTENCES.scheduleAt(cron, zone)}</bdi>
                  </td>
                  <td>{nextAt === null ? STORAGE_LABELS.unknown : <Moment at={nextAt} style={style} />}</td>
                  <td>
                    {last === null
                      ? FIXITY_LABELS.never
                      : other !== null
                      ? FIXITY_SENTENCES.lastCheck(last.files, last.damaged)
                      : (
                        <a href={fixityPath({ account, bucket, task: last.task })}>
                          {FIXITY_SENTENCES.lastCheck(last.files, last.damaged)}
                        </a>
                      )}
                    {last?.startedAt != null && (
                      <p class="sub">
                        <Moment at={last.startedAt} style={style} />
                      </p>
                    )}
                    {error !== "" && <p class="sub warn">{FIXITY_SENTENCES.scheduleError(error)}</p>}
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}
