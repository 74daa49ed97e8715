import { z } from "zod";

/** The parts that a process may play. */
export const ROLES = ["gateway", "web", "results"] as const;
export type Role = (typeof ROLES)[number];

/** Where a variable stands in the documentation. */
export const SECTIONS = [
  "Process",
  "Embedded parts",
  "Gateway",
  "Store",
  "Campaign web front",
  "Results",
  "Notifications",
  "Audit trail",
] as const;

/** What is known of a variable beside its kind and its default. */
export interface About {
  readonly section: (typeof SECTIONS)[number];
  /** The roles that read it; absent: every process. */
  readonly roles?: readonly Role[];
  /** Other names, the first one set counts; the variable's own name wins over all of them. */
  readonly aliases?: readonly string[];
  readonly meaning: string;
  /** The variable that may hold the text itself, where this one is the path of its file. */
  readonly content?: string;
  /** What holds where it is unset and the schema has no fixed default. */
  readonly otherwise?: string;
  /** Its value never appears in a message. */
  readonly secret?: true;
  /** It says which store is used or how it is reached: an error beside an embedded store. */
  readonly store?: true;
}

/** Facts about every variable, by its schema. */
export const about = z.registry<About>();

type Further = Partial<Omit<About, "section" | "meaning">>;

/** Returns what describes the variables of one section. What they have in common, a variable's own facts may replace. */
export function section(name: About["section"], common: Further = {}) {
  return function described<S extends z.ZodType>(schema: S, meaning: string, further: Further = {}): S {
    about.add(schema, { section: name, ...common, meaning, ...further });
    return schema;
  };
}
