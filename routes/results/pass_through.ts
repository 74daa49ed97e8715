import { Hono } from "hono";
import type { RequestLog } from "@/lib/http/access_log.ts";
import { clientIp } from "@/lib/http/client_ip.ts";
import type { HttpEnv } from "@/lib/http/env.ts";
import { RESULTS_PATH } from "@/lib/results/object_keys.ts";
import { passThrough, type PassThroughOptions } from "@/lib/results/pass_through.ts";

export interface PassThroughDeps extends PassThroughOptions {
  readonly log: RequestLog;
}

/** `/results/…` on the web role: everything is the results role's answer. It needs the envelope around it. */
export function passThroughApp(deps: PassThroughDeps): Hono<HttpEnv> {
  const pass = passThrough(deps);
  const app = new Hono<HttpEnv>();
  app.all(`${RESULTS_PATH}*`, (c) => {
    c.set("operation", "results_pass_through");
    const requestId = c.get("requestId");
    return pass(c.req.raw, {
      target: c.get("target"),
      peer: clientIp(c.env),
      requestId,
      // The type alone: what an upstream says of itself may hold anything.
      broken: (error) => deps.log.write({ level: "warn", request_id: requestId, broken_answer: nameOf(error) }),
    });
  });
  return app;
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : typeof error;
}
