/** A setting that ends the start. The message is one line: the variable's name, what is wrong, and the way out; never a secret. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";

  constructor(
    /** The variable as it was set, or its first name where it is missing. */
    readonly variable: string,
    problem: string,
  ) {
    super(`${variable}: ${problem}`);
  }
}
