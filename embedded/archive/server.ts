import { LOCAL_CONNECTION_LIMITS } from "@/lib/process/connections.ts";
import { drainingServer, type Handler } from "@/lib/process/draining_server.ts";
import { percentDecoded } from "@/lib/std/percent_decoded.ts";
import { volumeFinder } from "./catalogue.ts";
import { DrawingPool, TooManyImages } from "./drawing_pool.ts";
import type { Client } from "./fair_queue.ts";
import { imageContext, imageInformation, profileUrl } from "./image_information.ts";
import { BadImageRequest, type ImageApi, type ImageFormat, readImageRequest } from "./image_request.ts";
import { PageCache } from "./page_cache.ts";
import { sourceManifest } from "./source_manifest.ts";
import { imageServiceUrl, pageName, SAMPLES_EDITION, type SourceVolume } from "./source_volumes.ts";

interface EmbeddedArchiveOptions {
  /** The loopback name or address to listen on; it shows in every URL of the manifests. */
  readonly host: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** The seed of the texts of the pages; the same as the cluster's, so that ALTO and image agree. */
  readonly seed: number;
  /** Volumes beside those that every archive has. */
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
 * `/image2/<volume>/<page>` (2.1) `/info.json` and `/<region>/<size>/<rotation>/<quality>.<format>`. The volumes are those
 * that `volumeFinder` finds. Nothing is drawn before it is requested. Requests by another Host name than its own and the
 * loopback names are 421, so that no page reaches it under a name of its own.
 */
export function startEmbeddedArchive(options: EmbeddedArchiveOptions): EmbeddedArchive {
  const { seed } = options;
  const findVolume = volumeFinder(seed, options.volumes);
  const pool = new DrawingPool();
  const images = new PageCache();
  let url = "";
  const reply = async (request: Request, client: Client) => {
    const segments = pathSegments(request.url);
    const volume = findVolume(segments[1] ?? "");
    const cors = volume?.sample === "no-cors" ? NO_CORS : CORS;
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: cors });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return problem(405, "read only", { ...cors, allow: "GET, HEAD, OPTIONS" });
    }
    try {
      const found = volume && segments.every((segment) => segment !== null) && find(segments, volume, request);
      if (!found) return problem(404, "not found", cors);
      if ("location" in found) return problem(303, "the description is at info.json", { ...cors, ...found });
      const etag = `"${SAMPLES_EDITION}-${seed}-${found.version}"`;
      const headers = { ...cors, ...found.headers, etag, "cache-control": "public, max-age=300" };
      if (namesEtag(request.headers.get("if-none-match"), etag)) return new Response(null, { status: 304, headers });
      const body = await found.body(client, request.signal);
      const length = { "content-length": String(body.length) };
      return new Response(request.method === "HEAD" ? null : body, { headers: { ...headers, ...length } });
    } catch (error) {
      return failure(error, cors);
    }
  };
  const { host: hostname, port: wantedPort = 0 } = options;
  const names = new Set([...LOOPBACK_NAMES, authority(options.host)]);
  const handler: Handler = (request, { remoteAddr: { hostname, port } }) =>
    names.has(hostOf(request))
      ? reply(request, { address: hostname, connection: String(port) })
      : problem(421, "this archive answers only under its own name", NO_CORS);
  const server = drainingServer({ hostname, port: wantedPort, limits: LOCAL_CONNECTION_LIMITS }, handler, handler);
  const { port } = server;
  url = `http://${authority(options.host)}:${port}`;
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

  /** @throws {BadImageRequest} */
  function find(
    [collection, , third, ...rest]: readonly string[],
    volume: SourceVolume,
    request: Request,
  ): Found | { readonly location: string } | null {
    if (collection === "iiif" && third === "manifest.json" && rest.length === 0) {
      const context = `http://iiif.io/api/presentation/${volume.presentation}/context.json`;
      return document(() => sourceManifest(url, volume), context, request, port);
    }
    const api = IMAGE_APIS.get(collection);
    const page = pageNumber(third ?? "", volume.pages);
    if (!api || page === null) return null;
    const service = imageServiceUrl(url, volume.id, page, api);
    if (rest.length === 0) return { location: `${service}/info.json` };
    if (rest.length === 1 && rest[0] === "info.json") {
      const found = document(() => imageInformation(url, volume.id, page, api), imageContext(api), request, port);
      return { ...found, headers: { ...found.headers, link: profileLink(api) } };
    }
    if (rest.length !== 4) return null;
    const { canonical, ...wanted } = readImageRequest(api, rest);
    const task = { seed, volume: volume.id, page, ...wanted };
    const body = (client: Client, signal: AbortSignal) =>
      images.get(`${volume.id}/${page}/${canonical}`, client.address, signal, (signal) => {
        return pool.render(task, client, signal);
      });
    // A caret is not a character of a URI.
    const link = `<${service}/${canonical.replace("^", "%5E")}>;rel="canonical", ${profileLink(api)}`;
    return { body, headers: { "content-type": MEDIA_TYPES[wanted.format], link }, version: "image" };
  }
}

