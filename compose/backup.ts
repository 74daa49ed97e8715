import { randomUUID } from "node:crypto";
import { basename, dirname, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import {
  ANCHOR_FILE,
  AUDIT_DIR_COPY,
  AUDIT_FOLDER,
  daysIn,
  END_FILE,
  OUTSIDE_END_FILE,
} from "@/lib/operations/audit/audit_trail.ts";
import { BODY_FOLDER } from "@/embedded/store/bodies.ts";
import {
  type BodyMark,
  missingIndexError,
  NAMING_TABLES,
  needsIndex,
  pinBodies,
  writeMark,
} from "@/embedded/store/body_folder.ts";
import { INDEX_VERSION, layoutOf, openIndexForReading } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { holdFolder, UNFINISHED } from "@/lib/process/data_folder.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { exists, sizeIfExists, syncFolder, writeDurably } from "@/lib/std/files.ts";
import { errorReason } from "@/lib/std/text.ts";

/**
 * Files that are not copied as they are: state of the running process, such as background tasks with their sealed keys,
 * and files that have a special copy function.
 */
const NOT_COPIED =
  /^(lock|reserve|writable|audit|(tasks|notifications|index)\.db.*|bodies|bodies\.json|backup\.unfinished|.*\.new)$/;

/** Files that must be older than the index and the trail, which then hold all that these speak of. */
const BEFORE_THE_INDEX = ["samples.done", "cluster.json", OUTSIDE_END_FILE];

/** All pages at once: the copy is of one moment, whatever is committed meanwhile. */
const ALL_PAGES = 2 ** 31 - 1;

/**
 * Copies a data folder as it is at one moment, also beside the store that runs on it. Bodies are hard links where the
 * file system allows it, since they never change: to those of the data folder, else to those of an earlier backup; their
 * removal is put off until all are in the copy. Returns what was done and whether every body was there to be copied, one
 * line each. A stopped folder cannot be opened meanwhile. An audit trail outside of it is copied as far as it is written.
 *
 * @param source null: there is no data folder, only the trail
 * @param earlier a backup of the same data folder on the disk of the target; null: none
 * @param audit the folder of an audit trail outside of the data folder; null: none
 * @throws {DataFolderError} when there is nothing to copy, the target is no absent or empty folder, or cannot be written.
 */
export async function backUp(
  source: string | null,
  target: string,
  earlier: string | null = null,
  audit: string | null = null,
): Promise<{ isWhole: boolean; lines: string[] }> {
  if (source !== null) requireSource(source);
  if (earlier !== null) requireEarlier(earlier);
  if (audit !== null && !exists(audit)) throw new DataFolderError(`AUDIT_DIR: ${audit} holds no audit trail.`);
  prepareTarget([source, audit].filter((path) => path !== null), target);
  const held = source === null ? null : holdFolder(source);
  try {
    const bodies = source === null ? null : await copyData(source, target, earlier);
    if (audit !== null) copyAudit(audit, `${target}/${AUDIT_DIR_COPY}`);
    if (source !== null) copyOthers(source, target, audit !== null);
    syncFolder(target);
    Deno.removeSync(`${target}/${UNFINISHED}`);
    syncFolder(target);
    if (source === null || bodies === null) {
      return { isWhole: true, lines: [`Backed up the audit trail ${audit} to ${target}/${AUDIT_DIR_COPY}.`] };
    }
    const { linked, reused, copied, missing } = bodies;
    return {
      isWhole: missing.length === 0,
      lines: [
        ...missing.map((file) => `${file} is named by the index and missing in ${source}: run deno task verify`),
        `Backed up ${source} to ${target}: ${linked + reused + copied} large bodies` +
        (reused > 0 ? `, ${reused} of them in ${earlier} too` : "") +
        (linked > 0 ? `, ${linked} of them as hard links: copy the folder to another disk.` : "."),
      ],
    };
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    throw new DataFolderError(
      `The backup in ${target} is unfinished (${errorReason(error)}): remove it, and back up to another folder.`,
    );
  } finally {
    held?.release();
  }
}

/**
 * The index with the bodies that it names, and the trail beside them.
 *
 * @returns counts of the bodies: hard links to those of the data folder or of the earlier backup, copies, those not found
 */
async function copyData(source: string, target: string, earlier: string | null) {
  for (const name of BEFORE_THE_INDEX) copySmall(source, target, name);
  const bodies = { linked: 0, reused: 0, copied: 0, missing: [] as string[] };
  if (exists(`${source}/index.db`)) {
    const pin = await pinBodies(source);
    try {
      await copyIndex(source, target);
      copyBodies(source, target, earlier, bodies);
    } finally {
      pin.release();
    }
  }
  if (exists(`${source}/${AUDIT_FOLDER}`)) copyAudit(`${source}/${AUDIT_FOLDER}`, `${target}/${AUDIT_FOLDER}`);
  return bodies;
}

/** The small files. After the index: every tenant in it has its ports here. */
function copyOthers(source: string, target: string, hasTrailOutside: boolean): void {
  for (const { name } of Deno.readDirSync(source)) {
    // One in the data folder is left from a restored backup.
    if (name === AUDIT_DIR_COPY && hasTrailOutside) continue;
    if (!NOT_COPIED.test(name) && !BEFORE_THE_INDEX.includes(name)) copySmall(source, target, name);
  }
}

/**
 * Copies the audit trail while it is written: the note of its end before the days and that of its start after them, so
 * that the copy has all records between the two.
 */
function copyAudit(source: string, target: string): void {
  Deno.mkdirSync(target, { mode: 0o700 });
  const days = daysIn(source).map((day) => `${day}.jsonl`);
  for (const name of [END_FILE, ...days, ANCHOR_FILE]) copySmall(source, target, name);
  syncFolder(target);
}

function requireEarlier(earlier: string): void {
  if (exists(`${earlier}/index.db`) && !exists(`${earlier}/${UNFINISHED}`)) return;
  throw new DataFolderError(`The folder ${earlier} is no whole backup: name an earlier one, or none.`);
}

/** Whether a folder holds what embedded parts write, whole or not. An empty one, or one with other files, does not. */
export function holdsData(folder: string): boolean {
  return needsIndex(folder) || ["index.db", "kubeconfig", UNFINISHED].some((name) => exists(`${folder}/${name}`));
}

function requireSource(source: string): void {
  if (!holdsData(source)) throw new DataFolderError(`DATA_DIR: ${source} holds no data of Stackroom.`);
  if (!exists(`${source}/index.db`) && needsIndex(source)) throw missingIndexError(source, "missing");
  if (exists(`${source}/${UNFINISHED}`)) {
    throw new DataFolderError(`DATA_DIR: ${source} is a backup that was not finished: nothing was copied.`);
  }
}

/** Creates the target, or takes an empty one, and marks it as unfinished. */
function prepareTarget(sources: readonly string[], target: string): void {
  if (target === "") throw new DataFolderError("Name the folder that the backup is made in: deno task backup FOLDER");
  try {
    for (const source of sources) requireOutside(source, target);
    Deno.mkdirSync(target, { recursive: true, mode: 0o700 });
    const [first] = Deno.readDirSync(target);
    if (first) {
      const what = exists(`${target}/${UNFINISHED}`) ? "holds an unfinished backup: remove it" : "is not empty";
      throw new DataFolderError(`The folder ${target} ${what}: a backup is made in an absent or an empty one.`);
    }
    Deno.chmodSync(target, 0o700);
    writeDurably(`${target}/${UNFINISHED}`, new Uint8Array());
    syncFolder(dirname(realPath(resolve(target))));
  } catch (error) {
    if (error instanceof DataFolderError) throw error;
    throw new DataFolderError(`The folder ${target} cannot be written (${errorReason(error)}): name another one.`);
  }
}

/** @throws {DataFolderError} where one of the two is in the other */
function requireOutside(source: string, target: string): void {
  const [from, to] = [source, target].map((path) => `${realPath(resolve(path))}/`);
  if (to.startsWith(from) || from.startsWith(to)) {
    throw new DataFolderError(`The backup cannot be made in ${target}: it must be outside of ${source}.`);
  }
}

/** Where an absolute path leads, also where its end is not there yet. */
function realPath(path: string): string {
  if (exists(path)) return Deno.realPathSync(path);
  return `${realPath(dirname(path))}/${basename(path)}`;
}

/** Copies the index as it is at one moment, and ties it to the bodies of the copy. */
async function copyIndex(source: string, target: string): Promise<void> {
  const path = `${target}/index.db`;
  const from = openIndexForReading(source);
  try {
    const layout = layoutOf(from);
    if (layout !== INDEX_VERSION) {
      throw new DataFolderError(
        `The data folder ${source} has layout ${layout}, here it is ${INDEX_VERSION}: back it up with the version that ` +
          `wrote it. The folder ${target} can be removed.`,
      );
    }
    Deno.openSync(path, { createNew: true, write: true, mode: 0o600 }).close();
    await backup(from, path, { rate: ALL_PAGES });
  } finally {
    from.close();
  }
  // A new identity, so that this index is refused beside other bodies than those of the copy.
  const identity: BodyMark = { index: randomUUID(), starts: 1 };
  const index = new DatabaseSync(path);
  const statements = new Statements(index);
  statements.run("DELETE FROM identity");
  statements.run("INSERT INTO identity VALUES (?, ?)", identity.index, identity.starts);
  index.close();
  syncFile(path);
  writeMark(target, identity);
}

/** Links or copies every file that the copied index names. */
function copyBodies(
  source: string,
  target: string,
  earlier: string | null,
  counts: Awaited<ReturnType<typeof copyData>>,
): void {
  const folders = new Set([BODY_FOLDER]);
  Deno.mkdirSync(`${target}/${BODY_FOLDER}`, { mode: 0o700 });
  const index = new DatabaseSync(`${target}/index.db`);
  try {
    const statements = new Statements(index);
    for (const table of NAMING_TABLES) {
      for (const [file] of statements.each(`SELECT file FROM ${table} WHERE file IS NOT NULL`)) {
        const name = String(file);
        const folder = name.slice(0, name.lastIndexOf("/"));
        if (!folders.has(folder)) Deno.mkdirSync(`${target}/${folder}`, { recursive: true, mode: 0o700 });
        folders.add(folder);
        try {
          counts[linkOrCopy(`${source}/${name}`, `${target}/${name}`, earlier && `${earlier}/${name}`)]++;
        } catch (error) {
          if (!(error instanceof Deno.errors.NotFound)) throw error;
          counts.missing.push(name);
        }
      }
    }
  } finally {
    index.close();
  }
  for (const folder of folders) syncFolder(`${target}/${folder}`);
}

function linkOrCopy(from: string, to: string, earlier: string | null): "linked" | "reused" | "copied" {
  if (isLinked(from, to)) return "linked";
  // No two bodies have one name, so the length alone says whether the earlier copy is whole.
  if (earlier !== null && sizeIfExists(earlier) === sizeIfExists(from) && isLinked(earlier, to)) return "reused";
  copyFile(from, to);
  return "copied";
}

/** False on another disk, and on a system that does not link others' files. */
function isLinked(from: string, to: string): boolean {
  try {
    Deno.linkSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** Copies a small file, or a folder of them; one that was deleted meanwhile is left out. */
function copySmall(source: string, target: string, name: string): void {
  try {
    if (Deno.lstatSync(`${source}/${name}`).isDirectory) {
      Deno.mkdirSync(`${target}/${name}`, { mode: 0o700 });
      for (const entry of Deno.readDirSync(`${source}/${name}`)) copySmall(source, target, `${name}/${entry.name}`);
      syncFolder(`${target}/${name}`);
    } else {
      copyFile(`${source}/${name}`, `${target}/${name}`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

function copyFile(from: string, to: string): void {
  Deno.copyFileSync(from, to);
  Deno.chmodSync(to, 0o600);
  syncFile(to);
}

function syncFile(path: string): void {
  const file = Deno.openSync(path, { read: true, write: true });
  try {
    file.syncSync();
  } finally {
    file.close();
  }
}
