import { z } from "zod";
import { accessLog, type App, defaultHeaders, httpApp, type RequestLog } from "@/lib/http/app.ts";
import { unavailable } from "@/lib/http/errors.ts";
import { type Operation, publicOperation } from "@/lib/http/operation.ts";
import { readWithin } from "@/lib/std/timing.ts";

const TAG = "Health";
/** How long a probe's result is shown, so that open probes cannot be turned against an upstream. */
const PROBE_LIFETIME_MS = 2000;
/** The same for a result that is not ready: what waits for a start, or for an upstream's return, goes on soon after it. */
const NOT_READY_LIFETIME_MS = 100;
/**
 * How long an upstream is waited for: more than the probes of stores, whose bound is 5 s, and less than what one of a cluster
 * may take. What hangs without a bound, such as a disk, must not hold back the others' states.
 */
const PROBE_MS = 6000;
const LATE = { state: "no answer", ready: false } as const;

/** Paths that the access log leaves out. */
export const PROBE_PATHS: ReadonlySet<string> = new Set(["/healthz", "/readyz", "/liveness", "/readiness", "/health"]);

/** One upstream that readiness probes: its name in `checks`, the word for its state, and whether that is ready. */
export interface ReadinessCheck {
  readonly name: string;
  readonly probe: () => Promise<{ readonly state: string; readonly ready: boolean }>;
}

/** The check of an upstream that is reachable or not; the probe of a store has more words for what it is not. */
export function reachability(name: string, probe: () => Promise<boolean | string>): ReadinessCheck {
  return {
    name,
    async probe() {
      const found = await probe();
      const state = typeof found === "string" ? found : found ? "reachable" : "unreachable";
      return { state, ready: state === "reachable" };
    },
  };
}

/** The state of each upstream, by its name. */
const checkStates = z.record(z.string(), z.string());
const state = z.object({ ok: z.boolean() });
const readiness = z.object({ status: z.enum(["ready", "not ready"]), checks: checkStates }).meta({ id: "Readiness" });
const ready = z.object({ ok: z.boolean(), checks: checkStates }).meta({ id: "Ready" });
const alive = z.object({ status: z.literal("ok") }).meta({ id: "Alive" });
const health = z.object({ status: z.literal("ok"), cache: z.literal("disabled") }).meta({ id: "Health" });

/** The probes of every role, and those that clients of the gateway use. Open to all callers and not logged. */
export function healthOperations(
  checks: readonly ReadinessCheck[],
  now: () => number,
  probeMs: number = PROBE_MS,
): Operation[] {
  const bounded = checks.map(({ name, probe }) => {
    const inTime = readWithin(probeMs, probe);
    return { name, probe: async () => await inTime() ?? LATE };
  });
  const probeUpstreams = shared(() => probeAll(bounded), now);
  const live = (id: string, summary: string, schema: z.ZodType, body: object) =>
    publicOperation({
      id,
      method: "GET",
      path: `/${id}`,
      tag: TAG,
      summary,
      responses: { 200: { description: "The process is alive", schema } },
      handler: (_input) => Response.json(body),
    });
  const upstreams = (id: string, schema: z.ZodType, bodyOf: (probed: Probed) => object) =>
    publicOperation({
      id,
      method: "GET",
      path: `/${id}`,
      tag: TAG,
      summary: "Check whether the process and its upstreams respond",
      responses: {
        200: { description: "The process is ready", schema },
        503: { description: "An upstream does not respond", schema },
      },
      async handler(_input) {
        const probed = await probeUpstreams();
        return Response.json(bodyOf(probed), { status: probed.ready ? 200 : 503 });
      },
    });
  return [
    live("healthz", "The process is alive", state, { ok: true }),
    upstreams("readyz", ready, ({ ready, states }) => ({ ok: ready, checks: states })),
    live("liveness", "The process is alive", alive, { status: "ok" }),
    upstreams("readiness", readiness, ({ ready, states }) => ({
      status: ready ? "ready" : "not ready",
      checks: { ...states, cache: "disabled" },
    })),
    live("health", "Check whether the process is alive (older form)", health, { status: "ok", cache: "disabled" }),
  ];
}

interface Probed {
  readonly ready: boolean;
  readonly states: Record<string, string>;
}

async function probeAll(checks: readonly ReadinessCheck[]): Promise<Probed> {
  const results = await Promise.all(checks.map(async ({ name, probe }) => ({ name, ...await probe() })));
  return {
    ready: results.every(({ ready }) => ready),
    states: Object.fromEntries(results.map(({ name, state }) => [name, state])),
  };
}

/**
 * One round of probes at a time: callers share the one under way, which ends within {@link PROBE_MS}, and then its result until that
 * is too old.
 */
function shared(probe: () => Promise<Probed>, now: () => number): () => Promise<Probed> {
  let last: { readonly result: Promise<Probed>; until: number } | undefined;
  return function call() {
    if (last && now() < last.until) return last.result;
    const result = probe();
    const current = last = { result, until: Infinity };
    result.then(
      ({ ready }) => current.until = now() + (ready ? PROBE_LIFETIME_MS : NOT_READY_LIFETIME_MS),
      () => current.until = -Infinity,
    );
    return result;
  };
}

/** The response in place of those of the application. */
interface UnavailableOptions {
  /** Why, in one sentence that callers read. */
  readonly detail: string;
  readonly retryAfterSeconds: number;
  /** How many proxies in front of this process are ours: the log names the client. */
  readonly trustedHops: number;
  readonly log: RequestLog;
}

/**
 * Returns 503 for every request while there is no application: before its start is done, and once it stops. Request id,
 * headers and log line are those of every other response.
 */
export function unavailableApp({ detail, retryAfterSeconds, trustedHops, log }: UnavailableOptions): App {
  const app = httpApp({ log, trustedHops });
  app.use(defaultHeaders, accessLog(log, { silent: PROBE_PATHS }));
  app.all("*", () => {
    throw unavailable(detail, retryAfterSeconds);
  });
  return app;
}
