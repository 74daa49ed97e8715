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

/**
 * Caches the most recently used images. Concurrent requests of one address for one image share one rendering. Those of
 * several do not: each address has its own turn in the queue.
 */
export class PageCache {
  readonly #images: LRUCache<string, Image>;
  /** By the client's address and the image's name. */
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
   * @param address of the client
   * @param signal of the request; when the last request for the image has ended, the signal passed to `render` aborts
   */
  get(
    name: string,
    address: string,
    signal: AbortSignal,
    render: (signal: AbortSignal) => Promise<Image>,
  ): Promise<Image> {
    const cached = this.#images.get(name);
    if (cached) return Promise.resolve(cached);
    const key = `${address} ${name}`;
    const rendering = this.#renderings.get(key) ?? this.#begin(key, name, render);
    rendering.waiting++;
    const leave = () => {
      if (--rendering.waiting > 0) return;
      this.#forget(key, rendering);
      rendering.cancel.abort();
    };
    if (signal.aborted) leave();
    else signal.addEventListener("abort", leave, { once: true });
    return rendering.image.finally(() => signal.removeEventListener("abort", leave));
  }

  #begin(key: string, name: string, render: (signal: AbortSignal) => Promise<Image>): Rendering {
    const cancel = new AbortController();
    const image = render(cancel.signal).then((image) => {
      this.#images.set(name, image);
      return image;
    }).finally(() => this.#forget(key, rendering));
    const rendering: Rendering = { image, cancel, waiting: 0 };
    this.#renderings.set(key, rendering);
    return rendering;
  }

  #forget(key: string, rendering: Rendering): void {
    if (this.#renderings.get(key) === rendering) this.#renderings.delete(key);
  }
}
