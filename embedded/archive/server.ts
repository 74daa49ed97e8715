import { LOCAL_CONNECTION_LIMITS } from "@/lib/process/connections.ts";
import { drainingServer } from "@/lib/process/draining_server.ts";
import { percentDecoded } from "@/lib/std/percent_decoded.ts";
import { DrawingPool, TooManyImages } from "./drawing_pool.ts";
import { imageContext, imageInformation, profileUrl } from "./image_information.ts";
import { BadImageRequest, type ImageApi, readImageRequest } from "./image_request.ts";
import { PageCache } from "./page_cache.ts";
import { sourceManifest } from "./source_manifest.ts";
import { imageServiceUrl, pageName, SAMPLE_VOLUMES, SAMPLES_EDITION, type SourceVolume } from "./source_volumes.ts";

interface EmbeddedArchiveOptions {
  /** The loopback name or address to listen on; it shows in every URL of the manifests. */
  readonly host: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** The seed of the texts of the pages; the same as the cluster's, so that ALTO and image agree. */
  readonly seed: number;
  readonly volumes: Iterable<SourceVolume>;
}

export interface EmbeddedArchive {
  /** Origin without a trailing slash. */
  readonly url: string;
  readonly port: number;
  close(): Promise<void>;
}

/**
 * Serves the sample volumes as a public archive does: IIIF manifests and page images, read only, to pages of any origin.
 *
 * Routes: `/iiif/<volume>/manifest.json`, and below `/image/<volume>/<page>` (IIIF Image API 3.0) and
 * `/image2/<volume>/<page>` (2.1) `/info.json` and `/<region>/<size>/0/<quality>.png`. The volumes are those of
 * `options` and {@link SAMPLE_VOLUMES}. Nothing is drawn before it is requested.
 */
export function startEmbeddedArchive(options: EmbeddedArchiveOptions): EmbeddedArchive {
  const { seed } = options;
  const volumes = new Map([...options.volumes, ...SAMPLE_VOLUMES].map((volume) => [volume.id, volume]));
  const pool = new DrawingPool();
  const images = new PageCache();
  let url = "";
  const reply = async (request: Request) => {
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: CORS });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return answer(405, "read only", { allow: "GET, HEAD, OPTIONS" });
    }
    const found = await find(request);
    if (!found) return answer(404, "not found");
    if (found instanceof Response) return found;
    const etag = `"${SAMPLES_EDITION}-${seed}-${found.version}"`;
    const headers = {
      ...(found.hasCors ? CORS : NO_CORS),
      ...found.headers,
      etag,
      "cache-control": "public, max-age=300",
    };
    if (namesEtag(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
    const length = { "content-length": String(found.body.length) };
    return new Response(request.method === "HEAD" ? null : found.body, { headers: { ...headers, ...length } });
  };
  const { host: hostname, port: wantedPort = 0 } = options;
  const handler = (request: Request) => reply(request).catch(failure);
  const server = drainingServer({ hostname, port: wantedPort, limits: LOCAL_CONNECTION_LIMITS }, handler, handler);
  const { port } = server;
  url = `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`;
  return {
    url,
    port,
    close() {
      pool.close();
      // A graceful shutdown would wait for a reader that stalls in the middle of an image.
      server.cut();
      return server.drain();
    },
  };

  async function find(request: Request): Promise<Found | Response | null> {
    const [collection, id, third, ...rest] = pathSegments(request.url) ?? [];
    const volume = volumes.get(id ?? "");
    if (!volume) return null;
    const hasCors = volume.sample !== "no-cors";
    if (collection === "iiif" && third === "manifest.json" && rest.length === 0) {
      const context = `http://iiif.io/api/presentation/${volume.presentation}/context.json`;
      return { ...document(sourceManifest(url, volume), context, request, port), hasCors };
    }
    const api = IMAGE_APIS.get(collection);
    const page = pageNumber(third ?? "", volume.pages);
    if (!api || page === null) return null;
    const service = imageServiceUrl(url, volume.id, page, api);
    if (rest.length === 0) return answer(303, "the description is at info.json", { location: `${service}/info.json` });
    if (rest.length === 1 && rest[0] === "info.json") {
      const found = document(imageInformation(url, volume.id, page, api), imageContext(api), request, port);
      return { ...found, headers: { ...found.headers, link: profileLink(api) }, hasCors };
    }
    if (rest.length !== 4) return null;
    const { region, width, height, quality, canonical } = readImageRequest(api, rest);
    const name = `${volume.id}/${page}/${canonical}`;
    const task = { seed, volume: volume.id, page, region, width, height, quality };
    const body = await images.get(name, request.signal, (signal) => pool.render(task, signal));
    // A caret is not a character of a URI.
    const link = `<${service}/${canonical.replace("^", "%5E")}>;rel="canonical", ${profileLink(api)}`;
    return { body, headers: { "content-type": "image/png", link }, version: "image", hasCors };
  }
}

