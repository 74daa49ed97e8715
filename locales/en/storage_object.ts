import { counted } from "@/lib/presentation/locale/figures.ts";

/** The words of an object's page: headings, columns, controls. */
export const LABELS = {
  toPage: "Content, link, versions",
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
  unknownKind: "Objects of this kind are not shown here. Download it to open it.",
  binaryByType: (type: string) =>
    `By its type (${type}) the object is text, but it holds other bytes. Download it to open it.`,
  binaryByName: "By its name the object is text, but it holds other bytes. Download it to open it.",
  encoded: "The object is stored in a compressed form and is not shown here. Download it to open it.",
  unreadable: "The content could not be read now. Reload the page to try again.",
  hiddenImage: (format: string) => `Browsers do not show ${format} images. Download it to open it.`,
  imageSize: (width: string, height: string) => `${width} × ${height} pixels`,
  noImageSize: "Its header cannot be read, so the size in pixels is not known.",
  firstBytes: (size: string) => `Only the first ${size} are shown.`,
  firstRows: (count: number) => `Only the first ${counted(count, "row", "rows")} are shown.`,
  wide: (columns: number) => `Of each row, at most ${counted(columns, "column", "columns")} are shown.`,
  readAs: (encoding: string) => `The object is not UTF-8 and was read as ${encoding}.`,
  marker:
    "The object was deleted, but its bucket has versions: a delete marker stands in front of the older ones, which can be restored.",
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
  notText: "One of the versions is no text.",
  tooDifferent: "The versions differ too much to be compared line by line.",
  notCompared: "A version could not be read. Try again later.",
  restored: "Restored as the current version.",
};

/** Why a version was not restored. */
export const NOT_RESTORED = {
  noRight: "This account may not write to this bucket. The owner of the bucket can allow that.",
  gone: "This version no longer exists.",
  changed:
    "Nothing was restored: the object was changed meanwhile, or versioning of the bucket is switched off. Reload the page.",
  noVersions: "The store does not support versions.",
  other: (status: number) => `Nothing was restored (the store answered ${status}). Try again later.`,
};
