import { ConfigError } from "./errors.ts";
import type { Given } from "./read_settings.ts";
import type { Role, Settings, VariableName } from "./variables.ts";

/** What the settings need to know of the disk. */
export interface Files {
  /** Whether something is at that path. */
  exists(path: string): boolean;
  /** The text of a file, or null where it cannot be read. */
  read(path: string): string | null;
}

/** The parsed settings while the rules between them are applied. */
export class Reading {
  readonly settings: Settings;
  readonly roles: ReadonlySet<Role>;
  readonly embedded: { readonly store: boolean; readonly cluster: boolean; readonly any: boolean };
  /** Lines that the start prints. */
  readonly warnings: string[] = [];

  constructor(private readonly given: Given, readonly files: Files) {
    this.settings = given.settings;
    const { ROLES, EMBEDDED } = given.settings;
    this.roles = new Set(ROLES);
    this.embedded = {
      store: EMBEDDED === "on" || EMBEDDED === "store",
      cluster: EMBEDDED === "on" || EMBEDDED === "cluster",
      any: EMBEDDED !== "off",
    };
  }

  isSet(variable: VariableName): boolean {
    return this.given.nameOf(variable) !== undefined;
  }

  /** A value without which the start ends. */
  required<V extends VariableName>(variable: V, wayOut: string): NonNullable<Settings[V]> {
    return this.settings[variable] ?? this.refuse(variable, `is required: ${wayOut}`);
  }

  /** The path of a file that must be there, or null where the variable is unset. */
  existingFile(variable: "CA_FILE" | "GATEWAY_USERS_FILE"): string | null {
    const path = this.settings[variable];
    if (path !== undefined && !this.files.exists(path)) {
      this.refuse(variable, `there is no file ${JSON.stringify(path)}; correct the path or unset the variable`);
    }
    return path ?? null;
  }

  /** The path of a file of certificates. @throws {ConfigError} when it is missing or holds none */
  certificateFile(variable: "CA_FILE"): string | null {
    const path = this.existingFile(variable);
    if (path !== null && !this.files.read(path)?.includes("-----BEGIN CERTIFICATE-----")) {
      this.refuse(variable, `${JSON.stringify(path)} holds no PEM certificate; correct the path or unset the variable`);
    }
    return path;
  }

  warn(variable: VariableName, text: string): void {
    this.warnings.push(`${this.given.nameOf(variable) ?? variable}: ${text}`);
  }

  refuse(variable: VariableName, problem: string): never {
    throw new ConfigError(this.given.nameOf(variable) ?? variable, problem);
  }
}
