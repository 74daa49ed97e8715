import { handledBy, httpApp, mount, type RequestLog, routesOf, serving } from "@/lib/http/app.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { REQUEST_ID_HEADER } from "@/lib/http/request_context.ts";
import type { GatewayRequest, GatewayService } from "./gateway_service.ts";

interface GatewayOptions {
  readonly log: RequestLog;
  readonly trustedHops: number | undefined;
}

/** The gateway's operations for the web role of this process, without a network between and without a second log line. */
export function inProcessGateway(
  operations: readonly Operation[],
  { log, trustedHops }: GatewayOptions,
): GatewayService {
  const app = httpApp({ log, trustedHops });
  const known = new WeakMap<Request, NonNullable<GatewayRequest["known"]>>();
  app.use(async function reportOperation(c, next) {
    const context = c.get("context");
    await next();
    known.get(context.request)?.(context);
  });
  mount(routesOf(app, handledBy("web")), operations);
  const serve = serving(app);
  return async function inProcessGateway(request, context) {
    const { method, target, body = null, readHere } = request;
    const inner = new Request("http://gateway.internal/", {
      method,
      body,
      redirect: "manual",
      signal: context.request.signal,
    });
    // Set in place, since a Request copies the headers that it is created with.
    for (const [name, value] of request.headers) inner.headers.set(name, value);
    inner.headers.set(REQUEST_ID_HEADER, context.requestId);
    const forwardedFor = context.header("X-Forwarded-For");
    if (forwardedFor !== null) inner.headers.set("X-Forwarded-For", forwardedFor);
    if (request.known) known.set(inner, request.known);
    const { info } = context;
    return await serve(inner, {
      target,
      body: body instanceof Uint8Array ? body : undefined,
      remoteAddr: info?.remoteAddr,
      source: context.source,
      // Slots of such a request are released with its own response, however long the client reads the other one.
      completed: readHere === undefined ? info?.completed : readHere === true ? undefined : readHere,
      breakOff: info?.breakOff?.bind(info),
    });
  };
}
