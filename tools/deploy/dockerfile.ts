/** One instruction of a Dockerfile. */
export interface Instruction {
  /** In capitals, such as `COPY`. */
  readonly name: string;
  /** The values of its flags, such as `from` of `--from=build`. */
  readonly flags: ReadonlyMap<string, string>;
  /** The text behind the flags, on one line. */
  readonly text: string;
}

/** The stage of one `FROM`. */
export interface Stage {
  /** The name behind `AS`; null without one. */
  readonly name: string | null;
  /** An image, `scratch` or the name of a stage before; may hold variables. */
  readonly base: string;
  readonly instructions: readonly Instruction[];
}

export interface Dockerfile {
  /** The default values of arguments before the first stage. */
  readonly args: ReadonlyMap<string, string>;
  readonly stages: readonly Stage[];
}

/**
 * Reads the part of a Dockerfile's syntax that deploy/Dockerfile uses: no here-documents and no escapes but line ends.
 *
 * @throws {Error} for an instruction before the first stage that is not an argument
 */
export function readDockerfile(source: string): Dockerfile {
  const lines = source.split("\n").filter((line) => !/^\s*(#|$)/.test(line)).join("\n").replace(/\\\n\s*/g, " ");
  const args = new Map<string, string>();
  const stages: { name: string | null; base: string; instructions: Instruction[] }[] = [];
  for (const line of lines.trim().split("\n")) {
    const instruction = readInstruction(line);
    const { name, text } = instruction;
    if (name === "FROM") {
      const [base, , stage = null] = text.split(/\s+/);
      stages.push({ name: stage, base, instructions: [] });
    } else if (stages.length > 0) stages[stages.length - 1].instructions.push(instruction);
    else if (name === "ARG") args.set(...assignment(text));
    else throw new Error(`${name} stands before the first FROM`);
  }
  return { args, stages };
}

/** The pairs of an `ENV`, an `ARG` or a `LABEL`; a name without a value has an empty one. */
export function assignments(text: string): [string, string][] {
  return text.split(/\s+/).map(assignment);
}

/** A text with the values of variables in place of `${NAME}`. */
export function filledIn(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\$\{(\w+)\}/g, (_, name) => variables.get(name) ?? "");
}

function readInstruction(line: string): Instruction {
  const [, name, flags, text] = /^\s*(\w+)((?:\s+--\S+)*)\s*(.*?)\s*$/.exec(line)!;
  const words = flags.split(/\s+/).filter((word) => word !== "");
  return { name: name.toUpperCase(), flags: new Map(words.map((word) => assignment(word.slice(2)))), text };
}

function assignment(text: string): [string, string] {
  const end = text.indexOf("=");
  return end < 0 ? [text, ""] : [text.slice(0, end), text.slice(end + 1)];
}
