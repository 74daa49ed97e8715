/**
 * Uses the application for hours while what it uses fails, and looks at what it keeps:
 * `deno task bench soak [--minutes N] [--clients N] [--seed N] [--faketime LIBRARY]`. It ends by itself, and with 1 where a
 * row of the verdict is missed.
 */
import { seededRandom } from "@/embedded/archive/catalogue.ts";
import { REDIS_PROGRAM } from "@/tests/redis_server.ts";
import { residentBytes } from "./process_figures.ts";
import { FAULTS } from "@/bench/soak/fault_proxy.ts";
import { descriptorKinds, descriptors, median, type Sample, slope } from "@/bench/soak/samples.ts";
import { NotDone, SoakClient, WrongAnswer } from "@/bench/soak/traffic.ts";
import { LOGIN_MS, SoakWorld } from "@/bench/soak/world.ts";
import { numberOf, toolArguments } from "@/tools/arguments.ts";
import { table } from "./table.ts";

const DEFAULT_MINUTES = 20;
const DEFAULT_CLIENTS = 4;
const SAMPLE_MS = 10_000;
/** Between two requests of a client, ms: the application is in use, not overloaded. */
const PAUSE_MS = 50;
/** Durations of a fault and of the pause after it. In the pause every request has to succeed again. */
const TROUBLE_SECONDS = 20;
const SETTLE_SECONDS = 35;
const CALM_SECONDS = 25;
/** Share of the run that is ignored, since caches fill first. */
const WARM_UP = 0.25;
const CLOCK_STEP_SECONDS = 120;
/** A login has expired by then, also where the clock was late at first or is late now. */
const EXPIRED_MS = LOGIN_MS + 2 * CLOCK_STEP_SECONDS * 1000 + 10_000;
const MAX_SLOPE_MIB = 1;
const MIB = 1024 * 1024;
/** Interval between printed figures, s. */
const TOLD_EVERY_SECONDS = 300;
/** Most messages that are printed of one kind. */
const SHOWN = 10;

const { options } = toolArguments(
  "deno task bench soak [--minutes N] [--clients N] [--seed N] [--faketime LIBRARY]",
  { options: ["minutes", "clients", "seed", "faketime"] },
);
const minutes = numberOf("--minutes", options.minutes, DEFAULT_MINUTES, 0.1);
const clientCount = numberOf("--clients", options.clients, DEFAULT_CLIENTS);
const seed = numberOf("--seed", options.seed, Date.now() % 1_000_000, 0);
const faketime = options.faketime ?? null;
if (REDIS_PROGRAM === null) {
  console.error("redis-server or valkey-server has to be installed");
  Deno.exit(2);
}

const began = performance.now();
const elapsed = () => (performance.now() - began) / 1000;
const samples: Sample[] = [];
const wrong: string[] = [];
/** Failures while nothing goes wrong, and while something does. */
const calmFailures: string[] = [];
const allowedFailures = new Map<string, number>();
const done = new Map<string, number>();
const troubles: string[] = [];
/** The last fault, and the time until which failures are allowed, s; Infinity while the fault lasts. */
let lastTrouble = "";
let troubleUntil = 0;
/** Error lines of the application's log that nothing explains. */
const errors: string[] = [];
/** Error lines that say Redis is away, while it is. */
let allowedErrors = 0;
let looked = 0;
let toldAt = 0;
let isOver = false;
/** Entries of the application's caches, after the warm-up and at the end. */
const caches: string[] = [];
let bytes = 0;

console.log(`${minutes} minutes, ${clientCount} clients, seed ${seed}`);
const world = await SoakWorld.start(faketime);
const { application } = world;
let end = "";
try {
  const clients = Array.from(
    { length: clientCount },
    (_, n) => new SoakClient(application.site, `soak-${n}`, EXPIRED_MS, seededRandom("soak", seed, n)),
  );
  for (const client of clients) await client.begin();
  const sampling = setInterval(sample, SAMPLE_MS);
  const stop = setTimeout(() => isOver = true, minutes * 60_000);
  const warm = setTimeout(noteCaches, minutes * 60_000 * WARM_UP);
  try {
    await Promise.all([makeTrouble(), ...clients.map(use)]);
  } finally {
    clearInterval(sampling);
    clearTimeout(stop);
    clearTimeout(warm);
  }
  await noteCaches();
  bytes = clients.reduce((sum, client) => sum + client.bytes, 0);
} finally {
  lookAtLog();
  end = application.output();
  await world[Symbol.asyncDispose]();
}
report();

