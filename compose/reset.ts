import { BODY_MARK } from "@/embedded/store/body_mark.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { DataFolderError } from "@/lib/std/data_folder_error.ts";
import { entriesOf } from "./disk.ts";

/** What only a data folder of ours holds: a folder without one of these is not emptied. */
const MARKS = ["index.db", "ports.json", BODY_MARK];

/**
 * Empties the data folder, after `confirm` said yes to a question that names it. Returns what happened, in one line.
 *
 * @throws {DataFolderError} when the folder is in use, or is not a data folder.
 */
export function resetDataFolder(path: string, confirm: (question: string) => boolean): string {
  const names = entriesOf(path).map(({ name }) => name);
  if (names.length === 0) return `${path} is empty already.`;
  if (!MARKS.some((mark) => names.includes(mark))) {
    throw new DataFolderError(`DATA_DIR: ${path} holds no data of Stackroom: nothing was removed.`);
  }
  const folder = DataFolder.open(path);
  try {
    if (!confirm(`Remove all tenants, buckets and objects in ${Deno.realPathSync(path)}?`)) {
      return "Nothing was removed.";
    }
    for (const { name } of entriesOf(path)) {
      if (name !== "lock") Deno.removeSync(`${path}/${name}`, { recursive: true });
    }
  } finally {
    folder.close();
  }
  return `${path} is empty: the next start begins anew.`;
}
