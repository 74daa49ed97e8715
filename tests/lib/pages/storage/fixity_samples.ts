import type { FixityCheck } from "@/lib/pages/storage/fixity_check.ts";
import type { ListedSchedules } from "@/lib/tasks/fixity/responses.ts";

/** A check of `letters` that found nothing. */
export const NEW_CHECK: FixityCheck = {
  task_id: "6f0e0000-0000-4000-8000-000000000001",
  bucket: "letters",
  prefix: "",
  status: "done",
  all_versions: false,
  full: false,
  etags: null,
  manifest: null,
  bag: null,
  baseline: null,
  schedule: null,
  files: 0,
  bytes: 0,
  bytes_under_way: 0,
  damaged: 0,
  intact: 0,
  changed: 0,
  missing: 0,
  unreadable: 0,
  unproven: 0,
  not_in_manifest: 0,
  deleted: 0,
  proved_by: { manifest: 0, baseline: 0, checksum: 0, checksum_of_parts: 0, etag: 0, etag_of_parts: 0 },
  rate: 0,
  rate_limit: null,
  rows: 0,
  rows_left_out: 0,
  written: [],
  started_at: "2027-01-14T08:00:00.000Z",
  updated_at: "2027-01-14T08:12:00.000Z",
  ended_at: "2027-01-14T08:12:00.000Z",
};

/** A schedule of the account whose checks have not begun. */
export const NEW_SCHEDULE: ListedSchedules["schedules"][number] = {
  name: "nightly",
  account: "archive/olle",
  own: true,
  bucket: "letters",
  prefix: "",
  cron: "0 2 * * *",
  time_zone: "UTC",
  next_at: null,
  last: null,
  last_end_at: null,
  error: null,
};

/** The last check of a schedule. */
export const LAST_CHECK: NonNullable<ListedSchedules["schedules"][number]["last"]> = {
  task_id: NEW_CHECK.task_id,
  due_at: NEW_CHECK.started_at,
  status: "done",
  started_at: NEW_CHECK.started_at,
  ended_at: NEW_CHECK.ended_at,
  files: 12,
  bytes: 12,
  damaged: 1,
};
