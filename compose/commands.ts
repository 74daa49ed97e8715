import { BODY_MARK } from "@/embedded/store/body_folder.ts";
import { type Config, readConfig } from "@/lib/config/mod.ts";
import { usersFileLine } from "@/lib/auth/users_file.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { parseRevocationText } from "@/lib/auth/revoked_sessions.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { backUp, holdsData } from "./backup.ts";
import { operatorTasks } from "./operator_tasks.ts";
import { REVOKED_SESSIONS_FILE } from "./results.ts";
import { entriesOf, holdsTrail, notedEnd, verifyAuditFolder, verifyDataFolder } from "./verify.ts";

/** A command beside the start: `main.ts NAME ARGUMENTS`. */
interface Command {
  readonly maxArguments: number;
  /** Returns false where what it looked for does not hold. */
  run(argument: string, second: string | null): boolean | Promise<boolean>;
}

/** The commands by their names: `deno task reset`, `verify`, `backup`, `tasks` and `user`. */
const COMMANDS: Readonly<Record<string, Command>> = {
  reset: {
    maxArguments: 0,
    run() {
      console.log(resetDataFolder(config().dataFolder, confirm));
      return true;
    },
  },
  verify: {
    maxArguments: 0,
    run() {
      const settings = config();
      const { dataFolder, audit } = settings;
      const noted = notedEnd(dataFolder);
      const isTrailWell = audit.folder === null ||
        verifyAuditFolder(audit.folder, console.log, noted?.place === audit.folder ? noted : null);
      // A backup of a trail alone is such a folder.
      if (mayLackData(settings) && !holdsData(dataFolder) && !holdsTrail(dataFolder)) return isTrailWell;
      const checks = { [REVOKED_SESSIONS_FILE]: (text: string) => parseRevocationText(text) !== null };
      return verifyDataFolder(dataFolder, console.log, checks, Date.now, audit.folder === null) && isTrailWell;
    },
  },
  backup: {
    maxArguments: 2,
    async run(folder, earlier) {
      const settings = config();
      const { dataFolder, audit } = settings;
      const source = mayLackData(settings) && !holdsData(dataFolder) ? null : dataFolder;
      const { isWhole, lines } = await backUp(source, folder, earlier, audit.folder);
      for (const line of lines) console.log(line);
      return isWhole;
    },
  },
  tasks: { maxArguments: 2, run: (action, id) => operatorTasks(config(), action, id, console.log) },
  user: {
    maxArguments: 1,
    async run(name) {
      console.log(await usersFileLine(name, await standardInput()));
      return true;
    },
  },
};

/** Flags with which the launcher starts the server. */
const SERVER_FLAGS = ["--dev", "--launched"];

/** The first argument that `main.ts` does not know, of a command or of the start; undefined when it knows all. */
export function unknownArgument([name, ...rest]: readonly string[]): string | undefined {
  const found = command(name);
  if (found) return rest.find((word, index) => word.startsWith("-") || index >= found.maxArguments);
  return [name, ...rest].find((word) => word !== undefined && !SERVER_FLAGS.includes(word));
}

/** The command of that name; undefined when there is none. */
export function command(name: string | undefined): Command | undefined {
  return name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

function config(): Config {
  return readConfig(Deno.env.toObject());
}

/** Whether there may be only an audit trail, in a separate folder, of a process without an embedded part. */
function mayLackData({ embedded, audit }: Config): boolean {
  return !embedded.store && !embedded.cluster && audit.folder !== null;
}

async function standardInput(): Promise<string> {
  return (await new Response(Deno.stdin.readable).text()).replace(/\r?\n$/, "");
}

/** Files that only a data folder of ours holds: a folder without one of these is not emptied. */
const MARKS = ["index.db", "ports.json", BODY_MARK];

/**
 * Empties the data folder, after `confirm` said yes to a question that names it. Returns what happened, in one line.
 *
 * @throws {DataFolderError} when the folder is in use, or is not a data folder.
 */
function resetDataFolder(path: string, confirm: (question: string) => boolean): string {
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
