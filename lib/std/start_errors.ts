/**
 * Settings that end the start. The message has one line for each: the variable's name, what is wrong, and the way out;
 * never a secret.
 */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(
    /** The first variable as it was set, or its own name where it is missing. */
    readonly variable: string,
    problem: string,
  ) {
    super(`${variable}: ${problem}`);
  }

  /** One error for all of these, so that an operator mends them in one go. There is at least one. */
  static all(errors: readonly ConfigError[]): ConfigError {
    const [first] = errors;
    if (errors.length > 1) first.message = errors.map(({ message }) => message).join("\n");
    return first;
  }
}

/** Raised when the data folder cannot be used; the message is one line that names the folder and the way out. */
export class DataFolderError extends Error {
  override name = "DataFolderError";
}
