import { Moment } from "@/components/moment.tsx";
import type { MomentStyle } from "@/lib/presentation/moments.ts";
import type { ListedSchedules } from "@/lib/presentation/storage/fixity_schedule.ts";
import { checkedPlace, FIXITY_LABELS, FIXITY_SENTENCES } from "@/lib/presentation/storage/fixity_sentences.ts";
import { fixityPath } from "@/lib/presentation/storage/storage_paths.ts";
import { STORAGE_LABELS } from "@/lib/presentation/storage/storage_sentences.ts";

interface FixitySchedulesProps {
  readonly account: string;
  readonly listed: ListedSchedules;
  readonly style: MomentStyle;
}

/** The schedules of fixity checks: when each runs next, and how its last check went. On a phone each is a block. */
export function FixitySchedules({ account, listed: { schedules, isPartial }, style }: FixitySchedulesProps) {
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
                  <td>
                    <span class="cell-name">{FIXITY_LABELS.next}:</span>
                    {nextAt === null ? STORAGE_LABELS.unknown : <Moment at={nextAt} style={style} />}
                  </td>
                  <td>
                    <span class="cell-name">{FIXITY_LABELS.last}:</span>
                    {last === null
                      ? FIXITY_LABELS.never
                      : last.task === null
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
