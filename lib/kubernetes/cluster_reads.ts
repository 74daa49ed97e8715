import { entries, member, parsedJson, stringAt } from "@/lib/std/untrusted.ts";
import { type ClusterConnection, ClusterForbidden, ClusterUnavailable } from "./connection.ts";

/** One collection of the API, and which of its objects are wanted. */
export interface Collection {
  /** Percent-encoded path of the collection. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
}

interface ListRequest extends Collection {
  /** Objects of one page. */
  readonly pageSize: number;
  readonly signal?: AbortSignal;
}

interface VersionedList<T> {
  readonly found: T[];
  readonly version: string;
}

/** Most pages of a list. */
const MAX_PAGES = 1000;

const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/**
 * Lists a collection page by page. Each object is trimmed by `read` as soon as its page is there, and left out where
 * that returns null, so that no more than one page is held whole. `version` is the resource version from which later
 * changes can be watched; "" when the server has none.
 *
 * @throws {ClusterUnavailable}
 */
export async function listAll<T>(
  connection: ClusterConnection,
  request: ListRequest,
  read: (item: unknown) => T | null,
): Promise<VersionedList<T>> {
  const list = await listPages(connection, request, read) ?? await listPages(connection, request, read);
  if (list === null) throw new ClusterUnavailable("status 410");
  return list;
}

/**
 * One object, or null when there is none of that name.
 *
 * @throws {ClusterForbidden} when the account may not read it
 * @throws {ClusterUnavailable}
 */
export async function getObject(
  connection: ClusterConnection,
  path: string,
  signal?: AbortSignal,
): Promise<unknown> {
  const { status, body } = await connection.send({ method: "GET", path, signal });
  if (status === 404) return null;
  if (status === 403) throw new ClusterForbidden();
  if (status !== 200) throw new ClusterUnavailable(`status ${status}`);
  return parsed(body);
}

/** A ConfigMap; null for one that is gone, and for a name that none can have. @throws as {@link getObject} */
export async function getConfigMap(connection: ClusterConnection, namespace: string, name: string): Promise<unknown> {
  const path = configMapPath(namespace, name);
  return path === null ? null : await getObject(connection, path);
}

/** The query that selects the objects of a collection. */
export function selection({ labelSelector, fieldSelector }: Collection): URLSearchParams {
  const query = new URLSearchParams();
  if (labelSelector) query.set("labelSelector", labelSelector);
  if (fieldSelector) query.set("fieldSelector", fieldSelector);
  return query;
}

/** Null when the server no longer has the state that a position in the list refers to. */
async function listPages<T>(
  connection: ClusterConnection,
  { pageSize, signal, ...collection }: ListRequest,
  read: (item: unknown) => T | null,
): Promise<VersionedList<T> | null> {
  const { path } = collection;
  const query = new URLSearchParams([["limit", String(pageSize)], ...selection(collection)]);
  const headers: Record<string, string> = collection.metadataOnly ? { Accept: METADATA_LIST } : {};
  const found: T[] = [];
  let version: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const { status, body } = await connection.send({ method: "GET", path, query, headers, signal });
    if (status === 410 && page > 0) return null;
    if (status !== 200) throw new ClusterUnavailable(`status ${status}`);
    const list = parsed(body);
    // Servers write an empty list as null, too.
    for (const item of entries(member(list, "items"))) {
      const object = read(item);
      if (object !== null) found.push(object);
    }
    // The first page's version: a later page may be newer if the server no longer stores the first one's state.
    version ??= stringAt(list, "metadata", "resourceVersion") ?? "";
    const position = stringAt(list, "metadata", "continue") ?? "";
    if (position === "") return { found, version };
    query.set("continue", position);
  }
  throw new ClusterUnavailable(`more than ${MAX_PAGES} pages`);
}

function parsed(body: Uint8Array): object {
  const value = parsedJson(body);
  if (value === undefined) throw new ClusterUnavailable("a response that is not JSON");
  if (typeof value !== "object" || value === null) throw new ClusterUnavailable("a response that is not an object");
  return value;
}

/** Percent-encoded paths of the resources of campaigns. */
export function jobsPath(namespace: string): string {
  return `/apis/batch/v1/namespaces/${encodeURIComponent(namespace)}/jobs`;
}

export function podsPath(namespace: string): string {
  return `${corePath(namespace)}/pods`;
}

export function configMapsPath(namespace: string): string {
  return `${corePath(namespace)}/configmaps`;
}

/** Null for a name that no map can have. */
export function configMapPath(namespace: string, name: string): string | null {
  return OBJECT_NAME.test(name) ? `${configMapsPath(namespace)}/${name}` : null;
}

/** A name that the API gives to objects (Kubernetes, "Object Names"): it cannot lead out of its path. */
const OBJECT_NAME = /^[a-z0-9](?:[-a-z0-9.]{0,251}[a-z0-9])?$/;

function corePath(namespace: string): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
}
