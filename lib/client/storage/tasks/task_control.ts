import type { Clock } from "@/lib/client/poller.ts";
import type { callDoor, DoorAnswer } from "@/lib/client/storage/door.ts";
import { backoffMs, wait } from "@/lib/client/storage/upload/upload_wait.ts";
import type { DoorParameters } from "@/lib/presentation/storage/storage_paths.ts";
import type { TaskFault, TaskState } from "@/lib/presentation/storage/task_record.ts";

/** Tries of a request that fails in a way that may pass. */
const MAX_TRIES = 6;
/** Statuses of a store, or of a gateway, that has too much to do or does not respond. */
const PASSING: ReadonlySet<number> = new Set([429, 500, 502, 503, 504]);
/** Faults that are listed. */
const MAX_FAULTS = 100;

/** Thrown where a task cannot go on for now. */
export class TaskStopped extends Error {
  override readonly name = "TaskStopped";

  /** @param status of the gateway; 0: it could not be reached */
  constructor(readonly status: number) {
    super(`stopped by ${status}`);
  }
}

interface ControlParts {
  readonly account: string;
  readonly call: typeof callDoor;
  readonly clock: Clock;
  /** 0 to 1 */
  readonly random: () => number;
  state(): TaskState;
  change(part: Partial<TaskState>): void;
  /** Resolves once the state is stored, so that a reload goes on from it. */
  save(): Promise<void>;
  /** The network is away, or back. */
  onAway(isAway: boolean): void;
}

type Request = Parameters<typeof callDoor>[3];

/** What the code of a task works with: its state, and requests that outlast a lost network. */
export class TaskControl {
  readonly #parts: ControlParts;
  #waiting = new AbortController();

  constructor(parts: ControlParts) {
    this.#parts = parts;
  }

  get account(): string {
    return this.#parts.account;
  }

  get state(): TaskState {
    return this.#parts.state();
  }

  change(part: Partial<TaskState>): void {
    this.#parts.change(part);
  }

  save(): Promise<void> {
    return this.#parts.save();
  }

  addFault(fault: TaskFault): void {
    const { failed, faults } = this.state;
    this.change({ failed: failed + 1, faults: faults.length < MAX_FAULTS ? [...faults, fault] : faults });
  }

  /** Ends a wait that is under way: the network is back, or the task is to be canceled. */
  wake(): void {
    this.#waiting.abort();
  }

  /** Waits; {@link wake} ends that early. */
  async pause(ms: number): Promise<void> {
    this.#waiting = new AbortController();
    await wait(this.#parts.clock, ms, this.#waiting.signal).catch(() => {});
  }

  /**
   * Calls an operation of the gateway: again while the network is away, and a few times where the store is busy.
   *
   * @returns the last response; an earlier try may have worked as well, though its response was not received
   * @throws TaskStopped when the store stays busy, the login has ended, or the task is canceled while the network is away
   */
  async call(
    operation: string,
    parameters: DoorParameters,
    request?: Request,
  ): Promise<DoorAnswer> {
    const { account, call, random, onAway } = this.#parts;
    for (let failures = 1, busy = 0;; failures++) {
      const answer = await call(operation, account, parameters, request);
      const { status } = answer;
      onAway(status === 0);
      if (status === 401) throw new TaskStopped(status);
      if (status !== 0 && !PASSING.has(status)) return answer;
      if (status !== 0 && ++busy >= MAX_TRIES) throw new TaskStopped(status);
      if (this.state.isCanceling) throw new TaskStopped(status);
      await this.pause(Math.max(backoffMs(failures, random()), retryAfterMs(answer)));
    }
  }
}

function retryAfterMs({ headers }: DoorAnswer): number {
  const seconds = Number(headers.get("Retry-After") ?? 0);
  return seconds > 0 ? Math.min(seconds, 60) * 1000 : 0;
}
