import type { FunctionComponent, VNode } from "preact";
import type { RequestContext } from "@/lib/http/request_context.ts";

/** Data for the page of a route, as a handler returns it; a Response is sent as it is. */
interface PageResponse<Data> {
  readonly data: Data;
  readonly status?: number;
  readonly headers?: HeadersInit;
}

/** Has the page of the route rendered with data. */
export function page<Data>(data: Data, init: Omit<PageResponse<Data>, "data"> = {}): PageResponse<Data> {
  return { ...init, data };
}

/** A request on its way through middleware and handler. */
export interface Context<State> {
  readonly req: Request;
  /** The address; its path is normalized, unlike that of `info.target`. */
  readonly url: URL;
  /** The dependencies of pages, and what middleware and handlers find out for the page of this request. */
  readonly state: State;
  /** The request as our servers know it: its raw target, its client, its line in the log. */
  readonly info: RequestContext;
  next(): Promise<Response>;
  /** Renders markup within the layouts and the document, as the page of a route is. */
  render(content: VNode, init?: Omit<PageResponse<unknown>, "data">): Response;
}

/** The props of pages, layouts and the document. */
export interface PageProps<Data, State> extends Pick<Context<State>, "req" | "url" | "state" | "info"> {
  readonly data: Data;
  /** The content of a layout or of the document. */
  readonly Component: FunctionComponent;
}

type Responds<Data, State> = (
  ctx: Context<State>,
) => Response | PageResponse<Data> | Promise<Response | PageResponse<Data>>;

/** A function for each method that a route knows; GET answers HEAD too. */
type Handlers<Data, State> = { readonly [Method in "GET" | "POST"]?: Responds<Data, State> };

export type Middleware<State> = (ctx: Context<State>) => Response | Promise<Response>;

/** The exports of a route. */
export interface RouteModule<State> {
  // deno-lint-ignore no-explicit-any
  readonly handler?: Handlers<any, State>;
  // deno-lint-ignore no-explicit-any
  readonly default?: FunctionComponent<PageProps<any, State>>;
  readonly config?: { readonly skipInheritedLayouts?: boolean };
}

type DataOf<Handler> = Handler extends { readonly GET: (...args: never[]) => infer Answer }
  ? Exclude<Awaited<Answer>, Response> extends { readonly data: infer Data } ? Data : never
  : undefined;

/** Functions that give the parts of a route their types, and return them as they are. */
export function createDefine<State>() {
  return {
    // deno-lint-ignore no-explicit-any
    handlers: <Handler extends Handlers<any, State>>(handler: Handler): Handler => handler,
    page: <Handler = undefined>(Page: FunctionComponent<PageProps<DataOf<Handler>, State>>) => Page,
    layout: (Layout: FunctionComponent<PageProps<unknown, State>>) => Layout,
    middleware: (middleware: Middleware<State>): Middleware<State> => middleware,
  };
}
