import { imageServiceOf } from "@/lib/presentation/iiif/image_service.ts";
import type { ImageService, ImageSource } from "@/lib/presentation/iiif/manifest.ts";
import type { FetchProblem } from "@/lib/presentation/viewer_sentences.ts";
import { fetchText } from "@/lib/client/fetch_text.ts";

/** Largest description of an image that is read, bytes. */
const MAX_INFO_BYTES = 512 * 1024;
/** Descriptions that are cached. */
const MAX_CACHED = 100;

/** What OpenSeadragon opens: the description of an image service, or one image file. */
type TileSource = Readonly<Record<string, unknown>>;

export type TileSourceAnswer =
  | { readonly ok: true; readonly source: TileSource; readonly width: number | null; readonly height: number | null }
  | { readonly ok: false; readonly problem: FetchProblem };

/** Reads the descriptions of image services, each once. */
export class TileSources {
  readonly #fetch: typeof fetch;
  /** By the service's address, the least recently used first. */
  readonly #infos = new Map<string, Promise<TileSourceAnswer>>();

  constructor(request: typeof fetch) {
    this.#fetch = request;
  }

  /** The way to show an image: its service, or its file where it has no service or none that can be read. */
  async of({ service, href, width, height }: ImageSource): Promise<TileSourceAnswer> {
    const file = href === null ? null : { ok: true, source: { type: "image", url: href }, width, height } as const;
    if (service === null) return file ?? { ok: false, problem: 404 };
    const info = await this.#info(service);
    return info.ok ? info : file ?? info;
  }

  #info(service: ImageService): Promise<TileSourceAnswer> {
    const info = this.#infos.get(service.id) ?? this.#read(service);
    this.#infos.delete(service.id);
    this.#infos.set(service.id, info);
    if (this.#infos.size > MAX_CACHED) this.#infos.delete([...this.#infos.keys()][0]);
    return info;
  }

  async #read(service: ImageService): Promise<TileSourceAnswer> {
    const fetched = await fetchText(`${service.id}/info.json`, {
      fetch: this.#fetch,
      maxBytes: MAX_INFO_BYTES,
      signal: new AbortController().signal,
    });
    const answer = fetched.ok ? readInfo(fetched.text, service) : fetched;
    // A failure may pass, so the next reading tries again.
    if (!answer.ok) this.#infos.delete(service.id);
    return answer;
  }
}

/**
 * A description as OpenSeadragon takes it. It copies every member into its own object, so only those that were checked
 * are passed on, under the address by which the description was found.
 */
function readInfo(text: string, { id, version }: ImageService): TileSourceAnswer {
  const json = parsed(text);
  const info = imageServiceOf({ ...json, id, type: `ImageService${version}` }, { base: id, languages: [] });
  if (!info || info.width === null || info.height === null) return { ok: false, problem: "unreachable" };
  const { width, height, sizes, tiles, level } = info;
  const formats: unknown = json.preferredFormats;
  return {
    ok: true,
    width,
    height,
    source: {
      "@context": `http://iiif.io/api/image/${version}/context.json`,
      protocol: "http://iiif.io/api/image",
      "@id": id,
      profile: profileOf(version, level ?? 1),
      width,
      height,
      ...(sizes.length > 0 && { sizes }),
      ...(tiles.length > 0 && { tiles }),
      ...(Array.isArray(formats) && { preferredFormats: formats.filter((format) => typeof format === "string") }),
    },
  };
}

function parsed(text: string): Readonly<Record<string, unknown>> {
  try {
    const json: unknown = JSON.parse(text);
    return typeof json === "object" && json !== null ? { ...json } : {};
  } catch {
    return {};
  }
}

function profileOf(version: ImageService["version"], level: number): string | readonly string[] {
  switch (version) {
    case 1:
      return `http://library.stanford.edu/iiif/image-api/1.1/compliance.html#level${level}`;
    case 2:
      return [`http://iiif.io/api/image/2/level${level}.json`];
    case 3:
      return `level${level}`;
  }
}