function authority(host: string): string {
  return host.includes(":") ? `[${host}]` : host.toLowerCase();
}

/** The host that a request names, without its port; "" where it names none. */
function hostOf({ headers }: Request): string {
  return (headers.get("host") ?? "").replace(/:\d*$/, "").toLowerCase();
}

interface Found {
  /** Computes the body; `signal` aborts when the request has ended. */
  readonly body: (client: Client, signal: AbortSignal) => Bytes | Promise<Bytes>;
  readonly headers: Readonly<Record<string, string>>;
  /** Together with the seed and {@link SAMPLES_EDITION}, this changes when the body does. */
  readonly version: string;
}

type Bytes = Uint8Array<ArrayBuffer>;

const MEDIA_TYPES: Readonly<Record<ImageFormat, string>> = { png: "image/png", jpg: "image/jpeg" };

/** The versions of the image service by the first segment of their paths. */
const IMAGE_APIS: ReadonlyMap<string, ImageApi> = new Map([["image", 3], ["image2", 2]]);

/** Names by which programs and pages of this machine reach it, without the port. */
const LOOPBACK_NAMES = ["localhost", "127.0.0.1", "[::1]"];

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

/** Decoded segments of a URL's path; null for one that is empty or not UTF-8, or hides a slash. */
function pathSegments(requested: string): (string | null)[] {
  // Not by `URL`, which throws on a Host that is none and folds dots away.
  const path = /^[a-z]+:\/\/[^/]*\/([^?#]*)/.exec(requested)?.[1] ?? "";
  return path.split("/").map((raw) => {
    const segment = percentDecoded(raw);
    return segment === null || segment === "" || /[/\\\p{Cc}]/u.test(segment) ? null : segment;
  });
}

function pageNumber(name: string, pages: number): number | null {
  const page = /^\d{4}$/.test(name) ? Number(name) : 0;
  return page >= 1 && page <= pages && pageName(page) === name ? page : null;
}

/** A JSON document; as JSON-LD for a client that prefers it. The archive's address, with its port, is part of it. */
function document(content: () => Record<string, unknown>, context: string, request: Request, port: number): Found {
  const isLinked = /\bapplication\/ld\+json\b/i.test(request.headers.get("accept") ?? "");
  const type = isLinked ? `application/ld+json;profile="${context}"` : "application/json; charset=utf-8";
  return {
    body: () => new TextEncoder().encode(JSON.stringify(content())),
    headers: { "content-type": type, vary: "Accept" },
    version: `${isLinked ? "ld" : "json"}-${port}`,
  };
}

function profileLink(api: ImageApi): string {
  return `<${profileUrl(api)}>;rel="profile"`;
}

/** Whether an `If-None-Match` header names an entity tag, or any. */
function namesEtag(header: string | null, etag: string): boolean {
  return header !== null && header.split(",").some((part) => ["*", etag, `W/${etag}`].includes(part.trim()));
}

function failure(error: unknown, headers: Readonly<Record<string, string>>): Response {
  if (error instanceof BadImageRequest) return problem(400, error.message, headers);
  if (error instanceof TooManyImages) {
    return problem(503, error.message, { ...headers, "retry-after": String(RETRY_SECONDS) });
  }
  return problem(500, "the page could not be drawn", headers);
}

function problem(status: number, detail: string, headers: Readonly<Record<string, string>>): Response {
  return Response.json({ detail }, { status, headers });
}
