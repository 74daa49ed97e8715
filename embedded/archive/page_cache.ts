/** Finished images are kept up to this many bytes in all. */
const MAX_BYTES = 24 * 1024 * 1024;
/** At most this many images are drawn at once; each costs about 3 MB while it is. */
const MAX_DRAWN_AT_ONCE = 2;

/** The bytes of one finished image, in memory of their own. */
type Image = Uint8Array<ArrayBuffer>;

/** Keeps the images that were asked for last; the same image is never drawn twice at a time. */
export class PageCache {
  readonly #kept = new Map<string, Image>();
  readonly #underWay = new Map<string, Promise<Image>>();
  readonly #waiting: (() => void)[] = [];
  #bytes = 0;
  #drawing = 0;

  constructor(readonly maxBytes: number = MAX_BYTES) {}

  get bytes(): number {
    return this.#bytes;
  }

  /** The bytes kept under a name, else what `draw` gives. */
  get(name: string, draw: () => Promise<Image>): Promise<Image> {
    const kept = this.#kept.get(name);
    if (kept) {
      this.#kept.delete(name);
      this.#kept.set(name, kept);
      return Promise.resolve(kept);
    }
    let underWay = this.#underWay.get(name);
    if (!underWay) {
      underWay = this.#draw(name, draw).finally(() => this.#underWay.delete(name));
      this.#underWay.set(name, underWay);
    }
    return underWay;
  }

  async #draw(name: string, draw: () => Promise<Image>): Promise<Image> {
    if (this.#drawing >= MAX_DRAWN_AT_ONCE) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    else this.#drawing++;
    try {
      const bytes = await draw();
      this.#keep(name, bytes);
      return bytes;
    } finally {
      // A waiter inherits the place, so the count only falls when nobody waits.
      const next = this.#waiting.shift();
      if (next) next();
      else this.#drawing--;
    }
  }

  #keep(name: string, bytes: Image): void {
    this.#kept.set(name, bytes);
    this.#bytes += bytes.length;
    for (const [oldest, old] of this.#kept) {
      if (this.#bytes <= this.maxBytes) break;
      this.#kept.delete(oldest);
      this.#bytes -= old.length;
    }
  }
}
