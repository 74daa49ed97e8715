import { LRUCache } from "lru-cache";

/** Rendered images are cached up to this many bytes in all. */
const MAX_BYTES = 24 * 1024 * 1024;
/** At most this many images are rendered at once; each takes about 3 MB meanwhile. */
const MAX_CONCURRENT_DRAWS = 2;

/** The bytes of one rendered image, in memory of their own. */
type Image = Uint8Array<ArrayBuffer>;

/** Caches the most recently used images. Concurrent requests for one image share one rendering. */
export class PageCache {
  readonly #images: LRUCache<string, Image>;
  readonly #pending = new Map<string, Promise<Image>>();
  readonly #waiting: (() => void)[] = [];
  #drawing = 0;

  constructor(maxBytes: number = MAX_BYTES) {
    this.#images = new LRUCache({ maxSize: maxBytes, sizeCalculation: (image) => image.length });
  }

  /** Bytes of all cached images. */
  get bytes(): number {
    return this.#images.calculatedSize;
  }

  /** The image cached under a name, else the result of `draw`, whose failure is passed on and not cached. */
  get(name: string, draw: () => Promise<Image>): Promise<Image> {
    const cached = this.#images.get(name);
    if (cached) return Promise.resolve(cached);
    let pending = this.#pending.get(name);
    if (!pending) {
      pending = this.#draw(name, draw).finally(() => this.#pending.delete(name));
      this.#pending.set(name, pending);
    }
    return pending;
  }

  async #draw(name: string, draw: () => Promise<Image>): Promise<Image> {
    if (this.#drawing >= MAX_CONCURRENT_DRAWS) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#drawing++;
    try {
      const image = await draw();
      this.#images.set(name, image);
      return image;
    } finally {
      // The next waiter takes over the slot, so the count falls only when none waits.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#drawing--;
    }
  }
}
