import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import { HttpError } from "@/lib/http/errors.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { errorReason } from "@/lib/std/text.ts";
import { removeIfExists } from "@/lib/std/files.ts";
import {
  type Blobs,
  type Created,
  LEASE_MS,
  type Lifetime,
  lifetimeOf,
  LIFETIMES,
  MAX_LISTED,
  type NewTask,
  type Saved,
  SHORT_LIFETIME,
  type Task,
  type TaskBounds,
  type TaskEnd,
  type TaskSelection,
  type TaskStore,
  type TaskSummary,
} from "@/lib/tasks/task.ts";

const LAYOUT_VERSION = 3;
const LAYOUT = `
CREATE TABLE tasks (
  id TEXT PRIMARY KEY, kind TEXT NOT NULL, owner TEXT NOT NULL, bucket TEXT NOT NULL, state TEXT NOT NULL,
  canceling INTEGER NOT NULL, error TEXT, progress TEXT NOT NULL, caller BLOB, created_ms INTEGER NOT NULL,
  updated_ms INTEGER NOT NULL, ended_ms INTEGER, expires_ms INTEGER NOT NULL, holder TEXT, lease_ms INTEGER NOT NULL,
  tenant TEXT, account TEXT
) WITHOUT ROWID;
CREATE TABLE blobs (
  task TEXT NOT NULL, name TEXT NOT NULL, data BLOB NOT NULL, PRIMARY KEY (task, name)
) WITHOUT ROWID;
CREATE TRIGGER delete_blobs AFTER DELETE ON tasks BEGIN DELETE FROM blobs WHERE task = old.id; END;
`;
const FROM_VERSION_2 = "ALTER TABLE tasks ADD COLUMN tenant TEXT; ALTER TABLE tasks ADD COLUMN account TEXT;";

/** Which tasks count for the bounds: unfinished ones, and archives that can be downloaded. */
const COUNTS = "(ended_ms IS NULL OR caller IS NOT NULL)";
const INDEX = `CREATE INDEX IF NOT EXISTS counted ON tasks (created_ms, owner, tenant, expires_ms) WHERE ${COUNTS};`;

/** The members of a summary, and of a task, by their names. */
const SUMMARY = `id, kind, owner, tenant, account, bucket, state, state = 'running' AND canceling AS isCanceling,
  created_ms AS createdAt`;
const TASK = `${SUMMARY}, error, progress, caller AS sealedCaller, updated_ms AS updatedAt, ended_ms AS endedAt`;

/** How long a statement waits for another process, such as the operator's command, ms. */
const BUSY_MS = 5000;

const FULL = "The disk of the gateway is full: no background task can be stored until it has room";
const DAMAGED = "The gateway's file of background tasks is damaged: a restart of the gateway begins a new one";

/**
 * The tasks of one process, in a file of its data folder or in memory. Methods throw HttpError 507 where its disk is full.
 * A new process takes over unfinished tasks at once, because only one process has the folder.
 *
 * Every write survives the end of the process. The start and the end of a task also survive a loss of power; the last
 * progress may be lost, and its work is repeated.
 */
export class SqliteTaskStore implements TaskStore {
  readonly #db: DatabaseSync;

  /**
   * @param path the file, or `:memory:`
   * @param now ms since 1970
   * @param options `maxPages`: most pages of 4 KiB, beyond which the disk counts as full; without a bound when absent.
   *   `isBeside`: opens the file as it is, beside the process that works on its tasks
   * @throws Error where `isBeside` finds no file of this version
   */
  constructor(
    path: string,
    private readonly now: () => number,
    { maxPages, isBeside = false }: { readonly maxPages?: number; readonly isBeside?: boolean } = {},
  ) {
    this.#db = new DatabaseSync(path, { timeout: BUSY_MS });
    try {
      if (!isBeside) this.#open();
      const version = this.#version();
      if (version !== LAYOUT_VERSION) throw new Error(`its layout ${version} is not ${LAYOUT_VERSION}`);
      if (maxPages !== undefined) this.#db.exec(`PRAGMA max_page_count = ${maxPages}`);
    } catch (error) {
      this.#db.close();
      throw error;
    }
  }

