import { notFound } from "./errors.ts";
import { Exchange } from "./exchange.ts";
import type { RequestInfo } from "./request_info.ts";
import { RouteTable } from "./route_table.ts";
import { around, type Handler, type Step } from "./steps.ts";

/** What answers the requests of a server. */
export interface Application {
  /** Answers a request; pass on what `Deno.serve` tells about it. */
  fetch(request: Request, info?: RequestInfo): Promise<Response>;
  /** The same for tests: a path stands for an address of this machine. */
  request(path: string, init?: RequestInit, info?: RequestInfo): Promise<Response>;
}

/** Adds a handler for the paths that a template of {@link RouteTable} fits. */
export type AddRoute = (template: string, handler: Handler) => void;

/** The handlers of an application by path. */
export class Routes {
  readonly #table = new RouteTable<Handler>();

  /** Adds routes that have these steps around them, the outermost first. */
  within(...steps: readonly Step[]): AddRoute {
    return (template, handler) => this.#table.add(template, around(steps, handler));
  }

  /** The handler for a path; 404 is what an unknown one does. */
  find(path: string): Handler {
    return this.#table.find(path) ?? unknown;
  }
}

/**
 * Puts an application together.
 *
 * @param steps around every answer, the outermost first; one of them makes answers of errors
 * @param trustedHops how many proxies in front of this process are ours
 */
export function application(steps: readonly Step[], routes: Routes, trustedHops = 0): Application {
  const answer = around(steps, (exchange) => routes.find(exchange.target.path)(exchange));
  return {
    fetch: (request, info) => answer(new Exchange(request, info, trustedHops)),
    request: (path, init, info) =>
      answer(new Exchange(new Request(new URL(path, "http://localhost"), init), info, trustedHops)),
  };
}

function unknown(): never {
  throw notFound();
}
