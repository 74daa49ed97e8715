import { Buffer } from "node:buffer";
import { z } from "zod";
import { badRequest, expiredContinue, expiredVersion, invalidOptions, versionTooLarge } from "./api_status.ts";
import type { KubeObject, Plural } from "./objects.ts";
import { parseFieldSelector, parseLabelSelector } from "./selectors.ts";
import { byNamespaceAndName, type ClusterStore, type Named } from "./store.ts";

/** One page of a list, and the list's own metadata. */
interface Page {
  readonly objects: readonly KubeObject[];
  readonly metadata: {
    readonly resourceVersion: string;
    readonly continue?: string;
    readonly remainingItemCount?: number;
  };
}

/**
 * Lists objects by the query of a request: `labelSelector`, `fieldSelector`, `limit`, `continue`, `resourceVersion` and
 * `resourceVersionMatch` (Kubernetes API concepts, "Resource versions"). All pages of a list show the state of its first one.
 *
 * @throws ApiError 400 for a malformed parameter, 410 when the state of a `continue` or an exact version is no longer
 * stored, 504 for a version that is not reached
 */
export function listPage(store: ClusterStore, plural: Plural, namespace: string | null, query: URLSearchParams): Page {
  const selects = selectionOf(plural, query);
  const limit = wholeNumber(query, "limit") ?? 0;
  const token = query.get("continue");
  const from = token ? readContinue(token) : null;
  if (from && (wholeNumber(query, "resourceVersion") ?? 0) > 0) {
    throw badRequest("specifying resource version is not allowed when using continue");
  }
  const version = from ? from.version ?? store.version : wantedVersion(store, query, limit);
  const state = store.listAt(plural, namespace, version);
  if (!state) throw from ? expiredContinue(writeContinue(null, from.after)) : expiredVersion(version);
  const chosen = state.filter((object) =>
    (from === null || byNamespaceAndName(object, from.after) > 0) && selects(object)
  );
  const objects = limit > 0 ? chosen.slice(0, limit) : chosen;
  const last = objects.at(-1);
  if (objects.length === chosen.length || !last) return { objects, metadata: { resourceVersion: String(version) } };
  const selected = query.get("labelSelector") || query.get("fieldSelector");
  return {
    objects,
    metadata: {
      resourceVersion: String(version),
      continue: writeContinue(version, last),
      // As in the real API, the count is left out with a selector.
      ...(!selected && { remainingItemCount: chosen.length - objects.length }),
    },
  };
}

/** The filter of `labelSelector` and `fieldSelector` in a query. @throws ApiError 400 */
export function selectionOf(plural: Plural, query: URLSearchParams): (object: KubeObject) => boolean {
  const labels = parseLabelSelector(query.get("labelSelector") ?? "");
  const fields = parseFieldSelector(query.get("fieldSelector") ?? "", plural);
  return (object) => labels(object.metadata.labels ?? {}) && fields(object);
}

/** A query parameter that is a whole number, not negative; null when absent or empty. */
export function wholeNumber(query: URLSearchParams, name: string): number | null {
  const text = query.get(name);
  if (text === null || text === "") return null;
  if (!/^\d{1,15}$/.test(text)) throw badRequest(`${name}: not a whole number`);
  return Number(text);
}

function wantedVersion(store: ClusterStore, query: URLSearchParams, limit: number): number {
  const wanted = wholeNumber(query, "resourceVersion");
  const match = query.get("resourceVersionMatch") ?? "";
  const invalidMatch = (reason: "Forbidden" | "NotSupported", why: string) =>
    invalidOptions("ListOptions", "resourceVersionMatch", reason, why);
  if (!["", "Exact", "NotOlderThan"].includes(match)) throw invalidMatch("NotSupported", "Exact or NotOlderThan");
  if (match !== "" && wanted === null) throw invalidMatch("Forbidden", "needs a resourceVersion");
  if (match === "Exact" && wanted === 0) throw invalidMatch("Forbidden", "Exact needs a version other than 0");
  if (wanted === null || wanted === 0) return store.version;
  if (wanted > store.version) throw versionTooLarge(wanted, store.version);
  // Without resourceVersionMatch, a version with a limit is exact.
  const exact = match === "Exact" || (match === "" && limit > 0);
  return exact ? wanted : store.version;
}

/** What a `continue` token holds. */
const POSITION = z.tuple([z.int().nullable(), z.string(), z.string()]);

/** `version` null: the current state when the token is used. */
function writeContinue(version: number | null, last: Named): string {
  const { namespace = "", name } = last.metadata;
  return Buffer.from(JSON.stringify([version, namespace, name])).toString("base64url");
}

function readContinue(token: string): { version: number | null; after: Named } {
  try {
    const [version, namespace, name] = POSITION.parse(JSON.parse(Buffer.from(token, "base64url").toString()));
    return { version, after: { metadata: { namespace, name } } };
  } catch {
    throw badRequest("continue key is not valid");
  }
}
