import type { ChangeOrigin, ReportedChange, StoreReports } from "@/embedded/store/changes.ts";
import { DiskSpace } from "@/embedded/store/disk_space.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import { callsOver, startThread, type Thread } from "@/embedded/threads.ts";
import type { Change, ChangeKind, Input, Outcome, Result } from "./reported_changes.ts";
import type { WriterCalls } from "./writer_thread.ts";

/** Most changes that one transaction takes, each of several deletions counted; the rest wait for the next. */
const GROUP_LIMIT = 256;

/** Most deletions of one change: other changes are committed between two of them. */
export const MAX_DELETIONS = 250;

type Call = ReturnType<typeof callsOver<WriterCalls>>["call"];

interface Waiting {
  change: Change;
  settle(outcome: Outcome): void;
}

/** Starts the thread that commits changes; {@link WriterClient} sends to it over its port, from any thread. */
export function startWriterThread(onFault: (message: string) => void): Thread {
  return startThread(new URL("./writer_thread.ts", import.meta.url).href, "store writer", onFault);
}

/** Requests changes; a client's changes are recorded as its own. */
export interface ChangeWriter {
  /**
   * Makes one change durable and returns its result.
   *
   * @throws {StoreError} when the store's rules forbid it
   */
  change<K extends ChangeKind>(kind: K, input: Input<K>): Promise<Result<K>>;
  /** Makes changes durable in their order, up to {@link GROUP_LIMIT} of them all at once or not at all. */
  changeAll(changes: readonly Change[]): Promise<unknown[]>;
  /** The same for changes that a client requested. */
  by(origin: ChangeOrigin): ChangeWriter;
}

/** Sends changes to the writer's thread. While one group is being committed, the next one is collected. */
export class WriterClient implements ChangeWriter {
  /** Whether the last report was not recorded. */
  #isUnrecorded = false;
  #queue: Waiting[] = [];
  #underWay: Waiting[] | null = null;
  #onIdle = () => {};
  /** Whether the disk takes more. */
  readonly space: DiskSpace;

  private constructor(
    private readonly port: MessagePort,
    private readonly call: Call,
    reserveReleased: Int32Array,
    private readonly report: StoreReports["changed"],
  ) {
    const warn = (message: string) => console.error(`embedded store: ${message}`);
    this.space = new DiskSpace(reserveReleased, (bytes) => call("hasRoom", bytes), warn);
  }

  /**
   * Opens a folder's index in the thread. What clients change is confirmed once `report` resolves.
   *
   * @throws {DataFolderError} when it cannot be opened
   */
  static async open(port: MessagePort, folder: string, report: StoreReports["changed"]): Promise<WriterClient> {
    const { call } = callsOver<WriterCalls>(port);
    return new WriterClient(port, call, await call("open", folder), report);
  }

  change<K extends ChangeKind>(kind: K, input: Input<K>, origin?: ChangeOrigin): Promise<Result<K>> {
    const result = this.#queued(kind, input, origin);
    this.#sendNext();
    return result;
  }

  changeAll(changes: readonly Change[], origin?: ChangeOrigin): Promise<unknown[]> {
    const results = changes.map(({ kind, input }) => this.#queued(kind, input, origin));
    this.#sendNext();
    return Promise.all(results);
  }

  by(origin: ChangeOrigin): ChangeWriter {
    return {
      change: async (kind, input) => {
        await this.#requireRecords(origin);
        return await this.change(kind, input, origin);
      },
      changeAll: async (changes) => {
        await this.#requireRecords(origin);
        return await this.changeAll(changes, origin);
      },
      by: (other) => this.by(other),
    };
  }

  /** Refuses a change beforehand, as long as changes of clients are not recorded and have to be. */
  async #requireRecords({ isByGateway }: ChangeOrigin): Promise<void> {
    if (this.#isUnrecorded && !isByGateway) await this.#recorded([]);
  }

  async #recorded(reports: readonly ReportedChange[]): Promise<void> {
    try {
      await this.report(reports);
      this.#isUnrecorded = false;
    } catch {
      this.#isUnrecorded = true;
      throw new StoreError("NotRecorded");
    }
  }

  #queued<K extends ChangeKind>(kind: K, input: Input<K>, origin?: ChangeOrigin): Promise<Result<K>> {
    return new Promise((resolve, reject) => {
      const settle = (outcome: Outcome) => {
        if (outcome.ok) resolve(this.#confirmed(outcome, origin) as Promise<Result<K>>);
        else if ("error" in outcome) {
          if (outcome.error === "OutOfSpace") this.space.recordFull();
          reject(new StoreError(outcome.error));
        } else reject(new Error(`the store could not commit a change: ${outcome.fault}`));
      };
      this.#queue.push({ change: { kind, input, origin } as Change, settle });
    });
  }

  /** The result of a change, once it may be confirmed. No client waits for the store's own changes. */
  async #confirmed({ result, reports }: Extract<Outcome, { ok: true }>, origin?: ChangeOrigin) {
    if (reports.length > 0) {
      const recorded = this.#recorded(reports);
      if (origin) await recorded;
      else recorded.catch(() => {});
    }
    return result;
  }

  /** Waits for the changes under way, then closes the index. */
  async close(): Promise<void> {
    while (this.#underWay) await new Promise<void>((resolve) => this.#onIdle = resolve);
    await this.call("close");
    this.port.close();
  }

  async #sendNext(): Promise<void> {
    if (this.#underWay || this.#queue.length === 0) return;
    const group = this.#underWay = this.#queue.splice(0, firstGroup(this.#queue));
    const outcomes = await this.call("commit", group.map(({ change }) => change));
    this.#underWay = null;
    this.#sendNext();
    for (const [i, waiting] of group.entries()) waiting.settle(outcomes[i] ?? { ok: false, fault: "no outcome" });
    if (!this.#underWay) this.#onIdle();
  }
}

/** How many changes of the queue the next transaction takes. */
function firstGroup(queue: readonly Waiting[]): number {
  let weight = 0;
  const end = queue.findIndex(({ change }) => {
    weight += change.kind === "deleteObjects" ? change.input.objects.length : 1;
    return weight > GROUP_LIMIT;
  });
  return end < 0 ? queue.length : Math.max(1, end);
}
