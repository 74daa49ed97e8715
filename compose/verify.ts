import type { DatabaseSync } from "node:sqlite";
import { checkChainFolder } from "@/lib/operations/audit/chain_check.ts";
import {
  AUDIT_DIR_COPY,
  AUDIT_FOLDER,
  OUTSIDE_END_FILE,
  type OutsideEnd,
  outsideEnd,
} from "@/lib/operations/audit/audit_trail.ts";
import { AUDIT_END, Documents } from "@/embedded/store/documents.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { BODY_FOLDER } from "@/embedded/store/bodies.ts";
import {
  bindingMismatch,
  bodyFault,
  identityOf,
  namedBodies,
  NAMING_TABLES,
  needsIndex,
  readMark,
} from "@/embedded/store/body_folder.ts";
import { INDEX_VERSION, layoutOf, openIndexForReading } from "@/embedded/store/index.ts";
import { readPorts } from "@/embedded/store/ports.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { holdFolder, UNFINISHED } from "@/lib/process/data_folder.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { errorReason } from "@/lib/std/text.ts";
import { exists, textIfExists, unlessMissing } from "@/lib/std/files.ts";

/** Beside a running store, a file that nothing names yet and that was written to since then is an upload, in ms. */
const ARRIVING_MS = 60 * 60 * 1000;

/** How many faults of the index itself are named. */
const INDEX_FAULTS = 100;

const MIB = 1024 * 1024;

/** The folders of audit trails in a data folder, or in a backup. */
const TRAILS = [AUDIT_FOLDER, AUDIT_DIR_COPY];

/** Checks of small files that others than the embedded parts read, by name: whether a start takes such a text. */
type TextChecks = Readonly<Record<string, (text: string) => boolean>>;

/** A data folder while it is verified, and what was looked at in it. */
interface Inspection {
  readonly path: string;
  /** Whether a store runs on it. */
  readonly isRunning: boolean;
  /** ms since 1970 */
  readonly now: () => number;
  readonly found: (finding: string) => void;
  findings: number;
  bodies: number;
  bytes: number;
  arriving: number;
}

/**
 * Reads a whole data folder, also beside the store that runs on it: the index, the length and the digest of every body,
 * files that belong to nothing, and the small files. Changes nothing; a stopped folder cannot be opened meanwhile.
 *
 * @param say called with one line for each finding, and one for the whole
 * @param hasTrail whether the audit trail must be in it, and not in a separate folder
 * @returns whether all is well
 * @throws {DataFolderError} when the folder holds no data of Stackroom.
 */
export function verifyDataFolder(
  path: string,
  say: (line: string) => void,
  checks: TextChecks = {},
  now: () => number = Date.now,
  hasTrail = true,
): boolean {
  if (namesOfFolder(path).length === 0) throw new DataFolderError(`DATA_DIR: ${path} holds no data of Stackroom.`);
  const held = holdFolder(path);
  try {
    const names = namesOfFolder(path);
    const found = (finding: string) => {
      inspection.findings++;
      say(finding);
    };
    const counts = { findings: 0, bodies: 0, bytes: 0, arriving: 0 };
    const inspection: Inspection = { path, isRunning: held.isInUse, now, found, ...counts };
    if (names.includes(UNFINISHED)) found(`${UNFINISHED}: this is an unfinished backup; remove the folder`);
    for (const name of names) checkSmallFile(path, name, checks, found);
    const noted = hasTrail ? notedEnd(path) : null;
    const notedIn = noted && (noted.place === AUDIT_FOLDER ? AUDIT_FOLDER : AUDIT_DIR_COPY);
    for (const name of TRAILS) {
      if (names.includes(name) || name === notedIn) {
        checkAudit(`${path}/${name}`, name, found, name === notedIn ? noted : null);
      }
    }
    if (names.includes("index.db")) checkStore(inspection);
    else if (needsIndex(path)) found("index.db: missing, and with it the names of all bodies");
    say(summary(inspection));
    return inspection.findings === 0;
  } finally {
    held.release();
  }
}

