import type { ClusterConnection } from "./connection.ts";
import { ClusterUnavailable } from "./cluster_unavailable.ts";

/** One collection of the API, and which of its objects are wanted. */
export interface ListRequest {
  /** Percent-encoded path of the collection. */
  readonly path: string;
  readonly labelSelector?: string;
  readonly fieldSelector?: string;
  readonly metadataOnly?: boolean;
  /** Objects of one page. */
  readonly pageSize: number;
  readonly signal?: AbortSignal;
}

/** More pages than this is not a cluster that can be shown. */
const MAX_PAGES = 1000;

const METADATA_LIST = "application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1,application/json";

/**
 * Lists a collection page by page. Each object is trimmed by `read` as soon as its page is there, and left out where
 * that answers null, so that no more than one page is held whole.
 *
 * @throws {ClusterUnavailable}
 */
export async function listAll<T>(
  connection: ClusterConnection,
  request: ListRequest,
  read: (item: unknown) => T | null,
): Promise<T[]> {
  try {
    return await listPages(connection, request, read);
  } catch (error) {
    if (!(error instanceof PositionExpired)) throw error;
    try {
      return await listPages(connection, request, read);
    } catch (again) {
      throw again instanceof PositionExpired ? new ClusterUnavailable(again) : again;
    }
  }
}

/**
 * One object, or null when there is none of that name.
 *
 * @throws {ClusterUnavailable}
 */
export async function getObject(
  connection: ClusterConnection,
  path: string,
  signal?: AbortSignal,
): Promise<unknown> {
  const { status, body } = await connection.send({ method: "GET", path, signal });
  if (status === 404) return null;
  if (status !== 200) throw new ClusterUnavailable(`status ${status}`);
  return parsed(body);
}

/** The server has forgotten the state that a position in a list speaks of. */
class PositionExpired extends Error {}

async function listPages<T>(
  connection: ClusterConnection,
  { path, labelSelector, fieldSelector, metadataOnly, pageSize, signal }: ListRequest,
  read: (item: unknown) => T | null,
): Promise<T[]> {
  const query = new URLSearchParams({ limit: String(pageSize) });
  if (labelSelector) query.set("labelSelector", labelSelector);
  if (fieldSelector) query.set("fieldSelector", fieldSelector);
  const headers: Record<string, string> = metadataOnly ? { Accept: METADATA_LIST } : {};
  const found: T[] = [];
  for (let page = 0; page < MAX_PAGES; page++) {
    const { status, body } = await connection.send({ method: "GET", path, query, headers, signal });
    if (status === 410 && page > 0) throw new PositionExpired("410");
    if (status !== 200) throw new ClusterUnavailable(`status ${status}`);
    const list = parsed(body);
    for (const item of itemsOf(list)) {
      const object = read(item);
      if (object !== null) found.push(object);
    }
    const position = continueOf(list);
    if (position === "") return found;
    query.set("continue", position);
  }
  throw new ClusterUnavailable(`more than ${MAX_PAGES} pages`);
}

function parsed(body: Uint8Array): object {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder().decode(body));
  } catch {
    throw new ClusterUnavailable("an answer that is no JSON");
  }
  if (typeof value !== "object" || value === null) throw new ClusterUnavailable("an answer that is no object");
  return value;
}

/** Servers write an empty list as null, too. */
function itemsOf(list: object): readonly unknown[] {
  return "items" in list && Array.isArray(list.items) ? list.items : [];
}

function continueOf(list: object): string {
  const metadata = "metadata" in list ? list.metadata : null;
  if (typeof metadata !== "object" || metadata === null || !("continue" in metadata)) return "";
  return typeof metadata.continue === "string" ? metadata.continue : "";
}
