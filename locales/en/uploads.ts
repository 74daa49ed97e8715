import { counted, formatCount } from "@/lib/pages/locale/figures.ts";

/** The words of uploads. Sizes and spans come formatted. */
export const LABELS = {
  uploads: "Uploads",
  upload: "Upload",
  uploadFolder: "Upload a folder",
  orDrop: "Files and folders can be dropped anywhere on the page, too",
  dropHere: (folder: string) => `Drop to upload to ${folder}`,
  pauseAll: "Pause all",
  goOn: "Resume",
  cancelAll: "Cancel all",
  tryAgain: "Try again",
  tryAllAgain: "Try all again",
  close: "Clear the list",
  pause: (name: string) => `Pause ${name}`,
  resume: (name: string) => `Resume ${name}`,
  cancel: (name: string) => `Cancel ${name}`,
  retry: (name: string) => `Try ${name} again`,
  replace: "Replace",
  keepBoth: "Keep both",
  skip: "Skip",
  allow: "Allow it",
  allowing: "Allowing…",
  logIn: "Log in",
  discard: "Discard",
  chooseAgain: "Choose them again",
  showMore: (count: number) => `Show ${formatCount(count)} more`,
  sentMeter: (percent: number, all: string) => `${percent} per cent of ${all} sent`,
  percent: (percent: number) => `${percent} per cent sent`,
  unfinished: "Unfinished uploads",
  unfinishedNote:
    "Uploaded parts that were never completed to an object. They use space until they are deleted. Uploads " +
    "in progress elsewhere are listed too.",
  reading: "Reading…",
  begun: "Started",
  size: "Sent",
  name: "Name",
  end: "Delete",
  endOf: (name: string) => `Delete the parts of ${name}`,
  endOld: (count: number) => `Delete the ${formatCount(count)} that began more than a day ago`,
};

/** How far the uploads are. */
export const HEADS = {
  looking: (files: number) => `Looking up ${counted(files, "name", "names")}`,
  started: (files: number) => `Uploading ${counted(files, "file", "files")}`,
  percent: (percent: number) => `${percent} per cent uploaded`,
  paused: "Paused",
  stopped: "Stopped",
  uploaded: (done: number, all: number) => `${formatCount(done)} of ${formatCount(all)} uploaded`,
  allUploaded: (done: number) => counted(done, "file uploaded", "files uploaded"),
  skipped: (count: number) => `${formatCount(count)} skipped`,
  cancelled: (count: number) => `${formatCount(count)} cancelled`,
  failed: (count: number) => `${formatCount(count)} failed`,
  inUse: (count: number) => counted(count, "name in use", "names in use"),
  left: (count: number) => `${formatCount(count)} left`,
  none: "Nothing was uploaded",
  rate: (rate: string) => `${rate}/s`,
  timeLeft: (span: string) => `about ${span} left`,
  timeLeftShort: "less than a minute left",
};

/** Beside each file. */
export const STATES = {
  looking: "name is looked up",
  waiting: "waiting",
  sending: (sent: string, all: string) => `${sent} of ${all}`,
  finishing: "the store assembles the parts",
  paused: (sent: string, all: string) => `paused at ${sent} of ${all}`,
  taken: "the name is in use",
  done: (size: string) => size,
  wasThere: (size: string) => `${size}, was there already`,
  renamed: (name: string) => `as ${name}`,
  skipped: "skipped, the name is in use",
  cancelled: "cancelled",
  chip: "done",
};

/** Why a file was not uploaded, and what to do. `detail`: what the store said, with its full stop, or "". */
export const FAULTS = {
  lost: (sent: string) => `The connection was lost after ${sent}. Try again; the upload resumes there.`,
  busy: (detail: string) => `The upload failed after several attempts. ${detail}Try again later.`,
  session: "Your login has ended. Log in again in another tab, then resume here.",
  outdated:
    "This page is older than the server, which was updated. Reload it and choose the same files again; the uploads " +
    "resume where they stopped.",
  forbidden: "This account may not write here. The owner of the bucket can allow that.",
  "no bucket": "The bucket no longer exists.",
  gone: "The upload was cancelled elsewhere, more than once. Try again.",
  taken: "The name is in use.",
  "no condition": "The store does not support this request.",
  full: "The store or its quota has no room for this. Delete something or ask for more room, then resume.",
  unreadable: "The file has changed or can no longer be read. Choose it again.",
  refused: (detail: string) => `The store rejected this file. ${detail}`,
  "too large": "The file is longer than 5 TiB, the limit of an object. Split it.",
  "name too long": "Its name with all folders has more than 1,024 bytes. Shorten it.",
  "half a character": "Its name is not valid Unicode. Rename the file.",
};

/** Notices about all files. */
export const NOTICES = {
  away: "No connection to the server. Uploads resume automatically.",
  taken: (names: string, further: number) =>
    further === 0 ? `In use: ${names}.` : `In use: ${names} and ${formatCount(further)} more.`,
  noRules: "This store has no CORS rules for buckets, so uploads go through this server.",
  direct: (bucket: string) =>
    `The CORS rules of ${bucket} do not allow this page to upload directly to the store, so uploads go through this server.`,
  blocked: "A rule for this page makes uploads faster.",
  forbidden: "The owner of the bucket can change that.",
  unreachable: "Your browser cannot connect to the store, so uploads go through this server.",
  notAllowed:
    "The rule could not be added: this account may not change the bucket's CORS rules, or there are a hundred.",
  cut: (most: number) => `Only the first ${formatCount(most)} files were taken. Upload the others after these.`,
  unreadable: (count: number) =>
    `${counted(count, "file or folder", "files or folders")} could not be read and ${
      count === 1 ? "is" : "are"
    } left out.`,
  empty: "There are no files in it.",
  interrupted: (files: string, size: string, folder: string, begun: string) =>
    `An upload of ${files} (${size}) to ${folder} was interrupted; it began ${begun}.`,
  files: (count: number) => counted(count, "file", "files"),
  canResume: "It can be resumed.",
  canChooseAgain: "Choose the same files or folder again to resume it.",
  elsewhere: "Go to that folder",
  noneUnfinished: "There are no unfinished uploads in this folder.",
  unfinishedForbidden: "This account may not list unfinished uploads. The owner of the bucket can allow that.",
  unfinishedFailed: "Unfinished uploads cannot be read at the moment. Close this and open it again later.",
};
