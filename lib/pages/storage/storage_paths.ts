/** The root of the storage pages. */
export const STORAGE_PATH = "/storage";
/** The fixity checks of an account. */
export const FIXITY_PATH = "/fixity";

/** The audit trail of an account's tenant. */
export const AUDIT_PATH = "/audit";

/** The tasks of the server. */
export const TASKS_PATH = `${STORAGE_PATH}/tasks`;

/** Whether an address, from its path on, is that of a page that a login to the storage alone opens. */
export function isStoragePath(address: string): boolean {
  return /^\/(?:storage|fixity|audit)(?:[/?]|$)/.test(address);
}

/** A folder as an address names it. */
export interface FolderAddress {
  /** The name of the account, `tenant/user` or `user`. */
  readonly account: string;
  readonly bucket: string;
  /** "" or a text that ends in a slash. */
  readonly prefix: string;
  /** The prefix of the names that are searched, as typed; absent: any. */
  readonly find?: string;
  /** The key from which on names are shown, which need not exist; absent: from the first of the folder. */
  readonly from?: string;
  /** The key of an object of the folder that is shown beside it; absent: none. */
  readonly open?: string;
}

/** A folder without what is shown of it. */
export type FolderName = Pick<FolderAddress, "account" | "bucket" | "prefix">;

/** An object, or one version of it. */
export interface ObjectAddress {
  readonly account: string;
  readonly bucket: string;
  readonly key: string;
  readonly version?: string;
}

/** The page of fixity checks, of one check, or of a form that is filled in. */
interface FixityAddress {
  readonly account: string;
  readonly bucket?: string;
  /** Filled into the form. */
  readonly prefix?: string;
  /** Other fields of the form, by their names. */
  readonly choices?: ApiParameters;
  /** The check that is shown; absent: all of them. */
  readonly task?: string;
  /** Which rows of its report are shown; absent: those that matter most. */
  readonly result?: string;
  /** The row, or the check of the list, from which on they are shown. */
  readonly from?: number;
}

/** The buckets of an account. */
export function storagePath(account: string): string {
  return `${STORAGE_PATH}${queryOf({ account })}`;
}

/** The page of a folder. */
export function folderPath({ account, bucket, prefix, find, from, open }: FolderAddress): string {
  return `${STORAGE_PATH}/folder${queryOf({ account, bucket, prefix, find, from, open })}`;
}

/** The page of an object. */
export function objectPath({ account, bucket, key, version }: ObjectAddress): string {
  return `${STORAGE_PATH}/object${queryOf({ account, bucket, key, version })}`;
}

/** The page of the audit trail, with its filters as they are in its form, and where it goes on (`after`). */
export function auditPath(
  { account, ...filter }: { readonly account: string } & Readonly<Record<string, string>>,
): string {
  return `${AUDIT_PATH}${queryOf({ account, ...filter })}`;
}

/** The page of the server's tasks, and whether one was cancelled. */
export function tasksPath(
  { account, canceled }: { readonly account: string; readonly canceled?: "yes" | "no" },
): string {
  return `${TASKS_PATH}${queryOf({ account, canceled })}`;
}

/** The page of the fixity checks of an account, or of one of them. */
export function fixityPath({ account, bucket, prefix, choices, task, result, from }: FixityAddress): string {
  return `${FIXITY_PATH}${queryOf({ account, bucket, prefix, ...choices, task, result, from: from || undefined })}`;
}

/** The address under which a browser saves the report of a fixity check that has ended. */
export function fixityReportPath(
  { account, bucket, task }: Required<Pick<FixityAddress, "account" | "bucket" | "task">>,
  format: "csv" | "json",
): string {
  return storageApiPath("/buckets/:bucket/fixity/:task_id/report", account, { bucket, task_id: task, format });
}

/** The address under which a browser saves an object. */
export function downloadPath({ account, bucket, key, version }: ObjectAddress): string {
  return storageApiPath("/buckets/:bucket/objects/:key", account, { bucket, key, version_id: version });
}

/** The address under which a browser shows an object, where it is of a kind that can be shown; else it saves it. */
export function shownPath(address: ObjectAddress): string {
  return `${downloadPath(address)}&disposition=inline`;
}

/** Parameters of an operation of the gateway: `bucket`, `key` and `task_id` of its path, the others of its query. */
export type ApiParameters = Readonly<Record<string, string | number | boolean | undefined>>;

/**
 * The address of one of the gateway's operations for the pages of an account.
 *
 * @param operation its path below `/api/v1` with placeholders, such as `/buckets/:bucket/objects/:key`
 */
export function storageApiPath(operation: string, account: string, parameters: ApiParameters): string {
  return `${STORAGE_PATH}/api${operation}${queryOf({ account, ...parameters })}`;
}

/** Values travel in the query alone: browsers change paths with `.`, `..` and empty segments, but no query. */
function queryOf(parameters: ApiParameters): string {
  const pairs = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === "" ? [] : [`${name}=${encodeURIComponent(value)}`]
  );
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}