  #open(): void {
    this.#db.exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL;");
    this.#db.exec("PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON;");
    const { quick_check: state } = this.#db.prepare("PRAGMA quick_check(1)").get() as { quick_check: string };
    if (state !== "ok") throw new DamagedFileError(state);
    const version = this.#version();
    // Tasks of other versions are not resumed: none of them holds the only copy of anything.
    if (version === 2) this.#transaction(() => this.#db.exec(`${FROM_VERSION_2} PRAGMA user_version = 3;`));
    else if (version !== LAYOUT_VERSION) {
      this.#db.exec("DROP TABLE IF EXISTS tasks; DROP TABLE IF EXISTS blobs;");
      this.#db.exec(`${LAYOUT} PRAGMA user_version = ${LAYOUT_VERSION};`);
    }
    this.#db.exec(INDEX);
    // Added later: the tasks of a file without it stay.
    this.#db.exec("CREATE TABLE IF NOT EXISTS notes (name TEXT PRIMARY KEY, text TEXT NOT NULL) WITHOUT ROWID");
    this.#run("UPDATE tasks SET holder = NULL, lease_ms = 0 WHERE holder IS NOT NULL");
    // A clock that was set back must not keep tasks for longer than they are meant to live.
    const now = this.now();
    this.#forEachKind((kind, { maxRunMs, endedTtlMs }) => {
      const latest = now + Math.max(maxRunMs, endedTtlMs);
      this.#run("UPDATE tasks SET expires_ms = min(expires_ms, ?) WHERE kind = ?", latest, kind);
    });
  }

  #version(): number {
    return (this.#db.prepare("PRAGMA user_version").get() as { user_version: number }).user_version;
  }

  create(task: NewTask, holder: string, bounds: TaskBounds, blobs?: Blobs): Promise<Created> {
    const now = this.now();
    const counted = `SELECT count(*) AS count FROM tasks WHERE expires_ms > ? AND ${COUNTS}`;
    return settled(() =>
      this.#durably(() => {
        if (this.#count("SELECT count(*) AS count FROM tasks WHERE id = ?", task.id) > 0) return "exists";
        if (this.#count(`${counted} AND owner = ?`, now, task.owner) >= bounds.maxPerOwner) return "owner";
        const ofTenant = task.tenant === null ? 0 : this.#count(`${counted} AND tenant = ?`, now, task.tenant);
        if (ofTenant >= bounds.maxPerTenant) return "tenant";
        if (this.#count(counted, now) >= bounds.max) return "all";
        const expires = now + lifetimeOf(task.kind).maxRunMs;
        this.#db.prepare(
          `INSERT INTO tasks VALUES ($id, $kind, $owner, $bucket, 'running', 0, NULL, $progress, $sealedCaller, $now, $now,
             NULL, $expires, $holder, $lease, $tenant, $account)`,
        ).run({ ...task, now, expires, holder, lease: now + LEASE_MS });
        if (blobs) this.#insertBlobs(task.id, blobs);
        return "created";
      })
    );
  }

  get(id: string): Promise<Task | null> {
    return settled(() => {
      const [task] = this.#tasks("WHERE id = ? AND (state = 'running' OR expires_ms > ?)", id, this.now());
      return task ?? null;
    });
  }

  list({ owner, kind, bucket }: TaskSelection): Promise<Task[]> {
    return settled(() =>
      this.#tasks(
        `WHERE owner = ? AND kind = ? AND bucket = ? AND (state = 'running' OR expires_ms > ?)
         ORDER BY created_ms DESC, id LIMIT ${MAX_LISTED}`,
        owner,
        kind,
        bucket,
        this.now(),
      )
    );
  }

  summaries(tenant: string | null): Promise<TaskSummary[]> {
    return settled(() => {
      const rows = this.#db.prepare(
        `SELECT ${SUMMARY}, state = 'running' AND lease_ms > ?1 AS isLeased FROM tasks
         WHERE ${COUNTS} AND (state = 'running' OR expires_ms > ?1) AND (?2 IS NULL OR tenant = ?2)
         ORDER BY created_ms, id`,
      ).all(this.now(), tenant);
      return rowsOf<TaskSummary>(rows).map((row) => ({ ...row, isLeased: Boolean(row.isLeased) }));
    });
  }

  claim(holder: string, limit: number, owner?: string, leaseMs = LEASE_MS): Promise<Task[]> {
    const now = this.now();
    const free = `SELECT id FROM tasks WHERE ${COUNTS} AND state = 'running' AND lease_ms <= ?3 AND expires_ms > ?3
      AND (?4 IS NULL OR owner = ?4)`;
    return settled(() => {
      const rows = this.#db.prepare(
        `UPDATE tasks SET holder = ?1, lease_ms = ?2 WHERE id IN (
           SELECT id FROM (${free} ORDER BY created_ms, id LIMIT ?5)
           UNION SELECT id FROM (${free} AND canceling = 1 LIMIT ${MAX_LISTED})
         ) RETURNING ${TASK}`,
      ).all(holder, now + leaseMs, now, owner ?? null, limit);
      return rowsOf<Task>(rows).sort((a, b) => a.createdAt - b.createdAt);
    });
  }

  save(id: string, holder: string, progress: string | null): Promise<Saved> {
    const now = this.now();
    return settled(() => {
      const row = this.#db.prepare(
        `UPDATE tasks SET progress = coalesce(?1, progress), updated_ms = iif(?1 IS NULL, updated_ms, ?2), lease_ms = ?3
         WHERE id = ?4 AND holder = ?5 AND state = 'running' RETURNING canceling`,
      ).get(progress, now, now + LEASE_MS, id, holder);
      return savedOf(row);
    });
  }

  end(id: string, holder: string, { state, error, progress, keepsCaller }: TaskEnd): Promise<Saved> {
    const now = this.now();
    return settled(() =>
      this.#durably(() => {
        const row = this.#db.prepare(
          `UPDATE tasks SET state = ?, error = ?, progress = ?, caller = CASE WHEN ? THEN caller END, updated_ms = ?,
             ended_ms = ?, holder = NULL
           WHERE id = ? AND holder = ? AND state = 'running' RETURNING canceling, kind, owner`,
        ).get(state, error, progress, keepsCaller ? 1 : 0, now, now, id, holder);
        if (row) {
          const { kind, owner } = row as { kind: string; owner: string };
          this.#run("UPDATE tasks SET expires_ms = ? WHERE id = ?", now + lifetimeOf(kind).endedTtlMs, id);
          this.#deleteSurplus(kind, owner);
        }
        return savedOf(row);
      })
    );
  }

  postpone(id: string, holder: string, progress: string | null, ms: number): Promise<void> {
    const due = this.now() + ms;
    return settled(() =>
      void this.#db.prepare(
        `UPDATE tasks SET progress = coalesce($progress, progress), holder = NULL, lease_ms = $due
         WHERE id = $id AND holder = $holder AND state = 'running'`,
      ).run({ progress, due, id, holder })
    );
  }

  release(holder: string): Promise<void> {
    return settled(() => this.#run("UPDATE tasks SET holder = NULL, lease_ms = 0 WHERE holder = ?", holder));
  }

  cancel(id: string): Promise<void> {
    const now = this.now();
    return settled(() =>
      this.#durably(() => {
        this.#run("UPDATE tasks SET canceling = 1 WHERE id = ? AND state = 'running'", id);
        this.#run(
          `UPDATE tasks SET state = 'canceled', caller = NULL, updated_ms = ?1 WHERE id = ?2 AND state = 'ready'
             AND caller IS NOT NULL AND expires_ms > ?1`,
          now,
          id,
        );
      })
    );
  }

  prolong(id: string): Promise<void> {
    const now = this.now();
    return settled(() =>
      this.#run(
        `UPDATE tasks SET expires_ms = max(expires_ms, min(?, created_ms + ?))
         WHERE id = ? AND state = 'ready' AND caller IS NOT NULL AND expires_ms > ?`,
        now + SHORT_LIFETIME.endedTtlMs,
        SHORT_LIFETIME.maxRunMs,
        id,
        now,
      )
    );
  }

  writeBlobs(id: string, blobs: Blobs): Promise<void> {
    return settled(() =>
      this.#transaction(() => {
        if (this.#count("SELECT count(*) AS count FROM tasks WHERE id = ?", id) > 0) this.#insertBlobs(id, blobs);
      })
    );
  }

  readBlobs(id: string, names: readonly string[]): Promise<(Uint8Array<ArrayBuffer> | null)[]> {
    return settled(() => {
      const read = this.#db.prepare("SELECT data FROM blobs WHERE task = ? AND name = ?");
      return names.map((name) => {
        const row = read.get(id, name) as { data: Uint8Array<ArrayBuffer> } | undefined;
        return row?.data ?? null;
      });
    });
  }

  readNote(name: string): Promise<string | null> {
    return settled(() => {
      const row = this.#db.prepare("SELECT text FROM notes WHERE name = ?").get(name) as { text: string } | undefined;
      return row?.text ?? null;
    });
  }

  replaceNote(name: string, before: string | null, after: string): Promise<boolean> {
    return settled(() =>
      this.#durably(() => {
        const { changes } = before === null
          ? this.#db.prepare("INSERT OR IGNORE INTO notes VALUES (?, ?)").run(name, after)
          : this.#db.prepare("UPDATE notes SET text = ? WHERE name = ? AND text = ?").run(after, name, before);
        return Number(changes) === 1;
      })
    );
  }

  sweep(): Promise<void> {
    const now = this.now();
    return settled(() =>
      this.#transaction(() => {
        this.#run("DELETE FROM tasks WHERE expires_ms <= ? AND state != 'running'", now);
        this.#forEachKind((kind, { ranTooLong, endedTtlMs, blobsTtlMs }) => {
          this.#run(
            `UPDATE tasks SET state = 'failed', error = ?1, caller = NULL, holder = NULL, updated_ms = ?3, ended_ms = ?3,
               expires_ms = ?3 + ?4
             WHERE kind = ?2 AND expires_ms <= ?3`,
            ranTooLong,
            kind,
            now,
            endedTtlMs,
          );
          this.#run(
            `DELETE FROM blobs WHERE task IN (
               SELECT id FROM tasks WHERE kind = ? AND ended_ms IS NOT NULL AND expires_ms <= ?
             )`,
            kind,
            now + endedTtlMs - blobsTtlMs,
          );
        });
        this.#db.exec("PRAGMA incremental_vacuum");
      })
    );
  }

  close(): Promise<void> {
    return settled(() => this.#db.close());
  }

  /** Calls a function with each kind of the stored tasks, and how long its tasks live. */
  #forEachKind(work: (kind: string, lifetime: Lifetime) => void): void {
    const rows = this.#db.prepare("SELECT DISTINCT kind FROM tasks").all() as { kind: string }[];
    for (const { kind } of rows) work(kind, lifetimeOf(kind));
  }

  /**
   * Deletes the oldest ended tasks of an owner that has too many. Kinds without a lifetime in `LIFETIMES` are counted
   * together; archives that can be downloaded are not counted.
   */
  #deleteSurplus(kind: string, owner: string): void {
    const own = [...LIFETIMES.keys()];
    const kinds = own.includes(kind) ? [kind] : own;
    this.#run(
      `DELETE FROM tasks WHERE id IN (
         SELECT id FROM tasks WHERE owner = ? AND ended_ms IS NOT NULL AND caller IS NULL
           AND kind ${own.includes(kind) ? "" : "NOT"} IN (${kinds.map(() => "?")})
         ORDER BY ended_ms DESC, id LIMIT -1 OFFSET ?
       )`,
      owner,
      ...kinds,
      lifetimeOf(kind).maxEndedPerOwner,
    );
  }

  #insertBlobs(id: string, blobs: Blobs): void {
    const insert = this.#db.prepare("INSERT OR REPLACE INTO blobs VALUES (?, ?, ?)");
    for (const [name, data] of blobs) insert.run(id, name, data);
  }

  #tasks(where: string, ...values: readonly SQLInputValue[]): Task[] {
    return rowsOf<Task>(this.#db.prepare(`SELECT ${TASK} FROM tasks ${where}`).all(...values));
  }

  #run(sql: string, ...values: readonly SQLInputValue[]): void {
    this.#db.prepare(sql).run(...values);
  }

  #count(sql: string, ...values: readonly SQLInputValue[]): number {
    return (this.#db.prepare(sql).get(...values) as { count: number }).count;
  }

  /** A transaction that survives a loss of power once it has returned. */
  #durably<T>(work: () => T): T {
    this.#db.exec("PRAGMA synchronous = FULL");
    try {
      return this.#transaction(work);
    } finally {
      this.#db.exec("PRAGMA synchronous = NORMAL");
    }
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

