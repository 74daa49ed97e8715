import type { RequestLog } from "@/lib/http/access_log.ts";
import { type App, httpApp, routesOf } from "@/lib/http/app.ts";
import { defaultHeaders } from "@/lib/http/default_headers.ts";
import { hostCheck } from "@/lib/http/host_check.ts";
import type { MetricRegistry } from "./registry.ts";

/**
 * The app of the port for metrics: `GET /metrics` and nothing else. Its requests are not logged, since they come often.
 *
 * @param allowedHosts names by which the server is called; null: any
 */
export function metricsApp(registry: MetricRegistry, allowedHosts: readonly string[] | null, log: RequestLog): App {
  const app = httpApp({ log });
  app.use(defaultHeaders);
  if (allowedHosts) app.use(hostCheck(allowedHosts));
  routesOf(app)("/metrics", async (context) => {
    context.mustRead();
    const text = await registry.text();
    return new Response(text, { headers: { "Content-Type": registry.contentType, "Cache-Control": "no-store" } });
  });
  return app;
}
