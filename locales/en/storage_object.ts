import { counted } from "@/lib/pages/locale/figures.ts";

/** The words of an object's page: headings, columns, controls. */
export const LABELS = {
  content: "Content",
  versions: "Versions",
  share: "Share",
  tags: "Tags",
  openPdf: "Open the PDF in a new tab",
  openManifest: "Open in the manifest viewer",
  asText: "The text of the object",
  asTable: "The object as a table",
  row: (number: string) => `Row ${number}`,
  current: "Current version",
  older: "Older version",
  deleted: "Deleted",
  deletedNow: "Deleted: the object is no longer listed",
  shownHere: "shown here",
  toCurrent: "To the current version",
  restore: "Restore",
  restoreOf: (moment: string) => `Restore the version of ${moment}`,
  compare: "Compare",
  compareOf: (moment: string) => `Compare the version of ${moment} with the current one`,
  comparedOf: (moment: string) => `From the version of ${moment} to the current one`,
  comparison: "What changed",
  lineBefore: "Line before",
  lineAfter: "Line after",
  change: "Change",
  line: "Line",
  close: "Close",
};

/** The sentences of an object's page. */
export const SENTENCES = {
  empty: "The object is empty.",
  unknown: "This kind of object cannot be shown here. Download it to open it.",
  binaryByType: (type: string) =>
    `By its type (${type}) the object is text, but its content is not. Download it to open it.`,
  binaryByName: "By its name the object is text, but its content is not. Download it to open it.",
  encoded: "The object is stored in a compressed form and is not shown here. Download it to open it.",
  unreadable: "The content could not be read now. Reload the page to try again.",
  hiddenImage: (format: string) => `Browsers do not show ${format} images. Download it to open it.`,
  imageSize: (width: string, height: string) => `${width} × ${height} pixels`,
  noImageSize: "Its header cannot be read, so the size in pixels is not known.",
  firstBytes: (size: string) => `Only the first ${size} are shown.`,
  firstRows: (count: number) => `Only the first ${counted(count, "row", "rows")} are shown.`,
  wide: (columns: number) => `Of each row, at most ${counted(columns, "column", "columns")} are shown.`,
  readAs: (encoding: string) => `The object is not UTF-8 and was read as ${encoding}.`,
  marker: "The object was deleted, but its bucket keeps versions. Restore an older version to bring it back.",
  oldVersion: "This is an older version of the object.",
  versionsCut: "Still older versions are not listed here.",
  noVersionRights: "This account may not list the versions of this bucket.",
  restoring: "Restoring…",
  comparing: "Comparing…",
  noDifference: "The texts are the same.",
  differences: (added: number, removed: number) =>
    `${counted(added, "line", "lines")} added, ${counted(removed, "line", "lines")} removed.`,
  equalLines: (count: number) => `${counted(count, "equal line", "equal lines")}`,
  firstCompared: (size: string) => `Only the first ${size} of each were compared.`,
  moreDifferences: "There are more changes than are listed here.",
  notText: "One of the versions is not text.",
  tooDifferent: "The versions differ too much to be compared line by line.",
  notCompared: "A version could not be read. Try again later.",
  restored: "Restored as the current version.",
  notRestored: (status: number) => `Nothing was restored (the store answered ${status}). Try again later.`,
};

/** Why a version was not restored, by the status of the response. */
export const NOT_RESTORED = {
  403: "This account may not write to this bucket. The owner of the bucket can allow that.",
  404: "This version no longer exists.",
  409:
    "Nothing was restored: the object was changed meanwhile, or versioning of the bucket is switched off. Reload the page.",
  501: "The store does not support versions.",
};

/** The words of an object's tags. */
export const TAG_LABELS = {
  name: (row: number) => `Name of tag ${row}`,
  value: (row: number) => `Value of tag ${row}`,
  nameHint: "Name",
  valueHint: "Value",
  edit: "Edit the tags",
  add: "Add a tag",
  removeRow: (row: number) => `Remove tag ${row}`,
  save: "Save",
  cancel: "Cancel",
};

/** The sentences of an object's tags. */
export const TAG_SENTENCES = {
  none: "The object has no tags.",
  saved: "Saved.",
  twice: "Two tags have the same name.",
  notSaved: (status: number) => `The tags were not saved (the store answered ${status}). Try again later.`,
};

/** Why tags were not saved, by the status of the response. */
export const NOT_SAVED = {
  400:
    "A name has 1 to 128 characters and does not begin with aws:, a value has at most 256: letters, digits, spaces and + - = . _ : / @.",
  403: "This account may not change the tags. The owner of the bucket can allow that.",
  501: "The store does not support tags.",
};

/** The words of the form that shares an object. */
export const SHARE_LABELS = {
  validFor: "The link is valid for",
  hour: "1 hour",
  day: "1 day",
  week: "7 days",
  other: "another time",
  number: "Number",
  unit: "Unit",
  minutes: "minutes",
  hours: "hours",
  days: "days",
  create: "Create a link",
  link: "Link",
  copy: "Copy",
  copyLink: "Copy the link",
  copyCurl: "Copy as curl command",
  copyAws: "Copy as AWS CLI command",
  qrCode: "The link as a QR code",
};

/** The sentences of the form that shares an object. */
export const SHARE_SENTENCES = {
  whatItIs: "Anyone who has the link can read the object without a login until the link expires.",
  needsScripts: "Creating a link needs scripts.",
  newest: "The link leads to the current version, also after the object has been replaced.",
  receiver: (name: string, kind: string, until: string) =>
    `The receiver gets “${name}” (${kind}) until ${until}. The link cannot be withdrawn before then.`,
  machine:
    "The link works on this machine only: the address of the store is a loopback address. An operator can set S3_PUBLIC_ENDPOINT_URL.",
  network:
    "The link works only where the private address of the store can be reached. An operator can set S3_PUBLIC_ENDPOINT_URL.",
  noLink: "No link can be created for this key: it has a segment of one or two dots. Copy the object to another key.",
  outOfRange: "A link is valid for at least one minute and at most 7 days.",
  tooLongForQr: "The link is too long for a QR code.",
  copied: "Copied.",
  notCopied: "The browser does not allow copying. Select the link and copy it.",
  noUrl: (status: number) => `The link was not created (the store answered ${status}). Try again later.`,
};
