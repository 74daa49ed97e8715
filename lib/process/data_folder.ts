import { randomBytes } from "node:crypto";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { exists, sizeIfExists, textIfExists, unlessMissing, writeDurably } from "@/lib/std/files.ts";
import { errorReason } from "@/lib/std/text.ts";
import { sleep } from "@/lib/std/timing.ts";

/**
 * How long a start waits for the folder, ms: a process that is ending holds its lock for up to 5 s after the end of its
 * launcher.
 */
const RELEASE_MS = 6000;
const RELEASE_CHECK_MS = 50;

/** The file that marks an unfinished backup. */
export const UNFINISHED = "backup.unfinished";

/**
 * The one folder in which the embedded parts store everything (`DATA_DIR`).
 *
 * While it is open it is locked: the lock is the kernel's and goes with the process, whatever ends it.
 */
export class DataFolder {
  readonly path: string;
  /** Warnings for the operator, a line each. */
  readonly warnings: readonly string[];
  readonly #lock: Deno.FsFile;

  private constructor(path: string, lock: Deno.FsFile, warnings: readonly string[]) {
    this.path = path;
    this.warnings = warnings;
    this.#lock = lock;
  }

  /**
   * Creates the folder when it is missing, locks it, and lets only its owner read what is in it. Throws
   * {@link DataFolderError} when it is taken or unwritable.
   */
  static open(path: string): DataFolder {
    const folder = DataFolder.#openUnlocked(path);
    if (folder === null) throw inUse(path);
    return folder;
  }

  /**
   * The same for a start, which may follow the end of the process before it by a moment: a folder that is taken is tried
   * again for `waitMs`.
   */
  static async openOnRelease(path: string, waitMs = RELEASE_MS): Promise<DataFolder> {
    const end = performance.now() + waitMs;
    for (;;) {
      const folder = DataFolder.#openUnlocked(path);
      if (folder !== null) return folder;
      if (performance.now() >= end) throw inUse(path);
      await sleep(RELEASE_CHECK_MS);
    }
  }

  /** @returns null where another process has the folder */
  static #openUnlocked(path: string): DataFolder | null {
    let lock: Deno.FsFile;
    try {
      Deno.mkdirSync(path, { recursive: true, mode: 0o700 });
      lock = Deno.openSync(`${path}/lock`, { create: true, read: true, write: true, mode: 0o600 });
    } catch (error) {
      throw unwritable(path, error);
    }
    if (!lock.tryLockSync(true) || !isFileAt(lock, `${path}/lock`)) {
      lock.close();
      return null;
    }
    if (exists(`${path}/${UNFINISHED}`)) {
      lock.close();
      throw new DataFolderError(
        `The data folder ${path} is a backup that was not finished: remove it, and use another one.`,
      );
    }
    try {
      writeDurably(`${path}/writable`, new Uint8Array());
      Deno.removeSync(`${path}/writable`);
    } catch (error) {
      lock.close();
      throw unwritable(path, error);
    }
    return new DataFolder(path, lock, [...opennessOf(path), ...keepPrivate(path)]);
  }

  /** The random secret of that name, created at its first use and stored: 32 bytes as 64 hexadecimal digits. */
  secret(name: string): string {
    const stored = storedSecret(this.path, name);
    if (stored !== null) return stored;
    const path = secretFile(this.path, name);
    const secret = randomBytes(32).toString("hex");
    writeDurably(path, new TextEncoder().encode(secret));
    return secret;
  }

  /** Releases the lock. */
  close(): void {
    this.#lock.unlockSync();
    this.#lock.close();
  }
}

/** The data folder of a stopped server, held while it is read. */
interface HeldFolder {
  /** Whether a process has the folder open, or may have. */
  readonly isInUse: boolean;
  /** Removes the empty files that reading the index left beside it, then lets the folder be opened again. */
  release(): void;
}

/**
 * Keeps a data folder that no process has open from being opened until it is released, so that it can be emptied. Where
 * it is open already, or cannot be locked, nothing is taken and nothing is removed. Leaves no new file behind.
 */
