import { ConfigError } from "@/lib/std/config_error.ts";
import { about, environment, type Settings, type VariableName } from "./variables.ts";

/** Environment variables as the process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** Parsed settings, and under which name each one came. */
export interface Given {
  readonly settings: Settings;
  /** The name under which a variable was set, or undefined where it is unset. */
  nameOf(variable: VariableName): string | undefined;
}

/**
 * Reads the variables that the schema knows. Names compare without case (the upper-case spelling wins), an empty value
 * is an unset one, a variable's own name wins over its aliases.
 *
 * @throws {ConfigError} for all bad values, each under the name by which it was set.
 */
export function readSettings(env: Environment): Given {
  const present = presentVariables(env);
  const names = new Map<string, string>();
  const values: Record<string, string> = {};
  for (const [variable, schema] of Object.entries(environment.shape)) {
    const spellings = [variable, ...about.get(schema)?.aliases ?? []];
    const name = spellings.find((spelling) => present.has(spelling));
    const value = name && present.get(name);
    if (!name || !value) continue;
    names.set(variable, name);
    values[variable] = value;
  }
  const result = environment.safeParse(values);
  if (result.success) return { settings: result.data, nameOf: (variable) => names.get(variable) };
  const problems = new Map<string, ConfigError>();
  for (const { path: [key], message } of result.error.issues) {
    const variable = String(key);
    if (!problems.has(variable)) problems.set(variable, new ConfigError(names.get(variable) ?? variable, message));
  }
  throw ConfigError.all([...problems.values()]);
}

/** The names of the settings, as this environment spells them. */
export function settingNames(env: Environment): string[] {
  const known = new Set(
    Object.entries(environment.shape).flatMap(([name, schema]) => [name, ...about.get(schema)?.aliases ?? []]),
  );
  return Object.keys(env).filter((name) => known.has(name.toUpperCase()));
}

function presentVariables(env: Environment): Map<string, string> {
  const present = new Map<string, string>();
  const lowerCaseFirst = Object.entries(env).sort(([a], [b]) =>
    Number(a === a.toUpperCase()) - Number(b === b.toUpperCase())
  );
  for (const [name, value] of lowerCaseFirst) {
    const trimmed = value?.trim();
    if (trimmed) present.set(name.toUpperCase(), trimmed);
  }
  return present;
}
