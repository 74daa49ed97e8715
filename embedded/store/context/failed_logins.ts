import type { FailedLogin } from "@/embedded/store/audit_record.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { ChangeWriter } from "@/embedded/store/writer/writer_client.ts";

/** How long failures of one name from one address are counted before they are recorded, in ms. */
const WINDOW_MS = 60_000;

/** How many names and addresses are told apart in that time; further ones share one record. */
const MAX_TOLD_APART = 100;

/** Longest name that is recorded, in UTF-16 units: any client may send one. */
const MAX_NAME_LENGTH = 128;

type Attempted = Omit<FailedLogin, "count">;

/**
 * Records failed logins. The first of a name from an address is recorded at once, the others of the same minute as one
 * record at its end: guessing must not fill the trail. Those that wait at a kill are lost.
 */
export class FailedLogins {
  readonly #writer: ChangeWriter;
  readonly #counts = new Map<string, { readonly attempted: Attempted; count: number }>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(writer: ChangeWriter) {
    this.#writer = writer;
  }

  /** Counts a failed login. */
  record(attempted: Attempted): void {
    const named = { ...attempted, name: attempted.name?.slice(0, MAX_NAME_LENGTH).toWellFormed() ?? null };
    const isFull = this.#counts.size >= MAX_TOLD_APART;
    const entry = this.#counts.get(keyOf(named)) ?? (isFull ? this.#shared(named) : undefined);
    if (entry) {
      entry.count++;
      return;
    }
    this.#counts.set(keyOf(named), { attempted: named, count: 0 });
    this.#write([{ ...named, count: 1 }]);
    this.#timer ??= setTimeout(() => void this.flush(), WINDOW_MS);
  }

  /** Records what was counted so far; resolves once it is written. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const failures = [...this.#counts.values()].filter(({ count }) => count > 0);
    this.#counts.clear();
    if (failures.length > 0) this.#write(failures.map(({ attempted, count }) => ({ ...attempted, count })));
    await this.#writing;
  }

  /** The entry that all further names of a tenant share. */
  #shared({ tenant, protocol, isByGateway }: Attempted): { count: number } {
    const attempted = { tenant, protocol, isByGateway, name: null, address: null };
    const key = keyOf(attempted);
    const entry = this.#counts.get(key) ?? { attempted, count: 0 };
    this.#counts.set(key, entry);
    return entry;
  }

  #write(failures: readonly FailedLogin[]): void {
    const written = this.#writer.change("recordFailedLogins", { failures }).catch((error) => {
      // A full disk is reported by itself.
      if (error instanceof StoreError && error.code === "NoSpace") return;
      console.error(
        `embedded store: failed logins were not recorded: ${error instanceof Error ? error.message : error}`,
      );
    });
    this.#writing = Promise.all([this.#writing, written]);
  }
}

function keyOf({ tenant, protocol, isByGateway, name, address }: Attempted): string {
  return JSON.stringify([tenant, protocol, isByGateway, name, address]);
}
