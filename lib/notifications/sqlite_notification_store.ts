import { DatabaseSync } from "node:sqlite";
import { type NotificationEvent, readEvent } from "./event.ts";
import {
  type Added,
  type Claim,
  type Delivery,
  deliveryKey,
  type Destination,
  KNOWN_MS,
  LEASE_MS,
  MAX_KNOWN,
  MAX_WAITING,
  type NotificationStore,
} from "./notification_store.ts";

const LAYOUT_VERSION = 1;
const LAYOUT = `
CREATE TABLE deliveries (
  key TEXT PRIMARY KEY, channel TEXT NOT NULL, event TEXT NOT NULL, added_ms INTEGER NOT NULL, due_ms INTEGER NOT NULL,
  claimed INTEGER NOT NULL, attempts INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE known (id TEXT PRIMARY KEY, added_ms INTEGER NOT NULL) WITHOUT ROWID;
CREATE TABLE notes (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID;
`;

/**
 * The notifications of one process, in a file of its data folder or in memory. What was added survives the end of the
 * process and a loss of power. A process that starts takes over at once what an earlier one had claimed, because only one
 * process has the folder.
 */
export class SqliteNotificationStore implements NotificationStore {
  readonly #db: DatabaseSync;
  readonly #now: () => number;

  /**
   * @param path the file, or `:memory:`
   * @param now ms since 1970
   */
  constructor(path: string, now: () => number) {
    this.#db = new DatabaseSync(path);
    this.#now = now;
    try {
      this.#open();
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  #open(): void {
    // One process has the file, so no file beside it is needed for the lock of its log.
    this.#db.exec("PRAGMA locking_mode = EXCLUSIVE; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;");
    const { quick_check: state } = this.#db.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
    if (state !== "ok") throw new Error(`malformed: ${state}`);
    const { user_version: version } = this.#db.prepare("PRAGMA user_version").get() as { user_version: number };
    if (version !== LAYOUT_VERSION) {
      this.#db.exec("DROP TABLE IF EXISTS deliveries; DROP TABLE IF EXISTS known; DROP TABLE IF EXISTS notes;");
      this.#db.exec(`${LAYOUT} PRAGMA user_version = ${LAYOUT_VERSION};`);
    }
    this.#db.prepare("UPDATE deliveries SET claimed = 0, due_ms = ? WHERE claimed = 1").run(this.#now());
  }

  add(event: NotificationEvent, destinations: readonly Destination[]): Promise<Added> {
    const now = this.#now();
    return settled(() =>
      this.#transaction((): Added => {
        if (this.#db.prepare("SELECT 1 FROM known WHERE id = ?").get(event.id)) return "known";
        const { count } = this.#db.prepare("SELECT count(*) AS count FROM deliveries").get() as { count: number };
        if (count + destinations.length > MAX_WAITING) return "full";
        this.#db.prepare("DELETE FROM known WHERE added_ms < ?").run(now - KNOWN_MS);
        this.#db.prepare("INSERT INTO known VALUES (?, ?)").run(event.id, now);
        this.#db.prepare(
          "DELETE FROM known WHERE id IN (SELECT id FROM known ORDER BY added_ms DESC LIMIT -1 OFFSET ?)",
        ).run(MAX_KNOWN);
        const text = JSON.stringify(event);
        for (const { channel, delayMs } of destinations) {
          this.#db.prepare("INSERT INTO deliveries VALUES (?, ?, ?, ?, ?, 0, 0)")
            .run(deliveryKey(event, channel), channel, text, now, now + delayMs);
        }
        return "added";
      })
    );
  }

  claim({ channel, limit, aheadMs }: Claim): Promise<Delivery[]> {
    const now = this.#now();
    return settled(() => {
      const due = this.#db.prepare("SELECT 1 FROM deliveries WHERE channel = ? AND due_ms <= ? LIMIT 1");
      if (!due.get(channel, now)) return [];
      const rows = this.#db.prepare(
        `UPDATE deliveries SET claimed = 1, due_ms = ? WHERE key IN (
           SELECT key FROM deliveries WHERE channel = ? AND due_ms <= ? AND (claimed = 0 OR due_ms <= ?)
           ORDER BY added_ms LIMIT ?
         ) RETURNING key, event, attempts, added_ms`,
      ).all(now + LEASE_MS, channel, now + aheadMs, now, limit) as unknown as DeliveryRow[];
      return rows.sort((a, b) => a.added_ms - b.added_ms).flatMap(({ key, event: text, attempts }) => {
        const event = readEvent(text);
        if (event === null) this.#db.prepare("DELETE FROM deliveries WHERE key = ?").run(key);
        return event === null ? [] : [{ key, event, attempts }];
      });
    });
  }

  putOff(key: string, delayMs: number): Promise<void> {
    const due = this.#now() + delayMs;
    return settled(() => {
      this.#db.prepare("UPDATE deliveries SET claimed = 0, attempts = attempts + 1, due_ms = ? WHERE key = ?")
        .run(due, key);
    });
  }

  release(key: string): Promise<void> {
    const now = this.#now();
    return settled(() => {
      this.#db.prepare("UPDATE deliveries SET claimed = 0, due_ms = ? WHERE key = ?").run(now, key);
    });
  }

  remove(key: string): Promise<void> {
    return settled(() => {
      this.#db.prepare("DELETE FROM deliveries WHERE key = ?").run(key);
    });
  }

  read(name: string): Promise<string | null> {
    return settled(() => {
      const row = this.#db.prepare("SELECT text FROM notes WHERE name = ?").get(name) as { text: string } | undefined;
      return row?.text ?? null;
    });
  }

  write(name: string, text: string): Promise<void> {
    return settled(() => {
      this.#db.prepare("INSERT INTO notes VALUES (?1, ?2) ON CONFLICT (name) DO UPDATE SET text = ?2").run(name, text);
    });
  }

  close(): Promise<void> {
    return settled(() => this.#db.close());
  }

  #transaction<T>(work: () => T): T {
    this.#db.exec("BEGIN IMMEDIATE");
    try {
      const result = work();
      this.#db.exec("COMMIT");
      return result;
    } catch (error) {
      // A full disk has ended the transaction already.
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
      throw error;
    }
  }
}

interface DeliveryRow {
  readonly key: string;
  readonly event: string;
  readonly attempts: number;
  readonly added_ms: number;
}

/** The result of synchronous work as a promise. */
function settled<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => resolve(work()));
}
