import { randomUUID } from "node:crypto";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { exists, writeDurably } from "@/lib/std/files.ts";
import { BODY_FOLDER } from "./bodies.ts";
import type { Statements } from "./statements.ts";

/** The file that says which index they belong to. */
export const BODY_MARK = "bodies.json";

/** Files that exist only beside an index. */
const NEEDING_AN_INDEX = ["samples.done", BODY_MARK];

/** The tables that may name a file of a body. */
export const NAMING_TABLES = ["objects", "history", "parts", "part_bodies"] as const;

/** The identity of an index, stored in it and beside its bodies: its random id, and its number of starts. */
export interface BodyMark {
  readonly index: string;
  readonly starts: number;
}

/**
 * Whether a data folder holds what an index must describe. Such a folder without an index is damaged: an index that is
 * created now would know none of the bodies.
 */
export function needsIndex(folder: string): boolean {
  return NEEDING_AN_INDEX.some((name) => exists(`${folder}/${name}`)) || hasBodies(folder);
}

/** The error of a start on bodies without an index. `what` is how the index is found: missing, empty. */
export function missingIndexError(folder: string, what: string): DataFolderError {
  return startError(folder, `holds bodies, but its index.db is ${what}`);
}

/**
 * The mismatch between an index, the bodies beside it and their mark, as the end of a sentence about the folder; null
 * where they belong together.
 */
export function bindingMismatch(
  folder: string,
  index: Statements,
  identity: BodyMark | null,
  mark: BodyMark | null,
): string | null {
  const older = "has an index.db that is older than its bodies";
  // A folder of an older layout has no identity yet; the mark of one start alone is what a cut-off start left.
  if (identity === null) return mark && mark.starts > 1 ? older : null;
  if (mark === null) {
    if (!hasBodies(folder) && !namesBodies(index)) return null;
    return `does not say whether index.db and bodies belong together (${BODY_MARK} is missing)`;
  }
  if (mark.index !== identity.index) return "has an index.db that is not the one of its bodies";
  return mark.starts > identity.starts ? older : null;
}

/**
 * Binds the index of a folder to the bodies beside it, and counts the start in both. It must run before the sweep: an
 * index from another folder, or an older copy, does not name the newest bodies.
 *
 * @throws {DataFolderError} when the index is not that of the bodies, or older than they are.
 */
export function bindBodies(folder: string, index: Statements): void {
  const mark = readMark(folder);
  const identity = identityOf(index);
  const fault = bindingMismatch(folder, index, identity, mark);
  if (fault !== null) throw startError(folder, fault);
  if (identity === null) {
    const created: BodyMark = { index: mark?.index ?? randomUUID(), starts: 1 };
    writeMark(folder, created);
    index.run("INSERT INTO identity VALUES (?, ?)", created.index, created.starts);
    return;
  }
  const next: BodyMark = { index: identity.index, starts: identity.starts + 1 };
  // The index first: cut off here, it is ahead of the mark, which is harmless.
  index.run("UPDATE identity SET starts = ?", next.starts);
  writeMark(folder, next);
}

/** The identity that an index holds; null before its first start with bodies. */
export function identityOf(index: Statements): BodyMark | null {
  const row = index.row("SELECT id, starts FROM identity");
  return row && { index: String(row[0]), starts: Number(row[1]) };
}

/**
 * The mark beside the bodies of a folder; null where there is none.
 *
 * @throws {DataFolderError} when it is damaged
 */
export function readMark(folder: string): BodyMark | null {
  const path = `${folder}/${BODY_MARK}`;
  try {
    const { index, starts }: Partial<BodyMark> = JSON.parse(Deno.readTextFileSync(path)) ?? {};
    if (typeof index === "string" && typeof starts === "number") return { index, starts };
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    if (!(error instanceof SyntaxError)) throw error;
  }
  throw new DataFolderError(`The file ${path} is damaged: put it back from a backup.`);
}

/** Writes the mark beside the bodies of a folder. */
export function writeMark(folder: string, mark: BodyMark): void {
  writeDurably(`${folder}/${BODY_MARK}`, new TextEncoder().encode(`${JSON.stringify(mark)}\n`));
}

function startError(folder: string, what: string): DataFolderError {
  return new DataFolderError(
    `The data folder ${folder} ${what}: nothing was changed. Start on a whole backup, or empty the folder with ` +
      `"deno task reset".`,
  );
}

function namesBodies(index: Statements): boolean {
  return NAMING_TABLES.some((table) => index.row(`SELECT 1 FROM ${table} WHERE file IS NOT NULL LIMIT 1`) !== null);
}

function hasBodies(folder: string): boolean {
  try {
    for (const hour of Deno.readDirSync(`${folder}/${BODY_FOLDER}`)) {
      if (!hour.isDirectory) continue;
      for (const _ of Deno.readDirSync(`${folder}/${BODY_FOLDER}/${hour.name}`)) return true;
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return false;
}