/** Raised for a file that SQLite can open and finds faults in. */
class DamagedFileError extends Error {
  override readonly name = "DamagedFileError";
}

/** Whether an error says that the file of tasks is damaged or none of SQLite's. */
function isDamagedFile(error: unknown): boolean {
  return error instanceof DamagedFileError ||
    error instanceof Error && /not a database|malformed|unsupported file format/i.test(error.message);
}

/** Whether an error says that the disk takes no more. */
function isFullDisk(error: unknown): boolean {
  return error instanceof Error && /disk is full|no space left|quota exceeded|file too large/i.test(error.message);
}

/** Rows with the members of a summary; flags are numbers in them. */
function rowsOf<Row extends Pick<TaskSummary, "isCanceling">>(rows: readonly unknown[]): Row[] {
  return (rows as readonly Row[]).map((row) => ({ ...row, isCanceling: Boolean(row.isCanceling) }));
}

function savedOf(row: unknown): Saved {
  if (row === undefined) return "lost";
  return (row as { canceling: number }).canceling === 1 ? "canceling" : "stored";
}

/**
 * The result of synchronous work as a promise.
 *
 * @throws {HttpError} 507 where the disk is full, 500 where the file is damaged, else 503
 */
function settled<T>(work: () => T): Promise<T> {
  return new Promise((resolve) => {
    try {
      resolve(work());
    } catch (cause) {
      if (isFullDisk(cause)) throw new HttpError(507, FULL, { cause });
      if (isDamagedFile(cause)) throw new HttpError(500, DAMAGED, { cause });
      throw new HttpError(503, "Background tasks cannot be stored", { headers: { "Retry-After": "5" }, cause });
    }
  });
}

