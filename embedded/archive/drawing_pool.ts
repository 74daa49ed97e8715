import { startThread, type Thread } from "@/embedded/threads.ts";
import type { Rendered } from "./drawing_thread.ts";
import type { RenderTask } from "./page_renderer.ts";

/** Threads that render images. */
const THREADS = 2;
/** Tasks that wait for a thread; further ones are rejected. */
const MAX_WAITING = 256;

/** More images are requested than the threads can render soon. */
export class TooManyImages extends Error {
  override name = "TooManyImages";
}

interface Pending {
  readonly task: RenderTask;
  readonly resolve: (image: Uint8Array<ArrayBuffer>) => void;
  readonly reject: (error: Error) => void;
}

/** A thread that starts with its first task, and what it works on. */
interface Slot {
  thread: Thread | null;
  current: Pending | null;
  readonly waiting: Pending[];
}

/** Renders images in a few threads. All images of a page come from one thread, which has the drawn page in memory. */
export class DrawingPool {
  readonly #slots: readonly Slot[] = Array.from(
    { length: THREADS },
    () => ({ thread: null, current: null, waiting: [] }),
  );
  readonly #start: (onFault: (message: string) => void) => Thread;
  readonly #maxWaiting: number;

  constructor(start: (onFault: (message: string) => void) => Thread = startDrawingThread, maxWaiting = MAX_WAITING) {
    this.#start = start;
    this.#maxWaiting = maxWaiting;
  }

  /** The number of tasks that wait for a thread. */
  get waiting(): number {
    return this.#slots.reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /**
   * Renders an image. A task that still waits when `signal` aborts is dropped.
   *
   * @throws {TooManyImages} when too many tasks wait
   */
  render(task: RenderTask, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    if (this.waiting >= this.#maxWaiting) {
      return Promise.reject(new TooManyImages("too many images are being rendered"));
    }
    const slot = this.#slots[task.page % this.#slots.length];
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    const pending = { task, resolve, reject };
    slot.waiting.push(pending);
    signal.addEventListener("abort", () => {
      const at = slot.waiting.indexOf(pending);
      if (at < 0) return;
      slot.waiting.splice(at, 1);
      reject(new Error("no request waits for the image"));
    }, { once: true });
    this.#next(slot);
    return promise;
  }

  /** Ends the threads; what is under way is rejected. */
  close(): void {
    for (const slot of this.#slots) {
      this.#end(slot, "the archive is closing");
      for (const { reject } of slot.waiting.splice(0)) reject(new Error("the archive is closing"));
    }
  }

  #next(slot: Slot): void {
    if (slot.current) return;
    const pending = slot.waiting.shift();
    if (!pending) return;
    slot.current = pending;
    slot.thread ??= this.#started(slot);
    slot.thread.port.postMessage(pending.task);
  }

  #started(slot: Slot): Thread {
    const thread = this.#start((message) => {
      this.#end(slot, message);
      this.#next(slot);
    });
    thread.port.onmessage = ({ data }: MessageEvent<Rendered>) => {
      const { current } = slot;
      slot.current = null;
      if ("image" in data) current?.resolve(data.image);
      else current?.reject(new Error(data.failed));
      this.#next(slot);
    };
    return thread;
  }

  #end(slot: Slot, message: string): void {
    slot.thread?.terminate();
    slot.thread = null;
    slot.current?.reject(new Error(message));
    slot.current = null;
  }
}

function startDrawingThread(onFault: (message: string) => void): Thread {
  return startThread(new URL("./drawing_thread.ts", import.meta.url).href, "archive drawing", onFault);
}