async function use(client: SoakClient): Promise<void> {
  while (!isOver) {
    const startedInTrouble = elapsed() < troubleUntil;
    const [what, ending] = client.next();
    try {
      await ending;
      done.set(what, (done.get(what) ?? 0) + 1);
    } catch (error) {
      if (error instanceof WrongAnswer) {
        wrong.push(`${elapsed().toFixed(0)} s, after ${lastTrouble || "no trouble"}, ${what}: ${error.message}`);
        // At once: the log of the application tells more while it is there.
        if (wrong.length <= SHOWN) console.log(wrong.at(-1)!.slice(0, 500));
      } else if (!(error instanceof NotDone)) throw error;
      else if (startedInTrouble || elapsed() < troubleUntil) {
        allowedFailures.set(what, (allowedFailures.get(what) ?? 0) + 1);
      } else calmFailures.push(`${elapsed().toFixed(0)} s, ${what}: ${error.message}`);
    }
    await pause(PAUSE_MS);
  }
}

/** One trouble after the other, and calm in between. The last minute is calm. */
async function makeTrouble(): Promise<void> {
  const kinds = [...FAULTS, "restart of Redis", "restart of the store and the API server", "clock"] as const;
  const lastAt = minutes * 60 - SETTLE_SECONDS - CALM_SECONDS;
  for (let n = 0; !isOver; n++) {
    await pause(CALM_SECONDS * 1000);
    if (elapsed() > lastAt - TROUBLE_SECONDS) return;
    const kind = kinds[n % kinds.length];
    lastTrouble = kind;
    troubleUntil = Infinity;
    if (await trouble(kind)) troubles.push(kind);
    troubleUntil = elapsed() + SETTLE_SECONDS;
    await pause(SETTLE_SECONDS * 1000);
  }
}

async function trouble(kind: string): Promise<boolean> {
  const fault = FAULTS.find((one) => one === kind);
  if (fault !== undefined) {
    for (const proxy of world.proxies) proxy.fault = fault;
    await pause(TROUBLE_SECONDS * 1000);
    for (const proxy of world.proxies) proxy.fault = null;
    return true;
  }
  if (kind === "restart of Redis") await world.restartRedis();
  else if (kind !== "clock") await world.restartServers();
  else {
    const sign = troubles.filter((one) => one === "clock").length % 2 === 0 ? 1 : -1;
    if (!(await world.stepClock(sign * CLOCK_STEP_SECONDS))) return false;
    await pause(TROUBLE_SECONDS * 1000);
    await world.stepClock(0);
  }
  return true;
}

