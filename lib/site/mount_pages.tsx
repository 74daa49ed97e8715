import type { FunctionComponent, VNode } from "preact";
import { renderToString } from "preact-render-to-string";
import type { AddRoute } from "@/lib/http/app.ts";
import { compressibleResponse } from "@/lib/http/header_values.ts";
import { methodNotAllowed } from "@/lib/http/errors.ts";
import type { Handler, RequestContext } from "@/lib/http/request_context.ts";
import { type Context, type Middleware, page, type PageProps, type RouteModule } from "./define.ts";
import { languageHeaders } from "./page_language.ts";

/** The document, layouts (outermost first) and middleware of the pages of a folder of routes. */
export interface Frame<State> {
  readonly App: FunctionComponent<PageProps<unknown, State>>;
  readonly layouts: readonly FunctionComponent<PageProps<unknown, State>>[];
  readonly middleware: readonly Middleware<State>[];
}

/** A route: its address, its name in the log, which `_page` or `_form` follows, and the exports of its file. */
export interface Route<State> {
  readonly path: string;
  readonly name: string;
  readonly module: RouteModule<State>;
}

/** The part of a state that the loader reads. */
interface PageState {
  /** The policy of the page. */
  readonly policy: string;
}

/**
 * Mounts routes.
 *
 * @param deps the state of a request before its middleware
 */
export function mountPages<State extends PageState>(
  add: AddRoute,
  routes: readonly Route<State>[],
  frame: Frame<State>,
  deps: Partial<State>,
): void {
  for (const route of routes) add(route.path, routeHandler(route, frame, deps));
}

/** The handler of one route, which is mounted as its caller likes. */
export function routeHandler<State extends PageState>(
  { name, module }: Omit<Route<State>, "path">,
  { App, layouts, middleware }: Frame<State>,
  deps: Partial<State>,
): Handler {
  const { handler = {}, default: Page = Nothing, config } = module;
  const GET = handler.GET ?? (module.default && (() => page(undefined)));
  const allowed = [...(GET ? ["GET", "HEAD"] : []), ...(handler.POST ? ["POST"] : [])];
  const enclosing = config?.skipInheritedLayouts ? [] : layouts;
  return function route(info) {
    const isForm = info.method === "POST";
    const respond = isForm ? handler.POST : GET;
    if (!respond || !allowed.includes(info.method)) throw methodNotAllowed(allowed);
    info.operation = `${name}_${isForm ? "form" : "page"}`;
    const state = { ...deps } as State;
    const ctx = { req: info.request, url: urlOf(info), state, info };
    const propsOf = (Component: FunctionComponent, data: unknown = undefined) => ({ ...ctx, data, Component });
    const render: Context<State>["render"] = (content, { status, headers } = {}) => {
      let shown: VNode = content;
      for (const Layout of enclosing.toReversed()) {
        const inner = shown;
        shown = <Layout {...propsOf(() => inner)} />;
      }
      const html = "<!doctype html>" + renderToString(<App {...propsOf(() => shown)} />);
      const response = compressibleResponse(info.request, encoder.encode(html), "text/html; charset=utf-8", {
        status,
        // Stored by no cache: it may show what one user may see.
        headers: {
          "Content-Security-Policy": state.policy,
          "Cache-Control": "private, no-store",
          ...languageHeaders(),
        },
      });
      for (const [name, value] of new Headers(headers)) response.headers.append(name, value);
      return response;
    };
    const last = async (): Promise<Response> => {
      const result = await respond({ ...ctx, next: last, render });
      return result instanceof Response ? result : render(<Page {...propsOf(Nothing, result.data)} />, result);
    };
    const first = middleware.reduceRight<typeof last>(
      (next, one) => async () => await one({ ...ctx, next, render }),
      last,
    );
    return first();
  };
}

const Nothing = () => null;

const encoder = new TextEncoder();

/** The host of a request need not be one that can be parsed; the query is read as it came. */
function urlOf({ request, target }: RequestContext): URL {
  const url = new URL(URL.parse(request.url)?.origin ?? "http://localhost");
  url.pathname = target.path;
  url.search = target.query;
  return url;
}
