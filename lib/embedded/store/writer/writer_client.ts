import { DataFolderError } from "@/lib/embedded/data_folder.ts";
import { Refusal } from "@/lib/embedded/store/refusal.ts";
import type { Change, ChangeKind, Changes, Outcome } from "@/lib/embedded/store/writer/changes.ts";
import type { FromWriter, ToWriter } from "@/lib/embedded/store/writer/writer_thread.ts";
import { startThread, type Thread } from "@/lib/embedded/threads.ts";

/** Most changes that one transaction takes; the rest wait for the next. */
const GROUP_LIMIT = 256;

interface Waiting {
  change: Change;
  settle(outcome: Outcome): void;
}

/** Sends changes to the writer's thread. While one group is being committed, the next one gathers. */
export class WriterClient {
  readonly #thread: Thread;
  #queue: Waiting[] = [];
  #underWay: Waiting[] | null = null;
  #broken: string | null = null;

  private constructor(thread: Thread) {
    this.#thread = thread;
  }

  /** Starts the thread on a folder. Throws {@link DataFolderError} when the index cannot be opened. */
  static async open(folder: string): Promise<WriterClient> {
    let break_ = (_message: string) => {};
    const thread = startThread(
      new URL("./writer_thread.ts", import.meta.url).href,
      "store writer",
      (message) => break_(message),
    );
    const client = new WriterClient(thread);
    const opened = await new Promise<FromWriter>((resolve) => {
      break_ = (message) => resolve({ failed: message });
      thread.port.onmessage = ({ data }: MessageEvent<FromWriter>) => resolve(data);
      client.#tell({ open: folder });
    });
    if ("failed" in opened) {
      thread.terminate();
      throw new DataFolderError(opened.failed);
    }
    break_ = (message) => client.#break(message);
    thread.port.onmessage = ({ data }: MessageEvent<FromWriter>) => {
      if ("committed" in data) client.#committed(data.committed);
    };
    return client;
  }

  /** Makes one change durable and tells its result. Throws {@link Refusal} when the store's rules forbid it. */
  change<K extends ChangeKind>(kind: K, given: Changes[K]["given"]): Promise<Changes[K]["result"]> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        if (outcome.ok) resolve(outcome.result as Changes[K]["result"]);
        else if ("refusal" in outcome) reject(new Refusal(outcome.refusal));
        else reject(new Error(`the store could not commit a change: ${outcome.fault}`));
      };
      if (this.#broken !== null) return settle({ ok: false, fault: this.#broken });
      this.#queue.push({ change: { kind, given } as Change, settle });
      this.#sendNext();
    });
  }

  /** Waits for the changes under way, then closes the index and ends the thread. */
  async close(): Promise<void> {
    while (this.#broken === null && (this.#underWay || this.#queue.length > 0)) {
      await new Promise<void>((resolve) => {
        const last = (this.#queue.at(-1) ?? this.#underWay?.at(-1))!;
        const settle = last.settle;
        last.settle = (outcome) => {
          settle(outcome);
          resolve();
        };
      });
    }
    if (this.#broken === null) {
      await new Promise((resolve) => {
        this.#thread.port.onmessage = resolve;
        this.#tell({ close: true });
      });
    }
    this.#thread.terminate();
  }

  #sendNext(): void {
    if (this.#underWay || this.#queue.length === 0) return;
    this.#underWay = this.#queue.splice(0, GROUP_LIMIT);
    this.#tell({ commit: this.#underWay.map((waiting) => waiting.change) });
  }

  #committed(outcomes: Outcome[]): void {
    const group = this.#underWay ?? [];
    this.#underWay = null;
    this.#sendNext();
    for (const [i, waiting] of group.entries()) waiting.settle(outcomes[i] ?? { ok: false, fault: "no outcome" });
  }

  #break(message: string): void {
    this.#broken = message;
    const lost = [...(this.#underWay ?? []), ...this.#queue];
    this.#underWay = null;
    this.#queue = [];
    for (const waiting of lost) waiting.settle({ ok: false, fault: message });
  }

  #tell(message: ToWriter): void {
    this.#thread.port.postMessage(message);
  }
}
