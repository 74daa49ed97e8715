import { isStringRecord, type JsonObject } from "./json_values.ts";
import { metadataOf } from "./object_body.ts";

/** Stands for the archive's origin, whose port is another one for each data folder. */
const ARCHIVE_ADDRESS = "http://embedded-archive.internal";

/** Texts of a ConfigMap in which the address counts, by the part of the body that holds them. */
const VOLUMES = "volumes.txt";
const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";

/**
 * A ConfigMap with the archive's real origin in its volumes.txt, as an admission webhook would write it: a file with a
 * campaign then serves every data folder. What `kubectl` notes as last applied changes alike, so that it finds its own
 * values again.
 */
export function withArchiveAddress(body: JsonObject, archiveUrl: string): JsonObject {
  const { data } = body;
  const metadata = metadataOf(body);
  const { annotations } = metadata;
  return {
    ...body,
    ...(isStringRecord(data) && { data: replaced(data, VOLUMES, archiveUrl) }),
    ...(isStringRecord(annotations) && {
      metadata: { ...metadata, annotations: replaced(annotations, LAST_APPLIED, archiveUrl) },
    }),
  };
}

function replaced(texts: Record<string, string>, key: string, archiveUrl: string): Record<string, string> {
  return Object.hasOwn(texts, key)
    ? { ...texts, [key]: texts[key].replaceAll(`${ARCHIVE_ADDRESS}/`, `${archiveUrl}/`) }
    : texts;
}
