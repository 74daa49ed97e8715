import type { RequestLog } from "./access_log.ts";
import type { Exchange } from "./exchange.ts";
import { renderError } from "./render_error.ts";

/** Answers a request, or throws what {@link renderError} makes an answer of. */
export type Handler = (exchange: Exchange) => Promise<Response>;

/** Something around a handler: it may answer itself, refuse by throwing, or change what comes back. */
export type Step = (exchange: Exchange, next: Handler) => Promise<Response>;

/** A handler with steps around it, the outermost first. They are put together once, not for each request. */
export function around(steps: readonly Step[], handler: Handler): Handler {
  return steps.reduceRight<Handler>((next, step) => (exchange) => step(exchange, next), handler);
}

/** Makes answers of errors, so that the steps further out see answers only. */
export function errorsAnswered(log: RequestLog): Step {
  return async function errorsAnswered(exchange, next) {
    try {
      return await next(exchange);
    } catch (error) {
      return renderError(error, exchange, log);
    }
  };
}