/** Whether there is an audit trail in a data folder, or in a backup. */
export function holdsTrail(path: string): boolean {
  return namesOfFolder(path).some((name) => TRAILS.includes(name));
}

function summary({ path, findings, bodies, bytes, arriving }: Inspection): string {
  const read = `${bodies} bodies, ${(bytes / MIB).toFixed(1)} MiB` + (arriving > 0 ? `, ${arriving} arriving` : "");
  if (findings === 0) return `${path}: all is well (${read}).`;
  return `${path}: ${counted(findings, "finding")} (${read}).`;
}

function counted(count: number, word: string): string {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}

/** A small file that a start reads. */
function checkSmallFile(path: string, name: string, checks: TextChecks, found: (finding: string) => void): void {
  try {
    if (name.endsWith(".secret")) {
      if (!/^[0-9a-f]{64}\s*$/.test(Deno.readTextFileSync(`${path}/${name}`))) found(`${name}: damaged`);
    } else if (name === "ports.json") {
      readPorts(`${path}/${name}`);
    } else if (name === "cluster.json") {
      JSON.parse(Deno.readTextFileSync(`${path}/${name}`));
    } else if (Object.hasOwn(checks, name) && !checks[name](Deno.readTextFileSync(`${path}/${name}`))) {
      found(`${name}: damaged, or written by another version`);
    }
  } catch (error) {
    const isDamaged = error instanceof DataFolderError || error instanceof SyntaxError;
    found(`${name}: ${isDamaged ? "damaged" : `cannot be read (${errorReason(error)})`}`);
  }
}

/**
 * Reads the audit trail in a folder outside of the data folder, also while it is written.
 *
 * @param say called with one line for each finding, and one for the whole
 * @param noted the end of the trail that was noted in the data folder; null: none
 * @returns whether all is well
 */
export function verifyAuditFolder(path: string, say: (line: string) => void, noted: OutsideEnd | null = null): boolean {
  let findings = 0;
  const found = (finding: string) => {
    findings++;
    say(finding);
  };
  const records = checkAudit(path, path, found, noted);
  say(`${path}: ${findings === 0 ? "all is well" : counted(findings, "finding")} (${counted(records, "record")}).`);
  return findings === 0;
}

/**
 * The end of the audit trail as the data folder notes it, in the index or in a file; null: it notes none. Read before the
 * trail, which may have got further since.
 */
export function notedEnd(path: string): OutsideEnd | null {
  let noted: unknown = null;
  try {
    if (exists(`${path}/index.db`)) {
      const index = openIndexForReading(path);
      try {
        noted = new Documents(new Statements(index)).document(AUDIT_END);
      } finally {
        index.close();
      }
    }
  } catch {
    // The check of the index says what is wrong with it.
  }
  return outsideEnd(noted ?? parsedJson(textIfExists(`${path}/${OUTSIDE_END_FILE}`) ?? ""));
}

/**
 * The trail of the application, as far as it is written.
 *
 * @param name prefix of findings
 * @param noted its end as noted outside
 * @returns how many records were read
 */
function checkAudit(path: string, name: string, found: (finding: string) => void, noted: OutsideEnd | null): number {
  try {
    const { records, faults } = checkChainFolder(path, noted);
    for (const fault of faults) found(`${name}: the audit trail of the application: ${fault}`);
    return records;
  } catch (error) {
    if (noted !== null && error instanceof Deno.errors.NotFound) {
      const { trail, number } = noted;
      found(`${name}: the audit trail of the application: it was removed: trail ${trail} had ${number} records`);
    } else found(`${name}: cannot be read (${errorReason(error)})`);
    return 0;
  }
}

