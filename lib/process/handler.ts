import { addDefaultHeaders } from "@/lib/http/default_headers.ts";
import { redactText } from "@/lib/http/redact.ts";
import type { RawTarget } from "@/lib/http/raw_path.ts";

/** What a server knows of a request besides the request itself. */
export interface HandlerInfo {
  readonly remoteAddr: Deno.NetAddr;
  /** Settles when the response is sent to its last byte, or its client is gone; absent for a HEAD. */
  readonly completed?: Promise<void>;
  /** The target as it came; absent where the URL of the request has not been split. */
  readonly target?: RawTarget;
  /** Ends the connection at once; absent where the server cannot. */
  breakOff?(): void;
}

/** Handles a request of a server on a TCP port. */
export type Handler = (request: Request, info: HandlerInfo) => Response | Promise<Response>;

/**
 * The response where a handler threw, which is a fault beyond all code that renders errors. It says as little as
 * theirs; the stack goes to standard error without secrets.
 */
export function faultResponse(error: unknown): Response {
  console.error(redactText(error instanceof Error ? error.stack ?? error.message : String(error)));
  const response = new Response("Internal Server Error", { status: 500 });
  addDefaultHeaders(response.headers);
  return response;
}