/** The endings of the files that SQLite puts beside one. */
const SUFFIXES = ["", "-wal", "-shm", "-journal"];

/**
 * Opens a file of background tasks, readable by its owner only. A problem with it does not prevent a start: a damaged file
 * is renamed and replaced, and on a full disk tasks are in memory until the next start.
 *
 * @param now ms since 1970, by a clock that is not set
 * @param warn receives a line for the operator
 * @throws {DataFolderError} where there can be no such file
 */
export function openTaskFile(path: string, now: () => number, warn: (line: string) => void): SqliteTaskStore {
  for (let isDamaged = false;;) {
    try {
      if (isDamaged) {
        for (const suffix of SUFFIXES) setAside(`${path}${suffix}`, `${path}.damaged${suffix}`);
        warn(`${path} was damaged: it is ${path}.damaged now, and the tasks in it are lost`);
      }
      // SQLite opens the files beside it with the same mode.
      Deno.openSync(path, { create: true, write: true, mode: 0o600 }).close();
      return new SqliteTaskStore(path, now);
    } catch (error) {
      if (isFullDisk(error)) {
        warn(`The disk of ${path} is full: its tasks are in memory until the next start`);
        return new SqliteTaskStore(":memory:", now);
      }
      if (isDamaged || !isDamagedFile(error)) {
        const reason = errorReason(error);
        throw new DataFolderError(`The file ${path} cannot be used (${reason}): make it writable, or remove it.`);
      }
      isDamaged = true;
    }
  }
}

/** Renames a file, over an earlier one, or removes what is left of the earlier one. */
function setAside(from: string, to: string): void {
  try {
    Deno.renameSync(from, to);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    removeIfExists(to);
  }
}
