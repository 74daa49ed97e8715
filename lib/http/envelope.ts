import { leavesReadAhead } from "./body_reader.ts";
import { addDefaultHeaders } from "./default_headers.ts";
import { REQUEST_ID_HEADER } from "./request_id.ts";
import type { Step } from "./steps.ts";

/**
 * What every answer of every role carries: the request's id, and the default headers, and after a body that had the
 * runtime read far ahead that the connection ends. Answers to HEAD
 * say the length of the body that they leave out. Answers under `/api/v1` are kept out of every cache unless the route
 * said otherwise.
 */
export const envelope: Step = async function envelope(exchange, next) {
  let response = await next(exchange);
  if (exchange.method === "HEAD" && response.body) response = await bodiless(response);
  const { headers } = response;
  if (leavesReadAhead(exchange.request)) headers.set("Connection", "close");
  headers.set(REQUEST_ID_HEADER, exchange.requestId);
  addDefaultHeaders(headers);
  if (exchange.target.path.startsWith("/api/v1") && !headers.has("Cache-Control")) {
    headers.set("Cache-Control", "private, no-store");
  }
  return response;
};

/**
 * An answer without its body, which says how long that would be (RFC 9110, section 8.6). Only pages and other small
 * answers are read for it; files name their length themselves.
 */
async function bodiless(response: Response): Promise<Response> {
  const headers = new Headers(response.headers);
  if (headers.has("Content-Length")) await response.body?.cancel();
  else headers.set("Content-Length", String((await response.bytes()).length));
  return new Response(null, { status: response.status, headers });
}
