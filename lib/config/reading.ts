import { ConfigError } from "@/lib/std/config_error.ts";
import type { Given } from "./read_settings.ts";
import type { TextSource } from "./values.ts";
import type { Role, Settings, VariableName } from "./variables.ts";

/** What the settings need to know of the disk. */
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
  readonly roles: ReadonlySet<Role>;
  readonly embedded: {
    readonly store: boolean;
    readonly cluster: boolean;
    readonly any: boolean;
    /** Whether embedded parts have samples, whose passwords are public. */
    readonly samples: boolean;
  };
  /** Lines that the start prints. */
  readonly warnings: string[] = [];
  readonly #problems: ConfigError[] = [];

  constructor(
    private readonly given: Given,
    readonly files: Files,
    /** The user's folder, or null. */
    readonly home: string | null,
  ) {
    this.settings = given.settings;
    const { ROLES, EMBEDDED, EMBEDDED_SAMPLES } = given.settings;
    this.roles = new Set(ROLES);
    this.embedded = {
      store: EMBEDDED === "on" || EMBEDDED === "store",
      cluster: EMBEDDED === "on" || EMBEDDED === "cluster",
      any: EMBEDDED !== "off",
      samples: EMBEDDED !== "off" && EMBEDDED_SAMPLES,
    };
  }

  isSet(variable: VariableName): boolean {
    return this.given.nameOf(variable) !== undefined;
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
      // Behind a problem others may fail that are none themselves.
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
    this.refuse(second, `contradicts ${this.given.nameOf(first)}: unset one of the two`);
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
    this.warnings.push(`${this.given.nameOf(variable) ?? variable}: ${text}`);
  }

  /** Notes a problem that ends the start when everything has been looked at. */
  report(variable: VariableName, problem: string): ConfigError {
    const error = new ConfigError(this.given.nameOf(variable) ?? variable, problem);
    this.#problems.push(error);
    return error;
  }

  /** The same where nothing can be said of the part without this setting. @throws {ConfigError} */
  refuse(variable: VariableName, problem: string): never {
    throw this.report(variable, problem);
  }
}
