/** Measures the parts that are named, or all: `deno task bench [PART or PART.MEASURE …]`. Figures of one run are for each other. */
import { campaignMeasures } from "./campaigns.ts";
import { gatewayMeasures } from "./gateway.ts";
import { listPageMeasures } from "./list_page.ts";
import { logPageMeasures } from "./log_page.ts";
import { storeMeasures } from "./store.ts";
import { viewerMeasures } from "./viewer.ts";
import { taskMeasures } from "./tasks.ts";
import { uploadMeasures } from "./uploads.ts";

/** What can be measured: each measure gives a table. */
const PARTS: Readonly<Record<string, readonly (() => Promise<string>)[]>> = {
  store: storeMeasures,
  gateway: gatewayMeasures,
  campaigns: campaignMeasures,
  viewer: viewerMeasures,
  list: listPageMeasures,
  log: logPageMeasures,
  tasks: taskMeasures,
  uploads: uploadMeasures,
};

const asked = Deno.args.length > 0 ? Deno.args : Object.keys(PARTS);
for (const name of asked) {
  const [part, measure] = name.split(".");
  const chosen = PARTS[part]?.filter((one) => !measure || one.name.toLowerCase().includes(measure.toLowerCase()));
  if (!chosen || chosen.length === 0) {
    console.error(`no part ${name}: ${Object.keys(PARTS).join(", ")}, or one measure of it, as store.puts`);
    Deno.exit(2);
  }
  for (const one of chosen) console.log(`\n${await one()}`);
}
