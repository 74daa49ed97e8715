import { utf8Text } from "@/lib/std/header_encoding.ts";

/** The facts about an object in its headers. */
export interface ObjectFacts {
  readonly bytes: number;
  /** Its media type as it was stored. */
  readonly type: string;
  /** The coding that its bytes are stored in, such as `gzip`; null: none. */
  readonly encoding: string | null;
  /** ISO 8601; null where the store says nothing. */
  readonly changed: string | null;
  /** With its quotes; null where the store says nothing. */
  readonly etag: string | null;
  readonly version: string | null;
  /** Metadata that was stored with it: names without `x-amz-meta-`. */
  readonly metadata: readonly (readonly [name: string, value: string])[];
  /** Digests of the whole object that the store verified: names such as `sha256`. */
  readonly checksums: readonly (readonly [name: string, value: string])[];
}

const METADATA = "x-amz-meta-";
const CHECKSUM = "x-amz-checksum-";

/** Reads the headers of an object. */
export function readObjectFacts(headers: Headers): ObjectFacts {
  const bytes = Number(headers.get("Content-Length") ?? 0);
  const changed = Date.parse(headers.get("Last-Modified") ?? "");
  const below = (prefix: string) =>
    [...headers].flatMap(([name, value]) =>
      name.startsWith(prefix) ? [[name.slice(prefix.length), utf8Text(value)] as const] : []
    );
  return {
    bytes: Number.isSafeInteger(bytes) ? bytes : 0,
    type: headers.get("Content-Type") ?? "",
    encoding: headers.get("Content-Encoding"),
    changed: Number.isNaN(changed) ? null : new Date(changed).toISOString(),
    etag: headers.get("ETag"),
    version: headers.get("x-amz-version-id"),
    metadata: below(METADATA),
    checksums: below(CHECKSUM).filter(([name]) => name !== "type"),
  };
}
