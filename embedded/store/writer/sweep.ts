import type { DatabaseSync } from "node:sqlite";
import { BODY_FOLDER, bodyFolderName } from "@/embedded/store/bodies.ts";
import { NAMING_TABLES } from "@/embedded/store/body_mark.ts";
import { whileUnpinned } from "@/embedded/store/body_pin.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { removeIfExists, syncFolder } from "@/lib/std/files.ts";

/**
 * Removes the files that no row names: bodies whose upload ended with the process, and those whose row was deleted just
 * before it. Only folders that may have changed since the last sweep are searched, so a start does not grow with the
 * store. A new index sweeps nothing: it cannot know which files belong to it.
 */
export function sweepBodies(folder: string, index: DatabaseSync, now = new Date()): void {
  const statements = new Statements(index);
  Deno.mkdirSync(`${folder}/${BODY_FOLDER}`, { recursive: true, mode: 0o700 });
  syncFolder(folder);
  const isDone = whileUnpinned(folder, () => {
    for (const [file] of statements.each("SELECT file FROM garbage")) removeIfExists(`${folder}/${file}`);
  });
  if (isDone) statements.run("DELETE FROM garbage");

  const through = statements.row("SELECT through FROM swept")?.[0] ?? null;
  for (const hour of Deno.readDirSync(`${folder}/${BODY_FOLDER}`)) {
    if (through === null || !hour.isDirectory || hour.name < through) continue;
    for (const entry of Deno.readDirSync(`${folder}/${BODY_FOLDER}/${hour.name}`)) {
      const file = `${BODY_FOLDER}/${hour.name}/${entry.name}`;
      const isNamed = [...NAMING_TABLES, "garbage"].some((table) =>
        statements.row(`SELECT 1 FROM ${table} WHERE file = ?`, file)
      );
      if (!isNamed) removeIfExists(`${folder}/${file}`);
    }
  }
  statements.run("DELETE FROM swept");
  statements.run("INSERT INTO swept VALUES (?)", bodyFolderName(now));
}
