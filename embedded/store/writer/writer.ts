import type { DatabaseSync } from "node:sqlite";
import { whileUnpinned } from "@/embedded/store/body_folder.ts";
import type { Reserve } from "@/embedded/store/disk_space.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { isNoSpace, StoreError } from "@/embedded/store/store_error.ts";
import { syncFolder } from "@/lib/std/files.ts";
import { atMostEvery } from "@/lib/std/timing.ts";
import {
  type Change,
  type ChangeKind,
  CHANGES,
  type Input,
  type Outcome,
  reported,
  type Result,
} from "./reported_changes.ts";

/** How many files one group removes: an object in parts may leave 10,000, and the next group waits meanwhile. */
const UNLINK_LIMIT = 200;

/** The changes that are allowed on a full disk: those that free room, and those that count failed logins. */
const FREEING_CHANGES: ReadonlySet<ChangeKind> = new Set<ChangeKind>([
  "abortUpload",
  "clearDeletionRecords",
  "countFailure",
  "deleteBucket",
  "deleteDocument",
  "deleteGroup",
  "deleteObjects",
  "deleteTenant",
  "deleteUser",
  "expireUploads",
  "expireUsage",
  "resetFailures",
  "pruneVersions",
]);

/**
 * How long writes fail without another probe of the disk after the reserve could not be created, unless a deletion
 * comes, in ms.
 */
const PROBE_AGAIN_MS = 1000;

/** The least time between two warnings that the disk could not be probed, in ms. */
const WARN_AGAIN_MS = 60_000;

const NO_SPACE: Outcome = { ok: false, error: "OutOfSpace" };

interface WriterOptions {
  /** The room for deletions on a full disk. */
  readonly reserve: Pick<Reserve, "isWhole" | "make" | "hasBeside" | "release">;
  /** Receives a warning where the disk cannot be probed. */
  readonly warn: (message: string) => void;
  /** Monotonic milliseconds. */
  readonly now?: () => number;
}

/**
 * The only writer of the index. Changes that arrive together are committed together: one transaction, and so
 * one flush of the disk, for all of them. A change that fails does not affect the others of its group.
 */
export class Writer {
  readonly #statements: Statements;
  #unlinked: string[] = [];
  /** Whether files are left to remove; committing an empty group removes the next ones. */
  hasGarbage = false;
  /** Whether files wait to be removed until a copy of the bodies is done. */
  isPinned = false;
  /** The last failure to create the released reserve again; null once it exists. */
  #noRoom: { readonly outcome: Outcome; readonly atMs: number } | null = null;
  readonly #mayWarn: () => boolean;

  readonly #reserve: WriterOptions["reserve"];
  readonly #warn: (message: string) => void;
  readonly #now: () => number;

  constructor(
    private readonly folder: string,
    private readonly index: DatabaseSync,
    { reserve, warn, now = () => performance.now() }: WriterOptions,
  ) {
    this.#reserve = reserve;
    this.#warn = warn;
    this.#now = now;
    this.#mayWarn = atMostEvery(WARN_AGAIN_MS, now);
    this.#statements = new Statements(index);
    this.#checkRoom(0);
  }

  /** Applies a group of changes in their order. When it returns, all that succeeded is durable. */
  commit(changes: readonly Change[]): Outcome[] {
    // The room that is left on a full disk is for changes that free some.
    const noRoom = changes.some(({ kind }) => !FREEING_CHANGES.has(kind)) ? this.#checkRoom(0) : null;
    try {
      return this.#commitGroup(changes, (kind) => FREEING_CHANGES.has(kind) ? null : noRoom);
    } catch (error) {
      if (!isNoSpace(error) || !changes.some(({ kind }) => FREEING_CHANGES.has(kind))) {
        return changes.map(() => failure(error));
      }
      return this.#commitWithReserve(changes);
    }
  }

  /**
   * Whether the disk has so many bytes beside the reserve, which is created again where it was released. False where
   * the disk cannot be probed.
   */
  hasRoom(bytes = 0): boolean {
    return this.#checkRoom(bytes) === null;
  }

  /** The outcome of a write of so many bytes without room; null where there is room. */
  #checkRoom(bytes: number): Outcome | null {
    const isRecent = this.#noRoom !== null && this.#now() - this.#noRoom.atMs < PROBE_AGAIN_MS;
    if (isRecent && bytes === 0 && !this.#reserve.isWhole) return this.#noRoom?.outcome ?? null;
    const outcome = this.#probeDisk(bytes);
    this.#noRoom = outcome && !this.#reserve.isWhole ? { outcome, atMs: this.#now() } : null;
    return outcome;
  }