interface Found {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly headers: Readonly<Record<string, string>>;
  /** Together with the seed and {@link SAMPLES_EDITION}, this changes when the body does. */
  readonly version: string;
  readonly hasCors: boolean;
}

/** The versions of the image service by the first segment of their paths. */
const IMAGE_APIS: ReadonlyMap<string, ImageApi> = new Map([["image", 3], ["image2", 2]]);

/** When a client should ask again for an image that could not be rendered in time, in seconds. */
const RETRY_SECONDS = 2;

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-expose-headers": "ETag, Content-Length, Link",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff",
};
const NO_CORS = { "x-content-type-options": "nosniff" };

/** Decoded segments of a URL's path; null where a segment is empty or not UTF-8, or hides a slash. */
function pathSegments(requested: string): string[] | null {
  const segments: string[] = [];
  // Not by `URL`, which throws on a Host that is none and folds dots away.
  const path = /^[a-z]+:\/\/[^/]*\/([^?#]*)/.exec(requested)?.[1] ?? "";
  for (const raw of path.split("/")) {
    const segment = percentDecoded(raw);
    if (segment === null || segment === "" || /[/\\\p{Cc}]/u.test(segment)) return null;
    segments.push(segment);
  }
  return segments;
}

function pageNumber(name: string, pages: number): number | null {
  const page = /^\d{4}$/.test(name) ? Number(name) : 0;
  return page >= 1 && page <= pages && pageName(page) === name ? page : null;
}

/** A JSON document; as JSON-LD for a client that prefers it. The archive's address, with its port, is part of it. */
function document(content: Record<string, unknown>, context: string, request: Request, port: number) {
  const body = new TextEncoder().encode(JSON.stringify(content));
  const isLinked = /\bapplication\/ld\+json\b/i.test(request.headers.get("accept") ?? "");
  const type = isLinked ? `application/ld+json;profile="${context}"` : "application/json; charset=utf-8";
  return { body, headers: { "content-type": type, vary: "Accept" }, version: `${isLinked ? "ld" : "json"}-${port}` };
}

function profileLink(api: ImageApi): string {
  return `<${profileUrl(api)}>;rel="profile"`;
}

/** Whether an `If-None-Match` header names an entity tag, or any. */
function namesEtag(header: string | null, etag: string): boolean {
  return header !== null && header.split(",").some((part) => ["*", etag, `W/${etag}`].includes(part.trim()));
}

function failure(error: unknown): Response {
  if (error instanceof BadImageRequest) return answer(400, error.message);
  if (error instanceof TooManyImages) return answer(503, error.message, { "retry-after": String(RETRY_SECONDS) });
  return answer(500, "the page could not be drawn");
}

function answer(status: number, detail: string, more: Record<string, string> = {}): Response {
  return Response.json({ detail }, { status, headers: { ...CORS, ...more } });
}
