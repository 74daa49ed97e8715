import { addDefaultHeaders } from "@/lib/http/default_headers.ts";
import { redactText } from "@/lib/http/redact.ts";

/**
 * The response where a handler threw, which is a fault beyond all code that renders errors. It says as
 * little as theirs; the stack goes to standard error without secrets.
 */
export function faultResponse(error: unknown): Response {
  console.error(redactText(error instanceof Error ? error.stack ?? error.message : String(error)));
  const response = new Response("Internal Server Error", { status: 500 });
  addDefaultHeaders(response.headers);
  return response;
}
