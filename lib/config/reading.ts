import { ConfigError } from "@/lib/std/start_errors.ts";
import type { TextSource } from "./setting_values.ts";
import { about, environment, type Role, type Settings, type VariableName } from "./variables.ts";

/** Environment variables as the process has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The facts about the disk that the settings depend on. */
export interface Files {
  /** Whether something is at that path. */
  exists(path: string): boolean;
  /** The text of a file, or null where it cannot be read. */
  read(path: string): string | null;
}

/** Variables whose value is a text. */
type TextVariable = { [V in VariableName]: Settings[V] extends string | undefined ? V : never }[VariableName];

/** Variables that name a file, or hold its text. */
type SourceVariable = { [V in VariableName]: Settings[V] extends TextSource | undefined ? V : never }[VariableName];

/** The parsed settings while the rules between them are applied. */
export class Reading {
  readonly settings: Settings;
  readonly files: Files;
  readonly roles: ReadonlySet<Role>;
  /** The user's folder, or null. */
  readonly home: string | null;
  readonly embedded: {
    readonly store: boolean;
    readonly cluster: boolean;
    readonly any: boolean;
    /** Whether embedded parts have samples, whose passwords are public. */
    readonly samples: boolean;
  };
  /** Lines that the start prints. */
  readonly warnings: string[] = [];
  /** Under which name each variable was set. */
  readonly #names: ReadonlyMap<string, string>;
  readonly #problems: ConfigError[] = [];

  /** @throws {ConfigError} for all bad values, each under the name by which it was set */
  constructor(env: Environment, files: Files) {
    const { settings, names } = readSettings(env);
    this.settings = settings;
    this.#names = names;
    this.files = files;
    this.home = env.HOME || env.USERPROFILE || null;
    const { ROLES, EMBEDDED, EMBEDDED_SAMPLES } = settings;
    this.roles = new Set(ROLES);
    this.embedded = {
      store: EMBEDDED === "on" || EMBEDDED === "store",
      cluster: EMBEDDED === "on" || EMBEDDED === "cluster",
      any: EMBEDDED !== "off",
      samples: EMBEDDED !== "off" && EMBEDDED_SAMPLES,
    };
  }

  isSet(variable: VariableName): boolean {
    return this.#names.has(variable);
  }

  /** A value without which the start ends; an empty one stands for it while further problems are looked for. */
  required(variable: TextVariable, wayOut: string): string {
    const value = this.settings[variable];
    if (value === undefined) this.report(variable, `is required: ${wayOut}`);
    return value ?? "";
  }

  /**
   * A part of the configuration. Where a rule in it rejects a setting there is none, and reading goes on to find all
   * other problems: {@link refuseProblems} is what ends it.
   */
  part<T>(read: () => T): T {
    try {
      return read();
    } catch (error) {
      // Errors after a reported problem may be consequences of it.
      if (this.#problems.length === 0) throw error;
      return undefined as T;
    }
  }

  /** @throws {ConfigError} that names all problems that were found */
  refuseProblems(): void {
    if (this.#problems.length > 0) throw ConfigError.all(this.#problems);
  }

  /** A text, or null where its variable is unset. @throws {ConfigError} when its file is missing */
  textSource(variable: SourceVariable): TextSource | null {
    const source = this.settings[variable];
    if (source !== undefined && "path" in source) this.existingFile(variable, source.path);
    return source ?? null;
  }

  /** The path that a variable gives, or null where it is unset. @throws {ConfigError} when there is no such file */
  existingFile(variable: VariableName, path: string | undefined): string | null {
    if (path !== undefined && !this.files.exists(path)) {
      this.refuse(variable, `there is no file ${JSON.stringify(path)}; correct the path or unset the variable`);
    }
    return path ?? null;
  }

  /** @throws {ConfigError} about the second of two variables when both are set */
  onlyOne(first: VariableName, second: VariableName): void {
    if (!this.isSet(first) || !this.isSet(second)) return;
    this.refuse(second, `contradicts ${this.#names.get(first)}: unset one of the two`);
  }

  /** @throws {ConfigError} about the missing one of two variables that belong together */
  bothOrNeither(first: VariableName, second: VariableName): void {
    if (this.isSet(first) === this.isSet(second)) return;
    const [missing, given] = this.isSet(first) ? [second, first] : [first, second];
    this.refuse(missing, `is required: ${given} is set; set both or neither`);
  }

  /** The path of a file of certificates. @throws {ConfigError} when it is missing or holds none */
  certificateFile(variable: VariableName, given: string | undefined): string | null {
    const path = this.existingFile(variable, given);
    if (path === null) return null;
    const text = this.files.read(path);
    if (text === null) {
      this.refuse(variable, `${JSON.stringify(path)} cannot be read: make it a file that this account may read`);
    }
    if (!text.includes("-----BEGIN CERTIFICATE-----")) {
      this.refuse(variable, `${JSON.stringify(path)} holds no PEM certificate; correct the path or unset the variable`);
    }
    return path;
  }

  warn(variable: VariableName, text: string): void {
    this.warnings.push(`${this.#names.get(variable) ?? variable}: ${text}`);
  }

  /** Adds a problem that ends the start once all settings were checked. */
  report(variable: VariableName, problem: string): ConfigError {
    const error = new ConfigError(this.#names.get(variable) ?? variable, problem);
    this.#problems.push(error);
    return error;
  }

  /** Reports a required setting like {@link report}. @throws {ConfigError} */
  refuse(variable: VariableName, problem: string): never {
    throw this.report(variable, problem);
  }
}

/**
 * Reads the variables that the schema knows. Names compare without case (the upper-case spelling wins), an empty value
 * is an unset one, a variable's own name wins over its aliases. A text comes from a file or from its variable, not both.
 */
function readSettings(env: Environment): { readonly settings: Settings; readonly names: ReadonlyMap<string, string> } {
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
  if (result.success && problems.size === 0) return { settings: result.data, names };
  for (const { path: [key], message } of result.error?.issues ?? []) {
    const variable = String(key);
    if (!problems.has(variable)) problems.set(variable, new ConfigError(names.get(variable) ?? variable, message));
  }
  throw ConfigError.all([...problems.values()]);
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