export function holdFolder(path: string): HeldFolder {
  const lockPath = `${path}/lock`;
  const free = { isInUse: false, release() {} };
  const inUse = { isInUse: true, release() {} };
  let isCreated = false;
  let lock: Deno.FsFile;
  try {
    lock = Deno.openSync(lockPath, { read: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) return inUse;
    try {
      lock = Deno.openSync(lockPath, { createNew: true, read: true, write: true, mode: 0o600 });
      isCreated = true;
    } catch (error) {
      return error instanceof Deno.errors.AlreadyExists ? inUse : free;
    }
  }
  let isLocked = false;
  try {
    isLocked = lock.tryLockSync(true) && isFileAt(lock, lockPath);
  } catch {
    // A file system without locks.
  }
  if (!isLocked) {
    lock.close();
    return inUse;
  }
  const before = new Set([...Deno.readDirSync(path)].map(({ name }) => name));
  return {
    isInUse: false,
    release() {
      removeTraces(path, before);
      // While it is locked: a process that opened it meanwhile finds that it is no longer the file of that name.
      if (isCreated) removeQuietly(lockPath);
      lock.close();
    },
  };
}

/** Removes the files that reading the index created, unless the log of the index holds something. */
function removeTraces(path: string, before: ReadonlySet<string>): void {
  if (sizeIfExists(`${path}/index.db-wal`)) return;
  for (const name of ["index.db-wal", "index.db-shm"]) if (!before.has(name)) removeQuietly(`${path}/${name}`);
}

function removeQuietly(path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // An empty file does not disturb the next start.
  }
}

/** Whether an open file is still the file at a path. */
function isFileAt(file: Deno.FsFile, path: string): boolean {
  return unlessMissing(() => Deno.statSync(path).ino) === file.statSync().ino;
}

/** The bits of a mode that concern others than the owner. */
const OTHERS = 0o077;

/** The warning for a folder that is open to others: its names are visible, and files that are copied into it may be read. */
function opennessOf(path: string): string[] {
  const { mode } = Deno.statSync(path);
  if (mode === null || (mode & OTHERS) === 0) return [];
  const shown = (mode & 0o7777).toString(8).padStart(4, "0");
  return [`The data folder ${path} is open to other users (mode ${shown}): run chmod 700 ${Deno.realPathSync(path)}`];
}

/**
 * Closes what is in a folder to all but the owner; a folder that was open to others, with all that is in it.
 * An older version, a copy or a restore may have left it readable. Returns what could not be changed, a line each.
 */
function keepPrivate(folder: string): string[] {
  const failed: string[] = [];
  for (const entry of Deno.readDirSync(folder)) {
    if (entry.isSymlink) continue;
    const path = `${folder}/${entry.name}`;
    try {
      const { mode } = Deno.lstatSync(path);
      if (mode === null || (mode & OTHERS) === 0) continue;
      Deno.chmodSync(path, entry.isDirectory ? 0o700 : 0o600);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) continue;
      failed.push(`${path} is open to other users and cannot be closed to them (${reason(error)}): change its owner.`);
      continue;
    }
    if (entry.isDirectory) failed.push(...keepPrivate(path));
  }
  return failed;
}

function inUse(path: string): DataFolderError {
  return new DataFolderError(
    `The data folder ${path} is in use by another Stackroom: stop that one, or set DATA_DIR to another folder.`,
  );
}

function unwritable(path: string, error: unknown): DataFolderError {
  return new DataFolderError(
    `The data folder ${path} cannot be written (${
      reason(error)
    }): make it writable, or set DATA_DIR to another folder.`,
  );
}

/**
 * The secret of a data folder that was created under a name; null where there is none.
 *
 * @throws {DataFolderError} for one that is damaged or cannot be read
 */
export function storedSecret(folder: string, name: string): string | null {
  const path = secretFile(folder, name);
  let secret: string | null;
  try {
    secret = textIfExists(path)?.trim() ?? null;
  } catch (error) {
    throw new DataFolderError(`The file ${path} cannot be read (${reason(error)}): restore it, or remove it.`);
  }
  if (secret === null || /^[0-9a-f]{64}$/.test(secret)) return secret;
  throw new DataFolderError(`The file ${path} is damaged: restore it, or delete it to have a new secret made.`);
}

function secretFile(folder: string, name: string): string {
  return `${folder}/${name}.secret`;
}

function reason(error: unknown): string {
  return errorReason(error).replace(/ \(os error.*$/, "");
}
