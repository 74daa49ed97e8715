import { type HttpHost, LOOPBACK_NAMES, requestedHost, urlHost } from "@/lib/std/http_host.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import { drawnPage, imageFile, LOGO_FILE, SAMPLES_EDITION, type SourceVolume, volumeFinder } from "./catalogue.ts";
import { sourceManifest } from "./source_manifest.ts";

interface EmbeddedArchiveOptions {
  readonly http: HttpHost;
  /** The loopback name or address to listen on; it shows in every URL of the manifests. */
  readonly host: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** The seed of the samples, which decides what the catalogue has. */
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
 * Routes: `/iiif/<volume>/manifest.json`, `/image/<volume>/<page>.png`, `/thumbnail/<volume>/<page>.png`, `/logo.png`. The
 * volumes are those that `volumeFinder` finds. Any Host name but its own and the loopback names is 421, against DNS
 * rebinding.
 */
export function startEmbeddedArchive(options: EmbeddedArchiveOptions): EmbeddedArchive {
  const { http, host, port: wantedPort = 0, seed } = options;
  const findVolume = volumeFinder(seed, options.volumes);
  const names = new Set([...LOOPBACK_NAMES, urlHost(host)]);
  const handler = (request: Request) =>
    names.has(requestedHost(request))
      ? reply(request)
      : problem(421, "this archive answers only under its own name", NO_CORS);
  const server = http.listen({ hostname: host, port: wantedPort }, handler, handler);
  const { port } = server;
  const url = `http://${urlHost(host)}:${port}`;
  return {
    url,
    port,
    close() {
      // A graceful shutdown would wait for a reader that stalls in the middle of an image.
      server.cut();
      return server.drain();
    },
  };

  async function reply(request: Request): Promise<Response> {
    const segments = pathSegments(request.url);
    const volume = findVolume(segments[1] ?? "");
    const cors = volume?.sample === "no-cors" ? NO_CORS : CORS;
    if (request.method === "OPTIONS") return new Response(null, { status: 204, headers: cors });
    if (request.method !== "GET" && request.method !== "HEAD") {
      return problem(405, "read only", { ...cors, allow: "GET, HEAD, OPTIONS" });
    }
    const found = find(segments, volume);
    if (!found) return problem(404, "not found", cors);
    const etag = `"${SAMPLES_EDITION}-${found.version}"`;
    const headers = { ...cors, "content-type": found.type, etag, "cache-control": "public, max-age=300" };
    const known = (request.headers.get("if-none-match") ?? "").split(",").map((one) => one.trim());
    if (known.some((one) => ["*", etag, `W/${etag}`].includes(one))) {
      return new Response(null, { status: 304, headers });
    }
    const body = await found.body();
    const length = { "content-length": String(body.length) };
    return new Response(request.method === "HEAD" ? null : body, { headers: { ...headers, ...length } });
  }

  function find(segments: readonly (string | null)[], volume: SourceVolume | null): Found | null {
    const [collection, id, file, ...rest] = segments;
    if (collection === "logo.png" && id === undefined) return png("logo", LOGO_FILE);
    if (!volume || !file || rest.length > 0) return null;
    if (collection === "iiif" && file === "manifest.json") {
      const body = () => new TextEncoder().encode(JSON.stringify(sourceManifest(url, volume)));
      return { type: "application/json; charset=utf-8", version: `${seed}-${port}`, body };
    }
    const page = pageNumber(file, volume.pages);
    if (page === null || (collection !== "image" && collection !== "thumbnail")) return null;
    const number = drawnPage(volume.id, page);
    return png(String(number), imageFile(number, collection));
  }
}

interface Found {
  readonly type: string;
  /** Together with {@link SAMPLES_EDITION}, this changes when the body does. */
  readonly version: string;
  readonly body: () => Uint8Array<ArrayBuffer> | Promise<Uint8Array<ArrayBuffer>>;
}

function png(version: string, file: URL): Found {
  return { type: "image/png", version, body: () => Deno.readFile(file) };
}

const CORS = {
  "access-control-allow-origin": "*",
  "access-control-allow-methods": "GET, HEAD, OPTIONS",
  "access-control-allow-headers": "*",
  "access-control-expose-headers": "ETag, Content-Length",
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

/** The page of a file such as `0001.png`; null for one that the volume does not have. */
function pageNumber(file: string, pages: number): number | null {
  const page = Number(/^(\d{4})\.png$/.exec(file)?.[1]);
  return page >= 1 && page <= pages ? page : null;
}

function problem(status: number, detail: string, headers: Readonly<Record<string, string>>): Response {
  return Response.json({ detail }, { status, headers });
}
