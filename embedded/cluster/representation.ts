import { ApiError } from "./api_status.ts";
import type { KubeObject, Plural } from "./objects.ts";
import { apiVersionOf, RESOURCES } from "./resources.ts";
import { tableOf } from "./table.ts";

/** The forms of a response. */
export type Form = "object" | "table" | "metadata";

/**
 * The first form of an `Accept` header that this API has: plain JSON, a `Table`, or metadata only (`PartialObjectMetadataList` for
 * lists, `PartialObjectMetadata` for one object). Throws a 406 for any other, and for the form of the other kind of request.
 */
export function acceptedForm(accept: string | null, isList: boolean): Form {
  for (const range of (accept ?? "*/*").split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim());
    if (!["application/json", "application/*", "*/*"].includes(type.toLowerCase())) continue;
    const named = new URLSearchParams(parameters.join("&"));
    const as = named.get("as");
    if (as === null) return "object";
    if (named.get("g") !== "meta.k8s.io" || named.get("v") !== "v1") continue;
    if (as === "Table") return "table";
    if (as === (isList ? "PartialObjectMetadataList" : "PartialObjectMetadata")) return "metadata";
  }
  const message = "only the following media types are accepted: application/json, with as=Table or metadata only";
  throw new ApiError(406, "NotAcceptable", message);
}

/** One object in a form. */
export function representObject(form: Form, plural: Plural, object: KubeObject, query: URLSearchParams, now: number) {
  if (form === "object") return object;
  if (form === "metadata") return metadataOnly(object);
  const version = { resourceVersion: object.metadata.resourceVersion };
  return tableOf(plural, [object], version, query.get("includeObject"), now);
}

/** A list in a form; `metadata` is the list's own: its version, and where it continues. */
export function representList(
  form: Form,
  plural: Plural,
  objects: readonly KubeObject[],
  metadata: Readonly<Record<string, unknown>>,
  query: URLSearchParams,
  now: number,
) {
  if (form === "table") return tableOf(plural, objects, metadata, query.get("includeObject"), now);
  if (form === "metadata") {
    const items = objects.map(metadataOnly);
    return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items };
  }
  const resource = RESOURCES[plural];
  // The items of a typed list carry neither kind nor apiVersion.
  const items = objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item);
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items };
}

/** The object of a bookmark event: only the version that the watch has reached. `initialEnd` marks the end of the initial events. */
export function representBookmark(form: Form, plural: Plural, version: number, initialEnd: boolean) {
  const metadata = {
    resourceVersion: String(version),
    creationTimestamp: null,
    ...(initialEnd && { annotations: { "k8s.io/initial-events-end": "true" } }),
  };
  if (form === "table") return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, rows: [] };
  if (form === "metadata") return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
  const resource = RESOURCES[plural];
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
}

/** The metadata-only form of an object. */
function metadataOnly(object: KubeObject) {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}
