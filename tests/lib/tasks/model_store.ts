import { Buffer } from "node:buffer";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { UpstreamError, type UpstreamRequest } from "@/lib/http/upstream.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import { unescapeXml } from "@/lib/std/xml_scanner.ts";

export const CALLER: Caller = {
  username: "alva",
  tenant: "archive",
  s3: { accessKey: "YWx2YQ==", secretKey: "s" },
  mapiAuthorization: null,
  named: true,
};

const order = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const encoded = (text: string) => encodeURIComponent(text).replaceAll("%2F", "/");

interface ListedObject {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
}

/** How the listings of a store are cut, and differ from others: keys in another order, or always from the first one on. */
interface Listing {
  readonly pageSize?: number;
  readonly quirk?: "none" | "other order" | "no start-after";
}

/** A page of a listing, as stores answer it. */
export function listPage(
  objects: readonly ListedObject[],
  query: URLSearchParams,
  { pageSize = 1000, quirk = "none" }: Listing = {},
): Response {
  const text = (name: string) => query.get(name) ?? "";
  const [prefix, delimiter, token] = [text("prefix"), text("delimiter"), text("continuation-token")];
  const startAfter = quirk === "no start-after" ? "" : text("start-after");
  const after = token ? Buffer.from(token, "base64url").toString() : startAfter;
  const limit = Math.min(pageSize, Number(query.get("max-keys") ?? 1000));
  const compare = quirk === "other order" ? (a: string, b: string) => order(b, a) : order;
  const entries = new Map<string, ListedObject | null>();
  let last = "";
  let isTruncated = false;
  for (const object of objects.toSorted((a, b) => compare(a.key, b.key))) {
    const { key } = object;
    if (!key.startsWith(prefix) || (after !== "" && compare(key, after) <= 0)) continue;
    const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    const name = cut < 0 ? key : key.slice(0, cut + delimiter.length);
    if (!entries.has(name)) {
      isTruncated = entries.size === limit;
      if (isTruncated) break;
      entries.set(name, cut < 0 ? object : null);
    }
    last = key;
  }
  const contents = [...entries].map(([name, object]) =>
    object === null
      ? `<CommonPrefixes><Prefix>${encoded(name)}</Prefix></CommonPrefixes>`
      : `<Contents><Key>${encoded(name)}</Key><LastModified>2026-11-01T00:00:00.000Z</LastModified>` +
        `<ETag>${object.etag.replaceAll('"', "&quot;")}</ETag><Size>${object.size}</Size></Contents>`
  );
  const next = isTruncated
    ? `<NextContinuationToken>${Buffer.from(last).toString("base64url")}</NextContinuationToken>`
    : "";
  return new Response(
    `<?xml version="1.0"?><ListBucketResult><IsTruncated>${isTruncated}</IsTruncated>${next}` +
      `<EncodingType>url</EncodingType>${contents.join("")}</ListBucketResult>`,
  );
}

/** A bucket in memory behind the interface of the S3 client: listings and deletions as stores answer them. */
export class ModelStore {
  /** Keys and sizes. */
  readonly objects: Map<string, number>;
  /** The queries of all listings. */
  readonly lists: URLSearchParams[] = [];
  /** The keys of all multi-deletes. */
  readonly deletes: string[][] = [];
  /** Keys that cannot be deleted. */
  readonly held = new Set<string>();
  pageSize = 1000;
  /** Called before each request; it may throw, or wait. */
  before: (request: UpstreamRequest, query: URLSearchParams) => void | Promise<void> = () => {};
  quirk: Listing["quirk"] = "none";

  constructor(keys: Iterable<string>, size: (key: string) => number = () => 1) {
    this.objects = new Map([...keys].map((key) => [key, size(key)]));
  }

  get s3(): S3 {
    return {
      addresses: { s3: () => Promise.resolve({ endpoint: "http://store", publicEndpoint: "http://store" }) },
      region: "us-east-1",
      upstream: { send: (request) => this.#send(request) },
      now: () => 0,
    };
  }

  async #send(request: UpstreamRequest): Promise<Response> {
    const query = new URL(request.target, "http://store").searchParams;
    await this.before(request, query);
    const { signal } = request;
    if (signal?.aborted) throw new UpstreamError("aborted", signal.reason);
    if (request.method === "POST") return this.#delete(String(request.body));
    if (request.method === "DELETE") {
      this.#deleteKeys([decodeURIComponent(request.target.slice("/letters/".length).split("?")[0])]);
      return new Response(null, { status: 204 });
    }
    this.lists.push(query);
    const objects = [...this.objects].map(([key, size]) => ({ key, size, etag: '"e"' }));
    return listPage(objects, query, this);
  }

  #delete(body: string): Response {
    const keys = [...body.matchAll(/<Key>(.*?)<\/Key>/gs)].map(([, key]) => unescapeXml(key) ?? "");
    const refused = this.#deleteKeys(keys);
    const errors = refused.map((key) =>
      `<Error><Key>${key}</Key><Code>AccessDenied</Code><Message>held</Message></Error>`
    );
    return new Response(`<DeleteResult>${errors.join("")}</DeleteResult>`);
  }

  #deleteKeys(keys: readonly string[]): string[] {
    this.deletes.push([...keys]);
    for (const key of keys) if (!this.held.has(key)) this.objects.delete(key);
    return keys.filter((key) => this.held.has(key));
  }
}
