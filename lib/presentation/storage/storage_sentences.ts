import { counted } from "@/lib/presentation/locale/figures.ts";

/** The words of the storage pages: headings, columns, controls. */
export const STORAGE_LABELS = {
  storage: "Storage",
  buckets: "Buckets",
  bucket: "Bucket",
  objects: "Objects",
  size: "Size",
  created: "Created",
  name: "Name",
  kind: "Kind",
  changed: "Changed",
  folder: "Folder",
  folderPath: "Folder",
  find: "Names in this folder that begin with",
  findHint: "Names that begin with …",
  show: "Show",
  nextRows: "Next names",
  firstRows: "From the first name",
  download: "Download",
  type: "Type",
  checksum: "ETag",
  version: "Version",
  contentsOf: (name: string) => `Contents of ${name}`,
  rowOrder: "In the order of the store: by name",
  emptyName: "(empty name)",
  unknown: "–",
} as const;

/** The sentences of the storage pages. */
export const STORAGE_SENTENCES = {
  logIn: "to see the storage.",
  noBuckets: "This account has no buckets that it may see.",
  systemLevel:
    "An account of the system level has no buckets. It manages the tenants of the store, which the API does for now.",
  emptyFolder: "This folder is empty.",
  noneFound: (find: string) => `No name in this folder begins with “${find}”.`,
  onlyStorage: (tenant: string | null) =>
    tenant === null
      ? "This login opens the storage only: the campaigns did not accept it."
      : `This login opens the storage only: the campaigns open with accounts of the tenant ${tenant}.`,
  noAccount: (account: string) => `You are not logged in as ${account}.`,
  ended:
    "The store does not accept this login any more: the password was changed, or the account was closed. Log in again.",
  rows: (count: number, isWhole: boolean) =>
    isWhole ? counted(count, "entry", "entries") : `the first ${counted(count, "entry", "entries")}`,
} as const;

/** Why something of the storage cannot be shown, by the status of the gateway. */
export function storageProblem(status: number, what: "buckets" | "folder" | "object"): string {
  switch (status) {
    case 403:
      return FORBIDDEN[what];
    case 404:
      return MISSING[what];
    case 429:
    case 503:
      return "The store is asked for too much at the moment. Try again shortly.";
    case 502:
      return "The store cannot be reached. Try again later.";
    case 504:
      return "The store does not answer in time. Try again later.";
    default:
      return `The store cannot show this (it answered ${status}).`;
  }
}

const FORBIDDEN = {
  buckets: "This account may not list buckets.",
  folder: "This account may not list this bucket. Who owns it can allow that.",
  object: "This account may not read this object. Who owns the bucket can allow that.",
};

const MISSING = {
  buckets: "The store knows no list of buckets.",
  folder: "There is no bucket of this name.",
  object: "There is no object under this key. It may have been deleted or renamed.",
};
