import { LRUCache } from "lru-cache";

/** Rendered images are cached up to this many bytes in all. */
const MAX_BYTES = 24 * 1024 * 1024;

/** The bytes of one rendered image, in memory of their own. */
type Image = Uint8Array<ArrayBuffer>;

/** An image that is being rendered, and how many requests wait for it. */
interface Rendering {
  readonly image: Promise<Image>;
  readonly cancel: AbortController;
  waiting: number;
}

/** Caches the most recently used images. Concurrent requests for one image share one rendering. */
export class PageCache {
  readonly #images: LRUCache<string, Image>;
  readonly #renderings = new Map<string, Rendering>();

  constructor(maxBytes: number = MAX_BYTES) {
    this.#images = new LRUCache({ maxSize: maxBytes, sizeCalculation: (image) => image.length });
  }

  /** Bytes of all cached images. */
  get bytes(): number {
    return this.#images.calculatedSize;
  }

  /**
   * The image cached under a name, else the result of `render`, whose failure is passed on and not cached.
   *
   * @param signal of the request; when the last request for the image has ended, the signal passed to `render` aborts
   */
  get(name: string, signal: AbortSignal, render: (signal: AbortSignal) => Promise<Image>): Promise<Image> {
    const cached = this.#images.get(name);
    if (cached) return Promise.resolve(cached);
    const rendering = this.#renderings.get(name) ?? this.#begin(name, render);
    rendering.waiting++;
    const leave = () => {
      if (--rendering.waiting > 0) return;
      this.#forget(name, rendering);
      rendering.cancel.abort();
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    return rendering.image.finally(() => signal.removeEventListener("abort", leave));
  }

  #begin(name: string, render: (signal: AbortSignal) => Promise<Image>): Rendering {
    const cancel = new AbortController();
    const image = render(cancel.signal).then((image) => {
      this.#images.set(name, image);
      return image;
    }).finally(() => this.#forget(name, rendering));
    const rendering: Rendering = { image, cancel, waiting: 0 };
    this.#renderings.set(name, rendering);
    return rendering;
  }

  #forget(name: string, rendering: Rendering): void {
    if (this.#renderings.get(name) === rendering) this.#renderings.delete(name);
  }
}
