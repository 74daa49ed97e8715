import { z } from "zod";

import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { kinds } from "@/lib/config/setting_values.ts";
import { type About, about, environment, otherwise } from "@/lib/config/variables.ts";
import { wrapped } from "./wrapped.ts";

/** The page docs/configuration.md, printed from the schema that reads the environment. */
export function configurationPage(): string {
  const blocks = [
    "# Configuration",
    "<!-- Printed from lib/config by `deno task docs`; edit it there. -->",
    ...INTRODUCTION.map((block) => block === EXAMPLES ? block : wrapped(block)),
    ...sections().flatMap((section) => [`## ${section}`, table(variableRows(section))]),
    "## Conventions",
    wrapped(CONVENTIONS_TEXT),
    CONVENTIONS_EXAMPLE.join("\n"),
    table(conventionRows()),
    "## Variables that are not read",
    wrapped(NOT_READ_TEXT),
    table([["Variable", "Instead"], ...NOT_READ]),
  ];
  return blocks.join("\n\n") + "\n";
}

const EXAMPLES = [
  "```sh",
  "PORT=9000 DATA_DIR=/srv/stackroom deno task start  # embedded store and cluster, on another port and folder",
  'EMBEDDED=off ROLES=gateway HCP_DOMAIN=store.example.org API_SECRET_KEY="$(cat key)" deno task start  # your store',
  "```",
].join("\n");

const INTRODUCTION = [
  "All settings are environment variables, read once at the start; no `.env` file is read. Without any, one process " +
  "plays all roles with an embedded store and cluster.",
  EXAMPLES,
  "Names are case-insensitive, an empty value counts as unset, and blanks around a value are removed. Each invalid or " +
  "missing value is reported and ends the start.",
  "**Roles** says which roles read, and may require, a variable; empty: every process. Flags are `true` or `false` " +
  "(also `1`, `yes`, `on`, `0`, `no`, `off`).",
  "Variables under **Store**, `RESULTS_S3_*` and `RESULTS_KEY_DERIVATION` describe a store of your own. With the " +
  "embedded store they end the start.",
];

const CONVENTIONS_TEXT =
  "`CAMPAIGN_CONVENTIONS` is the name of a column of this table, or a JSON object with the members to " +
  "change. Its member `preset` names the column to start from. An unknown member ends the start, " +
  "and so do two kinds of Jobs or two field managers with the same name.";

const CONVENTIONS_EXAMPLE = [
  "```sh",
  `CAMPAIGN_CONVENTIONS='{"preset": "htrflow", "defaultNamespace": "batch"}'`,
  "```",
];

const NOT_READ_TEXT = "Deployments of similar services use these names. They have no effect here.";

const NOT_READ: readonly string[][] = [
  ["`CACHE_*`", "no response of the store is cached, also with `REDIS_URL`, so no cache can hide a write"],
  ["`HCP_USERNAME`, `HCP_PASSWORD`", "every call uses the caller's own credentials"],
  ["`ROOT_PATH`", "the paths are fixed; a reverse proxy passes them on unchanged"],
  [
    "`S3_ENDPOINT`, `S3_BUCKET`, `S3_VERIFY_TLS`",
    "`RESULTS_S3_ENDPOINT`, `RESULTS_S3_BUCKET`, `RESULTS_S3_VERIFY_TLS`",
  ],
  ["`OTEL_*`", "read by Deno itself if `OTEL_DENO=true` is set ([operations.md](operations.md#watch-it))"],
  ["`BACKEND_URL`, `COOKIE_SECURE`", "site and API share one origin; cookies follow the browser's scheme"],
];

/** In the order of their first variables. */
function sections(): string[] {
  return [...new Set(Object.values(environment.shape).map((schema) => about.get(schema)?.section ?? ""))];
}

function variableRows(section: string): string[][] {
  const rows = Object.entries(environment.shape).flatMap(([name, schema]) => {
    const facts = about.get(schema);
    return facts?.section === section ? [variableRow(name, schema, facts)] : [];
  });
  return [["Variable", "Roles", "Value", "Default", "Meaning"], ...rows];
}

function variableRow(name: string, schema: z.ZodType, facts: About) {
  const { roles = [], aliases = [], content, meaning, secret } = facts;
  const names = aliases.length > 0
    ? `\`${name}\` (also ${aliases.map((alias) => `\`${alias}\``).join(", ")})`
    : `\`${name}\``;
  const { fallback, inner } = unwrapped(schema);
  const value = (kinds.get(inner)?.text ?? "") + (secret ? " (secret)" : "");
  const instead = content === undefined ? "" : ` Or its text in \`${content}\` (secret).`;
  return [names, roles.join(", "), value, fallback ?? otherwise.get(schema)?.text ?? "", meaning + instead];
}

/** The kind of value below an optional or a default, and the default as one would write it. */
function unwrapped(schema: z.ZodType): { fallback?: string; inner: z.core.$ZodType } {
  if (schema instanceof z.ZodOptional) return { inner: schema.unwrap() };
  if (!(schema instanceof z.ZodDefault)) return { inner: schema };
  return { fallback: `\`${asText(schema.def.defaultValue)}\``, inner: schema.unwrap() };
}

function asText(value: unknown): string {
  return Array.isArray(value) ? value.join(",") : String(value);
}

function conventionRows(): string[][] {
  const { stackroom, htrflow } = CONVENTIONS;
  const members = Object.keys(stackroom) as (keyof typeof stackroom)[];
  return [
    ["Member", "`stackroom` (default)", "`htrflow`"],
    ...members.map((member) => [member, stackroom[member], htrflow[member]].map((cell) => `\`${cell}\``)),
  ];
}

/** A table with columns padded to one width, as the formatter writes it. */
function table(rows: string[][]): string {
  const cells = rows.map((row) => row.map((cell) => cell.replaceAll("|", "\\|")));
  const widths = cells[0].map((_, column) => Math.max(3, ...cells.map((row) => row[column].length)));
  const lines = cells.map((row) => `| ${row.map((cell, column) => cell.padEnd(widths[column])).join(" | ")} |`);
  lines.splice(1, 0, `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`);
  return lines.join("\n");
}
