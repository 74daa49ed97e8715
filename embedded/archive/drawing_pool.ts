import { startThread, type Thread } from "@/embedded/threads.ts";
import type { Rendered } from "./drawing_thread.ts";
import { type Client, FairQueue } from "./fair_queue.ts";
import type { RenderTask } from "./page_renderer.ts";

/** Threads that render images. */
const THREADS = 2;
/** Tasks that wait for one thread; beyond them, the newest one of the client with the most is rejected. */
const MAX_WAITING = 128;

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
  readonly waiting: FairQueue<Pending>;
}

/** Renders images in a few threads, in which clients take turns. All images of a page come from one thread, which has the drawn page in memory. */
export class DrawingPool {
  readonly #slots: readonly Slot[];
  readonly #start: (onFault: (message: string) => void) => Thread;

  /** @param maxWaiting tasks that wait for one thread */
  constructor(start: (onFault: (message: string) => void) => Thread = startDrawingThread, maxWaiting = MAX_WAITING) {
    this.#start = start;
    this.#slots = Array.from(
      { length: THREADS },
      () => ({ thread: null, current: null, waiting: new FairQueue<Pending>(maxWaiting) }),
    );
  }

  /** The number of tasks that wait for a thread. */
  get waiting(): number {
    return this.#slots.reduce((sum, { waiting }) => sum + waiting.length, 0);
  }

  /**
   * Renders an image. A task that still waits when `signal` aborts leaves the queue.
   *
   * @throws {TooManyImages} when too many tasks wait, and none of another client gives way
   */
  render(task: RenderTask, client: Client, signal: AbortSignal): Promise<Uint8Array<ArrayBuffer>> {
    const slot = this.#slots[task.page % this.#slots.length];
    const { promise, resolve, reject } = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
    const pending = { task, resolve, reject };
    slot.waiting.add(client, pending)?.reject(new TooManyImages("too many images are being rendered"));
    signal.addEventListener("abort", () => {
      if (slot.waiting.remove(client, pending)) reject(new Error("no request waits for the image"));
    }, { once: true });
    this.#next(slot);
    return promise;
  }

  /** Ends the threads; what is under way is rejected. */
  close(): void {
    for (const slot of this.#slots) {
      this.#end(slot, "the archive is closing");
      for (const { reject } of slot.waiting.clear()) reject(new Error("the archive is closing"));
    }
  }

  #next(slot: Slot): void {
    if (slot.current) return;
    const pending = slot.waiting.take();
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