function sample(): void {
  lookAtLog();
  const heaps = [...application.output().slice(-2_000_000).matchAll(/^\{"soak":\{"heapUsed":(\d+),/gm)];
  samples.push({
    at: elapsed(),
    heap: Number(heaps.at(-1)?.[1] ?? NaN),
    resident: residentBytes(application.pid),
    descriptors: descriptors(application.pid),
  });
  const { at, heap, resident } = samples.at(-1)!;
  if (at < toldAt + TOLD_EVERY_SECONDS) return;
  toldAt = at;
  console.log(
    `${(at / 60).toFixed(0)} min: heap ${(heap / MIB).toFixed(1)} MiB, resident ${(resident / MIB).toFixed(1)} MiB, ` +
      `descriptors ${
        descriptorKinds(application.pid)
      }; ${wrong.length} wrong, ${calmFailures.length} failed, ${errors.length} errors`,
  );
}

/** Looks at the whole lines of the application's log since the last look. */
function lookAtLog(): void {
  const output = application.output();
  const end = output.lastIndexOf("\n") + 1;
  for (const line of output.slice(looked, end).match(/^.*"level":"error".*$/gm) ?? []) {
    const isRedisAway = lastTrouble === "restart of Redis" &&
      line.includes("The events of other replicas are not received");
    if (isRedisAway && elapsed() < troubleUntil + SAMPLE_MS / 1000) allowedErrors++;
    else errors.push(`${elapsed().toFixed(0)} s, after ${lastTrouble || "no trouble"}: ${line}`);
  }
  looked = end;
}

async function noteCaches(): Promise<void> {
  const text = await (await fetch(`${world.metrics}metrics`)).text();
  const sizes = [...text.matchAll(/^stackroom_cache_(?:entries|bytes)\{cache="([^"]+)"\} (\S+)/gm)];
  caches.push(sizes.map(([, cache, size]) => `${cache} ${size}`).join(", "));
}

function report(): void {
  const warm = samples.filter(({ at, heap }) => at > minutes * 60 * WARM_UP && !Number.isNaN(heap));
  const perTenMinutes = (figure: "heap" | "resident") =>
    slope(warm.map((one) => [one.at / 600, one[figure] / MIB] as const));
  const third = Math.floor(warm.length / 3);
  const [first, last] = [warm.slice(0, third), warm.slice(-third)].map((part) =>
    median(part.map(({ descriptors }) => descriptors))
  );
  const uncaught = end.match(/^.*Uncaught.*$/gm) ?? [];
  const [heap, resident] = [perTenMinutes("heap"), perTenMinutes("resident")];
  const range = (figure: "heap" | "resident") =>
    [warm.at(0), warm.at(-1)].map((one) => ((one?.[figure] ?? NaN) / MIB).toFixed(1)).join(" to ");
  const quarters = Array.from({ length: 4 }, (_, n) => {
    const part = samples.slice(Math.floor(samples.length * n / 4), Math.floor(samples.length * (n + 1) / 4));
    return [part.map(({ heap }) => heap), part.map(({ resident }) => resident)].map((all) =>
      (median(all) / MIB).toFixed(1)
    );
  });
  console.log(
    `medians by quarter, MiB: heap ${quarters.map(([heap]) => heap).join(", ")}; ` +
      `resident ${quarters.map(([, resident]) => resident).join(", ")}`,
  );
  console.log(`caches: ${caches.join(" -> ")}`);
  const rows = [
    ["heap after collection", `${heap.toFixed(2)} MiB in 10 minutes (${range("heap")})`, heap < MAX_SLOPE_MIB],
    ["resident memory", `${resident.toFixed(2)} MiB in 10 minutes (${range("resident")})`, resident < MAX_SLOPE_MIB],
    ["descriptors", `${first} in the first third, ${last} in the last`, last <= first + 5],
    ["unhandled rejections", String(uncaught.length), uncaught.length === 0],
    [
      "log lines with level error",
      `${errors.length}, and ${allowedErrors} while Redis was away`,
      errors.length === 0,
    ],
    ["requests done", String([...done.values()].reduce((sum, count) => sum + count, 0)), done.size > 0],
    ["troubles", String(troubles.length), troubles.length > 0],
    ["wrong answers", String(wrong.length), wrong.length === 0],
    ["failures while nothing was wrong", String(calmFailures.length), calmFailures.length === 0],
  ] as const;
  for (const messages of [calmFailures, uncaught, errors]) {
    for (const message of messages.slice(0, SHOWN)) console.log(message.slice(0, 500));
  }
  const counts = (map: ReadonlyMap<string, number>) => [...map].map(([what, count]) => `${what} ${count}`).join(", ");
  console.log(`done: ${counts(done)}; ${Math.round(bytes / MIB)} MiB compared`);
  console.log(`failed in time of trouble: ${counts(allowedFailures)}`);
  console.log(
    `troubles: ${counts(new Map([...Map.groupBy(troubles, (one) => one)].map(([one, all]) => [one, all.length])))}`,
  );
  console.log(`requests that met faults: ${JSON.stringify(world.proxies.map(({ met }) => met))}`);
  console.log(
    table([["what", "found", "holds"], ...rows.map(([what, found, holds]) => [what, found, holds ? "yes" : "NO"])]),
  );
  Deno.exit(rows.every(([, , holds]) => holds) ? 0 : 1);
}

function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