  #probeDisk(bytes: number): Outcome | null {
    const reserve = this.#reserve;
    try {
      if (!reserve.isWhole) this.#shortenLog();
      return reserve.make() && (bytes === 0 || reserve.hasBeside(bytes)) ? null : NO_SPACE;
    } catch (error) {
      const outcome = failure(error);
      if (this.#mayWarn()) {
        const reason = "fault" in outcome ? outcome.fault : "no space";
        this.#warn(`${this.folder}/reserve cannot be written (${reason}): writes may be refused, deletions go on`);
      }
      return outcome;
    }
  }

  /** Whether the reserve is released to deletions, and has to be created again when they are done. */
  get hasReleasedReserve(): boolean {
    return !this.#reserve.isWhole;
  }

  /**
   * Commits the changes that free room: all at once with as much of the reserve as they need or, where that is still too
   * little, one by one.
   */
  #commitWithReserve(changes: readonly Change[]): Outcome[] {
    while (this.#reserve.release()) {
      this.#shortenLog();
      try {
        return this.#commitGroup(changes, (kind) => FREEING_CHANGES.has(kind) ? null : NO_SPACE);
      } catch (error) {
        if (!isNoSpace(error)) break;
      }
    }
    return changes.map((change) => FREEING_CHANGES.has(change.kind) ? this.#commitAlone(change) : NO_SPACE);
  }

  #commitAlone(change: Change): Outcome {
    try {
      this.#shortenLog();
      return this.#commitGroup([change], () => null)[0];
    } catch (error) {
      return failure(error);
    }
  }

  /** Moves the content of the log into the index and frees the room of the log, unless a reader uses it. */
  #shortenLog(): void {
    try {
      this.index.exec("PRAGMA busy_timeout = 0; PRAGMA wal_checkpoint(TRUNCATE)");
    } catch {
      // It is tried again with the next change.
    } finally {
      this.index.exec("PRAGMA busy_timeout = 5000");
    }
  }

  /**
   * Commits the changes that are not rejected beforehand.
   *
   * @throws where nothing of the group could be committed
   */
  #commitGroup(changes: readonly Change[], outcomeBefore: (kind: ChangeKind) => Outcome | null): Outcome[] {
    const outcomes = changes.map(({ kind }) => outcomeBefore(kind));
    try {
      this.#syncBodies(changes, outcomes);
      this.index.exec("BEGIN IMMEDIATE");
      for (const [i, change] of changes.entries()) outcomes[i] ??= this.#attempt(change);
      for (const file of this.#unlinked) this.#statements.run("DELETE FROM garbage WHERE file = ?", file);
      this.index.exec("COMMIT");
      this.#unlinked = [];
    } catch (error) {
      // Nothing of the group is in the index now, whatever its single changes had said.
      if (this.index.isTransaction) this.index.exec("ROLLBACK");
      this.hasGarbage = false;
      throw error;
    }
    this.#unlinkGarbage();
    // A deletion, or the removal of its files just now, may have freed room.
    if (this.#unlinked.length > 0 || changes.some(({ kind }, i) => outcomes[i]?.ok && FREEING_CHANGES.has(kind))) {
      this.#noRoom = null;
    }
    return outcomes.map((outcome) => outcome ?? { ok: false, fault: "no outcome" });
  }

  /** Flushes the files of large bodies, one after the other, then the names of them by their folders. */
  #syncBodies(changes: readonly Change[], outcomes: (Outcome | null)[]): void {
    const folders = new Set<string>();
    for (const [i, change] of changes.entries()) {
      const bringsBody = change.kind === "putObject" || change.kind === "putPart";
      if (outcomes[i] !== null || !bringsBody || !("file" in change.input.body)) continue;
      const path = `${this.folder}/${change.input.body.file}`;
      try {
        using file = Deno.openSync(path, { read: true, write: true });
        file.syncDataSync();
        folders.add(path.slice(0, path.lastIndexOf("/")));
      } catch (error) {
        outcomes[i] = failure(error);
      }
    }
    for (const folder of folders) syncFolder(folder);
  }

  #attempt(change: Change): Outcome {
    this.#statements.run("SAVEPOINT change");
    try {
      const reportedOf = reported(this.#statements, change);
      const result = apply(this.#statements, change.kind, change.input);
      const reports = reportedOf(result);
      this.#statements.run("RELEASE change");
      return { ok: true, result, reports };
    } catch (error) {
      // Some errors, such as that of a full disk, end the whole transaction: then no change of the group may count.
      if (!this.index.isTransaction) throw error;
      this.index.exec("ROLLBACK TO change; RELEASE change");
      return failure(error);
    }
  }

  /** Removes files whose rows are gone for good; their entries leave `garbage` with the next group. */
  #unlinkGarbage(): void {
    const rows = this.#statements.rows(`SELECT file FROM garbage LIMIT ${UNLINK_LIMIT}`);
    const files = rows.map(([file]) => String(file)).filter((file) => !this.#unlinked.includes(file));
    this.isPinned = files.length > 0 && !whileUnpinned(this.folder, () => {
      for (const file of files) if (this.#isGone(file)) this.#unlinked.push(file);
    });
    // Files that cannot be removed wait for the next start: without progress they are not tried again.
    this.hasGarbage = rows.length === UNLINK_LIMIT && this.#unlinked.length > 0;
  }

  #isGone(file: string): boolean {
    try {
      Deno.removeSync(`${this.folder}/${file}`);
      return true;
    } catch (error) {
      return error instanceof Deno.errors.NotFound;
    }
  }
}

function failure(error: unknown): Outcome {
  if (error instanceof StoreError) return { ok: false, error: error.code };
  if (isNoSpace(error)) return NO_SPACE;
  return { ok: false, fault: error instanceof Error ? error.message : String(error) };
}

/** Applies each kind of change to the index. */
const APPLY: { readonly [K in ChangeKind]: (index: Statements, input: Input<K>) => Result<K> } = CHANGES;

function apply<K extends ChangeKind>(index: Statements, kind: K, input: Input<K>): Result<K> {
  return APPLY[kind](index, input);
}
