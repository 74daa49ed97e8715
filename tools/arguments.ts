import { parseArgs } from "node:util";

interface ArgumentRules {
  /** Names of options that have a value, without their dashes. */
  readonly options?: readonly string[];
  /** Most arguments that are no options; none when absent. */
  readonly words?: number;
}

interface ToolArguments {
  /** Values by the names of the options. */
  readonly options: Readonly<Record<string, string | undefined>>;
  readonly words: readonly string[];
}

/** Reads the arguments of a bench or a tool. One that it does not know ends the process with 2 and the usage. */
export function toolArguments(usage: string, { options = [], words = 0 }: ArgumentRules = {}): ToolArguments {
  const types = Object.fromEntries(options.map((name) => [name, { type: "string" as const }]));
  try {
    const { values, positionals } = parseArgs({ args: Deno.args, options: types, allowPositionals: true });
    if (positionals.length <= words) return { options: values, words: positionals };
    return refuseArguments(`Unexpected argument '${positionals[words]}'`, usage);
  } catch (error) {
    return refuseArguments(error instanceof Error ? error.message : String(error), usage);
  }
}

/**
 * A number of an argument or an environment variable. Anything else than a number from `least` ends the process with 2, so
 * that nothing is called done that never ran.
 *
 * @param least 1 when absent
 */
export function numberOf(name: string, text: string | undefined, fallback: number, least = 1): number {
  const number = text === undefined ? fallback : Number(text === "" ? NaN : text);
  return Number.isFinite(number) && number >= least
    ? number
    : refuseArguments(`${name}: '${text}' is not a number of at least ${least}`);
}

/** Ends the process with 2 for arguments that are wrong. */
export function refuseArguments(problem: string, usage?: string): never {
  console.error(usage === undefined ? problem : `${problem}\nUsage: ${usage}`);
  Deno.exit(2);
}
