import type { RequestLog } from "./access_log.ts";
import { describeRequest } from "./access_log.ts";
import { HttpError } from "./errors.ts";
import type { RequestContext } from "./request_context.ts";
import { headerText } from "./header_text.ts";
import { redactText } from "./redact.ts";

const MAX_STACK = 8192;

/**
 * The one place where an error becomes an answer: an {@link HttpError} shows its detail; anything else is a 500 that
 * names only the request id, with the stack logged once and without secrets.
 */
export function renderError(error: unknown, context: RequestContext, log: RequestLog): Response {
  if (error instanceof HttpError) return answer(error.status, { detail: error.detail }, error.headers);
  log.write({ ...describeRequest("error", context), error: stackOf(error) });
  return answer(500, { detail: "Internal server error", request_id: context.requestId });
}

function answer(status: number, body: unknown, extra: Readonly<Record<string, string>> = {}): Response {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  for (const [name, value] of Object.entries(extra)) headers[name] = headerText(value);
  return new Response(JSON.stringify(body), { status, headers });
}

function stackOf(error: unknown): string {
  const text = error instanceof Error ? error.stack ?? `${error.name}: ${error.message}` : String(error);
  return redactText(text).slice(0, MAX_STACK);
}
