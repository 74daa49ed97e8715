/** `deno task docs [NAME…]`: writes the pages that are printed from the code, or those that are named. */
import { GOLDEN, printed, servedDocument } from "@/tests/docs/openapi_document.ts";
import { refuseArguments, toolArguments } from "./arguments.ts";
import { configurationPage } from "@/tools/docs/config_docs.ts";
import { metricsPage } from "@/tools/docs/metrics_docs.ts";
import { noticesPage } from "@/tools/docs/notices.ts";
import { withRoomTable } from "@/tools/docs/rooms_docs.ts";

const file = (path: string) => new URL(`../${path}`, import.meta.url);
const ARCHITECTURE = file("docs/architecture.md");

const WRITERS: Readonly<Record<string, () => void | Promise<void>>> = {
  config: () => Deno.writeTextFileSync(file("docs/configuration.md"), configurationPage()),
  metrics: () => Deno.writeTextFileSync(file("docs/metrics.md"), metricsPage()),
  rooms: () => Deno.writeTextFileSync(ARCHITECTURE, withRoomTable(Deno.readTextFileSync(ARCHITECTURE))),
  notices: () => Deno.writeTextFileSync(file("THIRD_PARTY_NOTICES.txt"), noticesPage()),
  openapi: async () => Deno.writeTextFileSync(GOLDEN, `${printed(await servedDocument())}\n`),
};

const names = Object.keys(WRITERS);
const { words } = toolArguments(`deno task docs [${names.join(" | ")}]`, { words: names.length });
const unknown = words.find((word) => !names.includes(word));
if (unknown !== undefined) refuseArguments(`no page ${unknown}: ${names.join(", ")}`);
for (const name of words.length > 0 ? words : names) await WRITERS[name]();
