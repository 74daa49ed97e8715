import { LOCAL_CONNECTION_LIMITS } from "@/lib/process/connections.ts";
import { drainingServer } from "@/lib/process/draining_server.ts";
import { percentDecoded } from "@/lib/std/percent_decoded.ts";
import { PageCache } from "./page_cache.ts";
import { drawPage, shrink } from "./page_image.ts";
import { layoutPage } from "./page_layout.ts";
import { greyscalePng } from "./png.ts";
import { imageInformation, sourceManifest } from "./source_manifest.ts";
import { IMAGE_DIVISORS, imageSize, pageName, type SourceVolume } from "./source_volumes.ts";

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
 * Routes: `/iiif/<volume>/manifest.json`, `/image/<volume>/<page>/info.json` and
 * `/image/<volume>/<page>/full/<size>/0/default.png`, where size is `max`, `full`, `<w>,`, `,<h>`, `<w>,<h>` or
 * `!<w>,<h>` of a size that `info.json` names. Everything else is 404.
 */
export function startEmbeddedArchive(options: EmbeddedArchiveOptions): EmbeddedArchive {
  const volumes = new Map([...options.volumes].map((volume) => [volume.id, volume]));
  const images = new PageCache();
  let url = "";
  const reply = async (request: Request) => {
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: CORS });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return answer(405, "read only", { allow: "GET, HEAD, OPTIONS" });
    }
    const found = await find(request.url);
    if (!found) return answer(404, "not found");
    const etag = `"${found.version}"`;
    const headers = { ...CORS, etag, "cache-control": "public, max-age=300", "content-type": found.type };
    if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers });
    const length = { "content-length": String(found.body.length) };
    return new Response(request.method === "HEAD" ? null : found.body, { headers: { ...headers, ...length } });
  };
  const { host: hostname, port: wantedPort = 0 } = options;
  const handler = (request: Request) => reply(request).catch(() => answer(500, "the page could not be drawn"));
  const server = drainingServer({ hostname, port: wantedPort, limits: LOCAL_CONNECTION_LIMITS }, handler, handler);
  const { port } = server;
  url = `http://${options.host.includes(":") ? `[${options.host}]` : options.host}:${port}`;
  return {
    url,
    port,
    close() {
      // A graceful shutdown would wait for a reader that stalls in the middle of an image.
      server.cut();
      return server.drain();
    },
  };

  async function find(requested: string): Promise<Found | null> {
    const segments = pathSegments(requested);
    if (!segments) return null;
    const volume = volumes.get(segments[1] ?? "");
    if (!volume) return null;
    if (segments[0] === "iiif" && segments.length === 3 && segments[2] === "manifest.json") {
      return document(sourceManifest(url, volume), `manifest-${options.seed}-${port}`);
    }
    const page = pageNumber(segments[2] ?? "", volume.pages);
    if (segments[0] !== "image" || page === null) return null;
    if (segments.length === 4 && segments[3] === "info.json") {
      return document(imageInformation(url, volume.id, page), `info-${options.seed}-${port}`);
    }
    const divisor = segments.length === 7 && requestedDivisor(segments.slice(3));
    if (!divisor) return null;
    const name = `${volume.id}/${page}/${divisor}`;
    const body = await images.get(name, () => {
      const whole = drawPage(layoutPage(options.seed, volume.id, page), `${options.seed}/${volume.id}/${page}`);
      const image = divisor === 1 ? whole : shrink(whole, divisor);
      return greyscalePng(image.width, image.height, image.pixels);
    });
    return { body, type: "image/png", version: `${options.seed}-${divisor}` };
  }
}

interface Found {
  readonly body: Uint8Array<ArrayBuffer>;
  readonly type: string;
  readonly version: string;
}

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-expose-headers": "ETag, Content-Length",
  "cross-origin-resource-policy": "cross-origin",
  "x-content-type-options": "nosniff",
};

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

/** How much smaller than the page the image of an IIIF image request is; null for what level 0 does not offer. */
function requestedDivisor([region, size, rotation, file]: string[]): number | null {
  if (region !== "full" || rotation !== "0" || file !== "default.png") return null;
  if (size === "max" || size === "full") return 1;
  return IMAGE_DIVISORS.find((divisor) => {
    const { width, height } = imageSize(divisor);
    return [`${width},`, `,${height}`, `${width},${height}`, `!${width},${height}`].includes(size);
  }) ?? null;
}

function document(content: Record<string, unknown>, version: string): Found {
  const body = new TextEncoder().encode(JSON.stringify(content));
  return { body, type: "application/json; charset=utf-8", version };
}

function answer(status: number, detail: string, more: Record<string, string> = {}): Response {
  return Response.json({ detail }, { status, headers: { ...CORS, ...more } });
}
