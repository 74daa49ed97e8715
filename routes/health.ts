import { z } from "zod";
import { type Operation, publicOperation } from "@/lib/http/operation.ts";
import { deadline } from "@/lib/std/deadline.ts";

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

/** The state of each upstream, by its name. */
const checkStates = z.record(z.string(), z.string());
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
  const bound = checks.map((check) => bounded(check, probeMs));
  const probeUpstreams = shared(() => probeAll(bound), now);
  const state = z.object({ ok: z.boolean() });
  return [
    publicOperation({
      id: "healthz",
      method: "GET",
      path: "/healthz",
      tag: TAG,
      summary: "The process is alive",
      responses: { 200: { description: "Alive", schema: state } },
      handler: (_input) => Response.json({ ok: true }),
    }),
    publicOperation({
      id: "readyz",
      method: "GET",
      path: "/readyz",
      tag: TAG,
      summary: "The process and its upstreams answer",
      responses: {
        200: { description: "Ready", schema: ready },
        503: { description: "An upstream does not answer", schema: ready },
      },
      async handler(_input) {
        const { ready, states } = await probeUpstreams();
        return Response.json({ ok: ready, checks: states }, { status: ready ? 200 : 503 });
      },
    }),
    publicOperation({
      id: "liveness",
      method: "GET",
      path: "/liveness",
      tag: TAG,
      summary: "The process is alive",
      responses: { 200: { description: "Alive", schema: alive } },
      handler: (_input) => Response.json({ status: "ok" }),
    }),
    publicOperation({
      id: "readiness",
      method: "GET",
      path: "/readiness",
      tag: TAG,
      summary: "The process and its upstreams answer",
      responses: {
        200: { description: "Ready", schema: readiness },
        503: { description: "An upstream does not answer", schema: readiness },
      },
      async handler(_input) {
        const { ready, states } = await probeUpstreams();
        const status = ready ? "ready" : "not ready";
        return Response.json({ status, checks: { ...states, cache: "disabled" } }, { status: ready ? 200 : 503 });
      },
    }),
    publicOperation({
      id: "health",
      method: "GET",
      path: "/health",
      tag: TAG,
      summary: "The process is alive (older form)",
      responses: { 200: { description: "Alive", schema: health } },
      handler: (_input) => Response.json({ status: "ok", cache: "disabled" }),
    }),
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

/** A check that is waited for so long at most. One that has not ended by then has no other beside it, and no answer. */
function bounded({ name, probe }: ReadinessCheck, ms: number): ReadinessCheck {
  let isUnderWay = false;
  async function single() {
    isUnderWay = true;
    try {
      return await probe();
    } finally {
      isUnderWay = false;
    }
  }
  return {
    name,
    async probe() {
      if (isUnderWay) return LATE;
      const { promise: late, resolve } = Promise.withResolvers<typeof LATE>();
      const release = deadline(ms, () => resolve(LATE));
      try {
        return await Promise.race([single(), late]);
      } finally {
        release();
      }
    },
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
