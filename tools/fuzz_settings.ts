import fc, { type RunDetails } from "fast-check";

const seed = Deno.env.get("FUZZ_SEED");

// Loaded before the tests: their properties run on with new random inputs until the time is over, or until one fails.
fc.configureGlobal({
  numRuns: Infinity,
  interruptAfterTimeLimit: Number(Deno.env.get("FUZZ_SECONDS")) * 1000,
  markInterruptAsFailure: false,
  reporter: report,
  ...seed ? { seed: Number(seed) } : {},
});

function report(details: RunDetails<unknown>): void {
  console.log(`${details.numRuns} executions, --seed=${details.seed}`);
  const message = fc.defaultReportMessage(details);
  if (message !== undefined) throw new Error(message, { cause: details.errorInstance });
}
