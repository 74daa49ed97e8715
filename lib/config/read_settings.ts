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
 * is an unset one, a variable's own name wins over its aliases. A text comes from a file or from its variable, not both.
 *
 * @throws {ConfigError} for all bad values, each under the name by which it was set.
 */
export function readSettings(env: Environment): Given {
  const present = presentVariables(env);
  const names = new Map<string, string>();
  const values: Record<string, string | { text: string }> = {};
  const problems = new Map<string, ConfigError>();
  for (const [variable, schema] of Object.entries(environment.shape)) {
    const { aliases = [], content } = about.get(schema) ?? {};
    const name = [variable, ...aliases].find((spelling) => present.has(spelling));
    if (name) {
      names.set(variable, name);
      values[variable] = present.get(name)!;
    }
    if (!content || !present.has(content)) continue;
    if (name) problems.set(variable, new ConfigError(content, `contradicts ${name}: unset one of the two`));
    names.set(variable, content);
    values[variable] = { text: present.get(content)! };
  }
  const result = environment.safeParse(values);
  if (result.success && problems.size === 0) {
    return { settings: result.data, nameOf: (variable) => names.get(variable) };
  }
  for (const { path: [key], message } of result.error?.issues ?? []) {
    const variable = String(key);
    if (!problems.has(variable)) problems.set(variable, new ConfigError(names.get(variable) ?? variable, message));
  }
  throw ConfigError.all([...problems.values()]);
}

/** The names of the settings, as this environment spells them. */
export function settingNames(env: Environment): string[] {
  const known = new Set(
    Object.entries(environment.shape).flatMap(([name, schema]) => {
      const { aliases = [], content } = about.get(schema) ?? {};
      return [name, ...aliases, ...content ? [content] : []];
    }),
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
