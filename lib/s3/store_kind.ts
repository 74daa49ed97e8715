import type { Caller } from "@/lib/auth/store_credentials.ts";

/** The product that an S3 store is, by the `Server` header of its responses. */
export type StoreKind = "hcp" | "aws" | "ceph" | "minio" | "versitygw" | "unknown";

const SERVERS: readonly (readonly [start: string, StoreKind])[] = [
  ["hcp ", "hcp"],
  ["amazons3", "aws"],
  ["ceph object gateway", "ceph"],
  ["minio", "minio"],
  ["versitygw", "versitygw"],
];

/** Stores that reject a PUT whose body is shorter than its Content-Length. */
const REJECT_SHORT_BODIES: ReadonlySet<StoreKind> = new Set(["hcp", "aws", "ceph", "minio"]);
/** Stores that store the bytes that arrived, but check a digest of the body before. */
const CHECK_DIGESTS: ReadonlySet<StoreKind> = new Set(["versitygw"]);

/** The kind of a store. @param server the `Server` header, null where a response has none */
export function storeKind(server: string | null): StoreKind {
  const name = server?.toLowerCase() ?? "";
  return SERVERS.find(([start]) => name.startsWith(start))?.[1] ?? "unknown";
}

/**
 * Whether a store rejects a PUT whose body ends early. False for stores of which that is not known.
 *
 * @param hasDigest whether the request states a digest of the body
 */
export function rejectsShortBodies(kind: StoreKind, hasDigest: boolean): boolean {
  return REJECT_SHORT_BODIES.has(kind) || (hasDigest && CHECK_DIGESTS.has(kind));
}

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

/** The table of a kind of store; null where its kinds differ, or it is unknown, as behind a proxy. */
export function knownTable(kind: StoreKind | null): ConditionTable | null {
  return kind === "aws" || kind === "minio" || kind === "versitygw" ? CONDITION_TABLES[kind] : null;
}

/** Finds out which conditions a store holds; null where it could not be found out with this caller. */
export type ConditionSupport = (
  caller: Caller,
  place: { readonly bucket: string; readonly key: string },
) => Promise<ConditionTable | null>;
