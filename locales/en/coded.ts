import type { TaskCode } from "@/lib/std/coded.ts";

/** Sentences of the API by their codes, with values in braces. */
export const CODED: Readonly<Record<TaskCode, string>> = {
  results_unavailable: "The results service does not respond",
  store_unreachable: "The store cannot be reached",
  store_timeout: "The store did not respond in time",
  store_broken: "The connection to the store was lost",
  task_login_refused: "The store no longer accepts the login that started it: log in again and start it again",
  task_forbidden:
    "The store no longer allows it: the account, its password or its permissions may have changed since the start ({message})",
  task_key_replaced: "The server’s key was replaced or the stored task was changed since the start: start it again",
  task_input_changed: "The stored list of what to work on was changed or no longer exists: start it again",
  task_progress_changed: "Its stored progress was changed, or is from another version of the server: start it again",
  task_other_version: "It was started by another version of the server: start it again",
  task_over_24_hours: "It was stopped after 24 hours: start it again for the rest",
  task_over_30_days: "It was stopped after 30 days: check the rest in smaller parts, or at a higher rate",
  task_canceled: "It was cancelled",
  task_internal_error: "Internal error of the server: its log has details",
  archive_empty: "There are no objects in it",
  archive_objects_too_many: "Too many objects ({count}): an archive holds at most {most}",
  archive_keys_too_long: "The keys of the objects are too long for one archive: choose fewer",
  archive_plan_gone: "A part of the list of the archive no longer exists: start it again",
  listing_stuck: "The store’s listing of the bucket “{bucket}” repeats itself",
  listing_not_resumable: "The store’s listing of the bucket “{bucket}” cannot start at a given key",
  transfer_same_place: "They are there already. Choose another folder.",
  transfer_inside_itself: "A folder cannot go into itself. Choose another folder.",
  transfer_onto_itself:
    "There the contents of the folder would land in the folder itself. Rename it first, or choose another folder.",
  transfer_key_too_long: "Some keys would be longer than 1,024 bytes there. Choose a folder with a shorter path.",
  transfer_uncertain: "“{key}” may be its copy already, or another object. Compare both, then delete one.",
};
