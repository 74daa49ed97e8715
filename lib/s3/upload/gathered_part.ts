import type { BodySource } from "@/lib/http/body_source.ts";
import type { UploadBody } from "@/lib/s3/objects.ts";
import type { Block, PartMemory } from "./part_memory.ts";

/** The beginning of a body, or one part of it, in blocks of memory. */
export class GatheredPart {
  readonly #memory: PartMemory;
  /** With the last one filled as far as the part goes. */
  readonly #blocks: Block[] = [];
  #length = 0;
  /** Blocks that are still to be given back. */
  #left = 0;

  constructor(memory: PartMemory) {
    this.#memory = memory;
  }

  get lengthBytes(): number {
    return this.#length;
  }

  /**
   * Reads until the part has so many bytes (false) or the source has ended (true). While all memory is in use, it waits
   * for the part before to be sent.
   *
   * @throws as the source does, or what the memory was told
   */
  async fill(source: BodySource, lengthBytes: number): Promise<boolean> {
    const { blockBytes } = this.#memory;
    while (this.#length < lengthBytes) {
      const at = this.#length % blockBytes;
      const bytes = await source.read(Math.min(blockBytes - at, lengthBytes - this.#length));
      if (bytes === null) return true;
      if (at === 0) {
        this.#blocks.push(await this.#memory.block());
        this.#left++;
      }
      this.#blocks[this.#blocks.length - 1].set(bytes, at);
      this.#length += bytes.length;
    }
    return false;
  }

  /**
   * The bytes, to be sent once: little as a copy, which costs less than a stream. A stream gives each block back when the
   * next one is asked for, which must be when it has been written: the part after is gathered into the same memory.
   */
  body(): UploadBody {
    const lengthBytes = this.#length;
    if (this.#blocks.length > 1) return { body: this.#stream(), madeHere: true, lengthBytes };
    const body = this.#blocks[0]?.slice(0, lengthBytes) ?? null;
    this.drop();
    return { body, lengthBytes };
  }

  /** Gives back what was not sent. */
  drop(): void {
    for (const block of this.#blocks.splice(0)) this.#giveBack(block);
  }

  /** Whoever was to send it is done, and gets no more of it. What may still be on its way is not used again. */
  over(): void {
    this.drop();
    this.#memory.lose(this.#left);
    this.#left = 0;
  }

  #stream(): ReadableStream<Uint8Array<ArrayBuffer>> {
    const { blockBytes } = this.#memory;
    let given: Block | null = null;
    let left = this.#length;
    return new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => {
        if (given) this.#giveBack(given);
        given = this.#blocks.shift() ?? null;
        if (left === 0) return controller.close();
        if (!given) return controller.error(new Error("the part was given up"));
        const length = Math.min(left, blockBytes);
        left -= length;
        controller.enqueue(given.subarray(0, length));
      },
    }, { highWaterMark: 0 });
  }

  #giveBack(block: Block): void {
    // After its end the part counts no more, though a stream may still be read.
    if (this.#left === 0) return;
    this.#left--;
    this.#memory.giveBack(block);
  }
}
