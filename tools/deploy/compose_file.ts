import { parse } from "yaml";

/** A service of a compose file, as far as it says how a container is run. */
export interface Service {
  readonly image: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly env_file?: readonly { readonly path: string; readonly required: boolean }[];
  readonly entrypoint?: readonly string[];
  readonly command?: readonly string[];
  readonly networks: readonly string[];
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly read_only?: boolean;
  readonly cap_drop?: readonly string[];
  readonly tmpfs?: readonly string[];
  readonly stop_grace_period?: string;
  readonly security_opt?: readonly string[];
}

export interface ComposeFile {
  readonly services: Readonly<Record<string, Service>>;
  readonly networks: Readonly<Record<string, { readonly internal?: boolean } | null>>;
}

/**
 * Reads a compose file with the values of variables filled in, as `docker compose` does.
 *
 * @throws {Error} naming the variable that is required and not set
 */
export function readComposeFile(source: string, variables: Readonly<Record<string, string>>): ComposeFile {
  return interpolated(parse(source, { merge: true }), variables) as ComposeFile;
}

/** `${NAME}`, `${NAME-default}`, `${NAME:-default}`, `${NAME?message}`, `${NAME:?message}` and `$$`. */
const VARIABLE = /\$\$|\$\{(\w+)(?:(:?[-?])([^}]*))?\}/g;

function interpolated(value: unknown, variables: Readonly<Record<string, string>>): unknown {
  if (Array.isArray(value)) return value.map((item) => interpolated(item, variables));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, interpolated(item, variables)]));
  }
  if (typeof value !== "string") return value;
  return value.replace(VARIABLE, (whole, name?: string, operator?: string, rest = "") => {
    if (name === undefined) return whole.slice(1);
    const given = variables[name];
    const isMissing = given === undefined || (operator?.startsWith(":") && given === "");
    if (!isMissing) return given;
    if (operator?.endsWith("?")) throw new Error(`${name}: ${rest}`);
    return rest;
  });
}
