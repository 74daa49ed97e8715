import { ROOMS } from "@/tools/import_rules.ts";

/** The printed table stands between these lines of docs/architecture.md. */
export const ROOMS_BEGIN = "<!-- rooms: printed from tools/import_rules.ts by `deno task docs` -->";
export const ROOMS_END = "<!-- end of rooms -->";

/** The rooms, what they hold and what they may import, as a Markdown table that the formatter leaves alone. */
export function roomTable(): string {
  const rows = ROOMS.map(({ room, holds, imports, types }) => [
    `\`${room}${room.endsWith(".ts") ? "" : "/"}\``,
    holds,
    [...imports, ...(types ?? []).map((type) => `${type} (types)`)].join(", ") || "nothing",
  ]);
  const table = [["room", "holds", "may import"], ...rows];
  const widths = [0, 1, 2].map((column) => Math.max(...table.map((row) => row[column].length)));
  const line = (cells: readonly string[]) => `| ${cells.map((cell, i) => cell.padEnd(widths[i])).join(" | ")} |`;
  return [line(table[0]), `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`, ...rows.map(line)].join("\n");
}

/** The page with the table of today between its two lines. */
export function withRoomTable(page: string): string {
  const begin = page.indexOf(ROOMS_BEGIN);
  const end = page.indexOf(ROOMS_END);
  if (begin < 0 || end < begin) throw new Error("docs/architecture.md lacks the lines that enclose the table of rooms");
  const before = page.slice(0, begin + ROOMS_BEGIN.length);
  return `${before}\n\n${roomTable()}\n\n${page.slice(end)}`;
}
