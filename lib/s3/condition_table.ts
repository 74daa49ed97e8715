import type { Caller } from "@/lib/auth/store_credentials.ts";

/** Writes that may have a condition; `complete` ends an upload in parts. */
export type ConditionalWrite = "put" | "complete" | "copy" | "delete";

/** A condition of a write as stores hold it: `If-Match` with one ETag, or `If-None-Match: *`. */
export type WriteCondition = "if-match" | "if-none-match";

/** The conditions that a store holds, by write. One that it ignores silently is none. */
export interface ConditionTable extends Readonly<Record<ConditionalWrite, readonly WriteCondition[]>> {
  /** Whether it holds `x-amz-copy-source-if-match` of copies. */
  readonly copySource: boolean;
}

const BOTH: readonly WriteCondition[] = ["if-match", "if-none-match"];
const S3_API: ConditionTable = { put: BOTH, complete: BOTH, copy: BOTH, delete: ["if-match"], copySource: true };

/**
 * The conditions that known stores hold. The embedded store, MinIO and versitygw were measured; AWS and HCP are as
 * documented: the S3 API of HCP knows conditions of reads and of the source of a copy.
 */
export const CONDITION_TABLES = {
  embedded: S3_API,
  aws: S3_API,
  minio: { ...S3_API, copy: [], delete: [] },
  versitygw: { ...S3_API, copy: [] },
  hcp: { put: [], complete: [], copy: [], delete: [], copySource: true },
} as const satisfies Record<string, ConditionTable>;

/** The table of a store that its header `Server` identifies; null for any other, such as one behind a proxy. */
export function knownTable(server: string | null): ConditionTable | null {
  switch (server?.toLowerCase()) {
    case "amazons3":
      return CONDITION_TABLES.aws;
    case "minio":
      return CONDITION_TABLES.minio;
    case "versitygw":
      return CONDITION_TABLES.versitygw;
    default:
      return null;
  }
}

/** Where a condition is used. */
interface Place {
  readonly bucket: string;
  readonly key: string;
}

/** Finds out which conditions a store holds; null where it could not be found out with this caller. */
export type ConditionSupport = (caller: Caller, place: Place) => Promise<ConditionTable | null>;
