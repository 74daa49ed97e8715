/** The application; it collects garbage and prints its heap size to standard error. */
import v8 from "node:v8";
import vm from "node:vm";

const EVERY_MS = 10_000;

v8.setFlagsFromString("--expose-gc");
const collect: () => void = vm.runInNewContext("gc");

Deno.unrefTimer(setInterval(() => {
  collect();
  const { heapUsed, external } = Deno.memoryUsage();
  console.error(JSON.stringify({ soak: { heapUsed, external } }));
}, EVERY_MS));

await import("../../main.ts");
