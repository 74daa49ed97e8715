/**
 * Measures the named parts: `deno task bench PART` or `PART.MEASURE`. Without a name it measures all of them, each within
 * its time, and ends with one table of the targets. Compare figures of one run only. The name of a trial, such as
 * `deno task bench crash 50`, starts that program with the arguments after it.
 */
import { fileURLToPath } from "node:url";

import { measureChunkedConnections } from "@/bench/gateway/chunked_connections.ts";
import { measureComputed } from "@/bench/gateway/computed.ts";
import { measureSmall } from "@/bench/gateway/handed_on.ts";
import { measurePages } from "@/bench/gateway/record_pages.ts";
import { measureStreams } from "@/bench/gateway/streams.ts";
import { measureUnknownLengths } from "@/bench/gateway/unknown_lengths.ts";
import { measureListings } from "@/bench/store/listing.ts";
import { measurePuts } from "@/bench/store/puts.ts";
import { measureStreams as measureStoreStreams } from "@/bench/store/streams.ts";
import { measureCounts } from "@/bench/tasks/counts.ts";
import { measureDeletes } from "@/bench/tasks/deletes.ts";
import { measureZips } from "@/bench/tasks/zips.ts";
import { refuseArguments } from "@/tools/arguments.ts";
import { runBounded } from "./bounded_run.ts";
import { campaignMeasures } from "./campaigns.ts";
import { listPageMeasures } from "./list_page.ts";
import { logPageMeasures } from "./log_page.ts";
import { viewerMeasures } from "./viewer.ts";
import { uploadMeasures } from "./uploads.ts";
import { notedVerdicts } from "./table.ts";

/** The parts; each measure returns a table. */
const PARTS: Readonly<Record<string, readonly (() => Promise<string>)[]>> = {
  store: [measureListings, measurePuts, measureStoreStreams],
  gateway: [
    measureSmall,
    measureComputed,
    measurePages,
    measureStreams,
    measureUnknownLengths,
    measureChunkedConnections,
  ],
  campaigns: campaignMeasures,
  viewer: viewerMeasures,
  list: listPageMeasures,
  log: logPageMeasures,
  tasks: [measureCounts, measureDeletes, measureZips],
  uploads: uploadMeasures,
};

/** Programs of this folder that put the application under stress for minutes. */
const TRIALS = ["crash", "faults", "siege", "soak", "overload"];

/** The longest that all measures may take together, s. */
const ALL_SECONDS = 14 * 60;
/** Long measures, the shortest first. They run last and share the time that the others leave. */
const LONG = [
  "gateway.measureComputed",
  "uploads.measureSmallFiles",
  "store.measureStreams",
  "tasks.measureDeletes",
  "gateway.measureStreams",
  "uploads.measureLargeFile",
  "viewer.measureViewer",
  "tasks.measureCounts",
];

const [first, ...rest] = Deno.args;
if (TRIALS.includes(first)) {
  const program = fileURLToPath(new URL(`./${first}.ts`, import.meta.url));
  const { code } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--config", "deno.test.json", "-A", program, ...rest],
  }).spawn().status;
  Deno.exit(code);
}
if (Deno.args.length === 0) {
  const all = Object.entries(PARTS).flatMap(([part, measures]) => measures.map(({ name }) => `${part}.${name}`));
  const measures = all.toSorted((a, b) => LONG.indexOf(a) - LONG.indexOf(b));
  const program = ["run", "--config", "deno.test.json", "-A", fileURLToPath(import.meta.url)];
  const isReached = await runBounded(measures, { seconds: ALL_SECONDS, program });
  Deno.exit(isReached ? 0 : 1);
}
const chosen = Deno.args.map((name) => {
  const [part, measure] = name.split(".");
  const measures = Object.hasOwn(PARTS, part) ? PARTS[part] : [];
  const named = measures.filter((one) => !measure || one.name.toLowerCase().includes(measure.toLowerCase()));
  if (named.length > 0) return named;
  const known = [...Object.keys(PARTS), ...TRIALS].join(", ");
  return refuseArguments(`no part ${name}: ${known}, or one measure of a part, such as store.puts`);
});
for (const measure of chosen.flat()) console.log(`\n${await measure()}`);
const verdicts = Deno.env.get("BENCH_VERDICTS");
if (verdicts) Deno.writeTextFileSync(verdicts, JSON.stringify(notedVerdicts()));
