import { ALL_SENTENCES } from "@/lib/presentation/coded_check_sentences.ts";
import { codedText } from "@/lib/presentation/coded_sentences.ts";
import { entries, integerAt, member, stringAt } from "@/lib/std/untrusted.ts";

/** A schedule of fixity checks, and how its last check went. */
interface FixitySchedule {
  readonly name: string;
  /** Whose checks they are; null: of the account that sees it. */
  readonly account: string | null;
  readonly bucket: string;
  readonly prefix: string;
  /** When it starts checks, as a line of cron, and in which time zone. */
  readonly cron: string;
  readonly zone: string;
  /** ISO 8601; null: never again. */
  readonly nextAt: string | null;
  readonly last: {
    /** Null where another account can open it alone. */
    readonly task: string | null;
    readonly status: string;
    readonly startedAt: string | null;
    readonly files: number;
    readonly damaged: number;
  } | null;
  /** Why its last check could not be started; "" where it could. */
  readonly error: string;
}

/** Schedules of fixity checks, and whether those of other accounts may be missing. */
export interface ListedSchedules {
  readonly schedules: readonly FixitySchedule[];
  readonly isPartial: boolean;
}

/** Reads the list of schedules of fixity checks. */
export function readFixitySchedules(answer: unknown): ListedSchedules {
  return { schedules: schedulesOf(answer), isPartial: member(answer, "partial") === true };
}

function schedulesOf(answer: unknown): FixitySchedule[] {
  return entries(member(answer, "schedules")).flatMap((schedule): FixitySchedule[] => {
    const [name, bucket] = [stringAt(schedule, "name"), stringAt(schedule, "bucket")];
    if (name === null || bucket === null) return [];
    const isOther = member(schedule, "own") === false;
    const task = stringAt(schedule, "last", "task_id");
    return [{
      name,
      account: isOther ? stringAt(schedule, "account") : null,
      bucket,
      prefix: stringAt(schedule, "prefix") ?? "",
      cron: stringAt(schedule, "cron") ?? "",
      zone: stringAt(schedule, "time_zone") ?? "",
      nextAt: stringAt(schedule, "next_at"),
      last: task === null ? null : {
        task: isOther ? null : task,
        status: stringAt(schedule, "last", "status") ?? "",
        startedAt: stringAt(schedule, "last", "started_at"),
        files: integerAt(schedule, "last", "files"),
        damaged: integerAt(schedule, "last", "damaged"),
      },
      error: codedText(schedule, "error", ALL_SENTENCES),
    }];
  });
}
