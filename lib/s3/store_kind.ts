/** What an S3 store is, by the `Server` header of its responses. */
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
