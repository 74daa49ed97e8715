import { type Config, readConfig } from "@/lib/config/mod.ts";
import { usersFileLine } from "@/lib/auth/users_file.ts";
import { parseRevocationText } from "@/lib/results/revocation_text.ts";
import { backUp } from "./backup.ts";
import { resetDataFolder } from "./reset.ts";
import { REVOKED_SESSIONS_FILE } from "./revoked_sessions.ts";
import { verifyDataFolder } from "./verify.ts";

/** A command beside the start: `main.ts NAME ARGUMENTS`. Returns false where what it looked for does not hold. */
type Command = (argument: string, second: string | null) => boolean | Promise<boolean>;

/** The commands by their names: `deno task reset`, `verify`, `backup` and `user`. */
const COMMANDS: Readonly<Record<string, Command>> = {
  reset() {
    console.log(resetDataFolder(config().dataFolder, confirm));
    return true;
  },
  verify: () =>
    verifyDataFolder(config().dataFolder, console.log, {
      [REVOKED_SESSIONS_FILE]: (text) => parseRevocationText(text) !== null,
    }),
  async backup(folder, earlier) {
    const { isWhole, lines } = await backUp(config().dataFolder, folder, earlier);
    for (const line of lines) console.log(line);
    return isWhole;
  },
  async user(name) {
    console.log(await usersFileLine(name, await standardInput()));
    return true;
  },
};

/** The command of that name; undefined when there is none. */
export function command(name: string | undefined): Command | undefined {
  return name !== undefined && Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
}

function config(): Config {
  return readConfig(Deno.env.toObject());
}

async function standardInput(): Promise<string> {
  return (await new Response(Deno.stdin.readable).text()).replace(/\r?\n$/, "");
}
