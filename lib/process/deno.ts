/** The rights of a process, as far as the runtime keeps watch over it. */
export interface Permissions {
  /** Files and folders, absolute. */
  readonly read: readonly string[];
  readonly write: readonly string[];
  /** Names of environment variables; others look unset. */
  readonly env: readonly string[] | "all";
  /** Hosts, with or without a port. */
  readonly net: readonly string[] | "all";
  /** Programs. */
  readonly run: readonly string[];
  /** Facts about the system that the process may read, by the runtime's names. */
  readonly sys: readonly string[];
}

/** Raised for a permission that cannot be written as a flag; the message is one line. */
export class PermissionError extends Error {
  override readonly name = "PermissionError";
}

/**
 * The runtime's flags for permissions, without a question on the terminal for what they leave out.
 *
 * @throws {PermissionError} for a path or a program with a comma, which separates the values of a flag
 */
export function permissionFlags({ read, write, env, net, run, sys }: Permissions): string[] {
  return [
    "--no-prompt",
    ...flag("--allow-net", net),
    ...flag("--allow-env", env),
    ...(env === "all" ? [] : ["--ignore-env"]),
    ...flag("--allow-read", read),
    ...flag("--allow-write", write),
    ...flag("--allow-run", run),
    ...flag("--allow-sys", sys),
  ];
}

function flag(name: string, values: readonly string[] | "all"): string[] {
  if (values === "all") return [name];
  const withComma = values.find((value) => value.includes(","));
  if (withComma !== undefined) {
    throw new PermissionError(
      `${JSON.stringify(withComma)} has a comma, which no path or program that the server uses may have: rename it`,
    );
  }
  // Without a value the flag would allow everything.
  return values.length === 0 ? [] : [`${name}=${[...new Set(values)].join(",")}`];
}

/**
 * The oldest version of Deno that Stackroom runs on; README.md names it. From 2.8.3 to 2.9.5 a response ends the body
 * of its request and the connection (denoland/deno#36624, #36657), and before 2.9.2 HEAD has a length of 0 (#35728).
 */
export const OLDEST_DENO = "2.9.6";

/** The message for a version of Deno below {@linkcode OLDEST_DENO}; null for the others. */
export function unsupportedDeno(version: string): string | null {
  const numbers = (text: string) => text.split(/[.+-]/, 3).map(Number);
  const [have, need] = [numbers(version), numbers(OLDEST_DENO)];
  const at = need.findIndex((number, index) => number !== have[index]);
  if (at < 0 || have[at] > need[at]) return null;
  return `Stackroom needs Deno ${OLDEST_DENO} or later, and this is Deno ${version}: run "deno upgrade", or use "npx -y deno@latest" instead of "deno"`;
}
