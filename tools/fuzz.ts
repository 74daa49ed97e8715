/**
 * Tries each property of the parsers of hostile input with new random inputs:
 * `deno task fuzz [NAME or PATH…] [--seconds=60] [--seed=N]`, such as `deno task fuzz headers --seconds=3600`. A path is
 * that of a file or folder of other tests, such as `tests/lib/s3/`: their properties that have a number of runs keep it.
 */
import { numberOf, toolArguments } from "./arguments.ts";

/** How long each property is tried. */
const SECONDS = 60;

/** The targets, and the older properties of the readers of results, which stay where their other tests are. */
const TESTS = [
  "tests/fuzz/",
  "tests/lib/std/xml_scanner_test.ts",
  "tests/lib/pages/alto/",
  "tests/lib/pages/iiif/",
  "tests/lib/pages/log/run_log_test.ts",
  "tests/lib/pages/log/run_manifest_test.ts",
];

const { options, words } = toolArguments("deno task fuzz [NAME or PATH…] [--seconds=60] [--seed=N]", {
  options: ["seconds", "seed"],
  words: Infinity,
});
const seconds = numberOf("--seconds", options.seconds, SECONDS);
const seed = options.seed === undefined ? "" : String(numberOf("--seed", options.seed, 0, -Infinity));
const named = words.map((name) => name.includes("/") ? name : `tests/fuzz/${name}_test.ts`);
const { code } = await new Deno.Command(Deno.execPath(), {
  args: [
    ..."test --config deno.test.json -A --no-check --preload=tools/fuzz_settings.ts".split(" "),
    ...named.length > 0 ? named : TESTS,
  ],
  env: { FUZZ_SECONDS: String(seconds), FUZZ_SEED: seed },
}).spawn().status;
Deno.exit(code);
