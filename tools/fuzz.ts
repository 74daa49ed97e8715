import fc from "fast-check";

/** How long each property is tried, ms. */
const TIME_LIMIT_MS = 60_000;

// Loaded before the tests: their properties run on with new random inputs until the time is over, or until one fails.
fc.configureGlobal({ numRuns: Infinity, interruptAfterTimeLimit: TIME_LIMIT_MS, markInterruptAsFailure: false });
