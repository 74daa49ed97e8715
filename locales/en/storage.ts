import { counted, formatCount } from "@/lib/pages/locale/figures.ts";

/** The words of the storage pages: headings, columns, controls. */
export const LABELS = {
  storage: "Storage",
  buckets: "Buckets",
  bucket: "Bucket",
  bucketName: "Name of the bucket",
  openBucket: "Open the bucket",
  objects: "Objects",
  size: "Size",
  created: "Created",
  name: "Name",
  kind: "Kind",
  changed: "Changed",
  folder: "Folder",
  account: "Account",
  toBuckets: "To the buckets",
  logOutOf: (account: string) => `Log out of ${account}`,
  otherAccount: "Log in to another account",
  folderPath: "Breadcrumb",
  contents: "Contents of the folder",
  find: "Names in this folder that begin with",
  findHint: "Names that begin with …",
  jump: "Go to a name",
  jumpHint: "Go to a name …",
  show: "Show",
  loading: "Loading…",
  tryAgain: "Try again",
  reload: "Reload the page",
  nextRows: "Next names",
  showChanges: "Show the changes",
  firstRows: "From the first name",
  selectAll: "Select all that is listed",
  select: (name: string) => `Select ${name}`,
  selected: (count: string) => `${count} selected`,
  withSelected: (count: string) => `With the ${count} selected`,
  clearSelection: "Clear the selection",
  shortcuts: "Shortcuts",
  actions: "Actions",
  wholeFolder: "Select the whole folder",
  wholeSelected: (name: string) => `All of ${name} selected`,
  closeDetails: "Close the details",
  toPage: "Content, link, versions",
  download: "Download",
  type: "Type",
  etag: "ETag",
  version: "Version",
  rowOrder: "In the order of the store: by name",
  emptyName: "(empty name)",
  unknown: "–",
  prefixHint: "empty: the whole bucket",
  checkFixity: "Check fixity",
  places: "Fixity checks, tasks and audit trail",
  fixity: "Fixity",
  tasks: "Tasks",
  audit: "Audit trail",
};

/** The sentences of the storage pages. */
export const SENTENCES = {
  logIn: "to see the storage.",
  noBuckets: "No buckets are visible to this account.",
  opensByName: "To open a bucket that is not listed, type its name.",
  systemLevel: "An account of the system level has no buckets. It manages the tenants of the store through the API.",
  outdatedPage:
    "This page is older than the server, which was updated. Reload it, then choose the files again that were " +
    "not uploaded yet. Tasks continue automatically.",
  reading: "Reading further names…",
  outdated: "The folder has changed.",
  sortedPart: "Only what has been read is sorted.",
  moreBelow: "more exist below",
  notShownHere: (count: number) => `${formatCount(count)} not shown here`,
  emptyFolder: "This folder is empty.",
  noneFound: (find: string) => `No name in this folder begins with “${find}”.`,
  loggedInAs: (account: string) => `You are logged in as ${account}.`,
  readOnly: "You may read but not change this bucket. The owner of the bucket can allow that.",
  noWriting: "You may not write to this bucket. The owner of the bucket can allow that.",
  noDeleting: "You may not delete from this bucket. The owner of the bucket can allow that.",
  sessionOver: (account: string) =>
    `Your session for ${account} has ended: it was logged out, or the store no longer accepts it.`,
  incomplete: {
    bucket: "The address names no bucket: its parameter “bucket” is missing.",
    key: "The address names no object: its parameter “key” is missing.",
  },
  noAccount: (account: string) => `You are not logged in as ${account}.`,
  ended: "The store no longer accepts this login: the password was changed, or the account was closed. Log in again.",
  notShown: (status: number) => `The store cannot show this (it answered ${status}).`,
  rows: (count: number) => counted(count, "entry", "entries"),
  firstRows: (count: number) => `The first ${counted(count, "entry", "entries")}`,
};

/** Why the store, or the way to it, fails for now, by the status of a response; 0: there was none. */
export const OUTAGES = {
  0: "No connection to the server. Check your network, then try again.",
  429: "The store is overloaded. Try again shortly.",
  502: "The store cannot be reached. Try again later.",
  504: "The store does not answer in time. Try again later.",
};

/** Why a login may not see something. */
export const FORBIDDEN = {
  buckets: "This account may not list buckets.",
  folder: "This account may not list this bucket. The owner of the bucket can allow that.",
  object: "This account may not read this object. The owner of the bucket can allow that.",
};

/** What is not there. */
export const MISSING = {
  buckets: "The store does not list buckets.",
  folder: "There is no bucket of this name.",
  object: "There is no object under this key. It may have been deleted or renamed.",
};

/** What the keys of a folder do. */
export const FOLDER_KEY_WORDS = {
  find: "Search for names",
  row: "Next or previous name",
  page: "A screen further or back",
  end: "First or last name",
  select: "Select the name",
  range: "With an arrow or a click: select all names on the way",
  all: "Select all that is listed",
  none: "Close the details, or clear the selection",
  help: "These shortcuts",
};