function checkStore(inspection: Inspection): void {
  let index: DatabaseSync | null = null;
  try {
    index = openIndexForReading(inspection.path);
    checkIndex(inspection, index);
    const statements = new Statements(index);
    checkNamedBodies(inspection, statements);
    checkFiles(inspection, statements);
  } catch (error) {
    inspection.found(`index.db: cannot be read (${errorReason(error)})`);
  } finally {
    index?.close();
  }
}

function checkIndex({ path, found }: Inspection, index: DatabaseSync): void {
  for (const row of index.prepare(`PRAGMA integrity_check(${INDEX_FAULTS})`).all()) {
    if (row.integrity_check !== "ok") found(`index.db: ${String(row.integrity_check).replaceAll("\n", " ")}`);
  }
  const layout = layoutOf(index);
  if (layout !== INDEX_VERSION) {
    const way = layout < INDEX_VERSION ? "start this version on it once" : "use the version that wrote it";
    throw new Error(`it has layout ${layout}, here it is ${INDEX_VERSION}: ${way}`);
  }
  const statements = new Statements(index);
  const fault = bindingMismatch(path, statements, identityOf(statements), readMark(path));
  if (fault !== null) found(`index.db: the folder ${fault}`);
  const unnamed = statements.row(UNNAMED_ROWS)?.[0];
  if (Number(unnamed) > 0) found(`index.db: ${unnamed} bodies in it belong to no object`);
}

/** How many rows of `bodies` no version and no part names. */
const UNNAMED_ROWS = `SELECT count(*) FROM (
  SELECT id FROM bodies
  EXCEPT SELECT body FROM objects EXCEPT SELECT body FROM history EXCEPT SELECT body FROM parts
  EXCEPT SELECT json_extract(value, '$.body') FROM objects, json_each(objects.parts, '$.parts')
  EXCEPT SELECT json_extract(value, '$.body') FROM history, json_each(history.parts, '$.parts'))`;

function checkNamedBodies(inspection: Inspection, index: Statements): void {
  for (const body of namedBodies(index)) {
    const fault = bodyFault(inspection.path, index, body);
    // Beside a running store it may have been deleted, or overwritten, since its row was read.
    if (fault !== null && body.isNamed()) inspection.found(`${body.of}: ${fault}`);
    inspection.bodies++;
    inspection.bytes += body.size;
  }
}

/** Files below the bodies that the index does not know. */
function checkFiles(inspection: Inspection, index: Statements): void {
  const { path, isRunning, now, found } = inspection;
  for (const file of filesBelow(path, BODY_FOLDER)) {
    // In this order: a body gets its name after it was written for the last time.
    const written = modifiedMs(`${path}/${file}`);
    const isNamed = [...NAMING_TABLES, "garbage"].some((table) =>
      index.row(`SELECT 1 FROM ${table} WHERE file = ?`, file) !== null
    );
    if (isNamed || written === null) continue;
    if (isRunning && now() - written < ARRIVING_MS) inspection.arriving++;
    else if (modifiedMs(`${path}/${file}`) !== null) found(`${file}: belongs to no object`);
  }
}

function* filesBelow(path: string, folder: string): Generator<string> {
  for (const entry of entriesOf(`${path}/${folder}`)) {
    const file = `${folder}/${entry.name}`;
    if (entry.isDirectory) yield* filesBelow(path, file);
    else yield file;
  }
}

function modifiedMs(path: string): number | null {
  return unlessMissing(() => Deno.statSync(path).mtime?.getTime() ?? 0);
}

function namesOfFolder(path: string): string[] {
  try {
    return entriesOf(path).map(({ name }) => name).sort();
  } catch (error) {
    throw new DataFolderError(`DATA_DIR: ${path} cannot be read (${errorReason(error)}).`);
  }
}

/** The entries of a folder; none where it is absent. */
export function entriesOf(folder: string): Deno.DirEntry[] {
  try {
    return [...Deno.readDirSync(folder)];
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}
