import { badGateway, clientClosedRequest, gatewayTimeout, type HttpError } from "@/lib/http/errors.ts";
import type { Coded } from "@/lib/std/coded.ts";

/** Why there is no response. */
export type UpstreamProblem = "unreachable" | "timeout" | "aborted" | "broken";

export class UpstreamError extends Error {
  override readonly name = "UpstreamError";
  readonly problem: UpstreamProblem;

  constructor(problem: UpstreamProblem, cause?: unknown) {
    super(`upstream ${problem}`, { cause });
    this.problem = problem;
  }
}

/** What a client reads of the failures of one upstream. */
export interface FailureDetails {
  readonly unreachable: string;
  readonly timeout: string;
  readonly broken: string;
  readonly codes?: Readonly<Record<"unreachable" | "timeout" | "broken", Coded>>;
}

/**
 * The error response for a request that has no upstream response.
 *
 * @param error what the upstream client threw; any other error counts as a broken connection
 * @returns 502 for an upstream that is unreachable or broke off, 504 for one that is late, 499 when the client has left
 */
export function upstreamFailure(error: unknown, details: FailureDetails): HttpError {
  const problem = error instanceof UpstreamError ? error.problem : "broken";
  if (problem === "aborted") return clientClosedRequest();
  const coded = details.codes?.[problem];
  return problem === "timeout" ? gatewayTimeout(details.timeout, coded) : badGateway(details[problem], error, coded);
}

const UNREACHABLE_CODES = /^(?:ECONNREFUSED|ENOTFOUND|EAI_\w+|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|ECONNABORTED)$/;
const UNREACHABLE_TEXT = /\(Connect\)|dns error|connection refused|invalid peer certificate|certificate/i;

/** The runtime's message for a request body whose client has left, which comes before the request's signal aborts. */
const CLIENT_GONE = /Cannot read request body/;

/** The problem behind an error of `fetch` or node:http. */
export function problemOf(error: unknown): UpstreamProblem {
  const causes = causesOf(error);
  const matches = (text: RegExp) => causes.some(({ message }) => text.test(message));
  if (matches(CLIENT_GONE)) return "aborted";
  const hasCode = causes.some((cause) => "code" in cause && UNREACHABLE_CODES.test(String(cause.code)));
  return hasCode || matches(UNREACHABLE_TEXT) ? "unreachable" : "broken";
}

/** An error and its causes, at most five. */
function causesOf(error: unknown): Error[] {
  const found: Error[] = [];
  for (let current = error; current instanceof Error && found.length < 5; current = current.cause) found.push(current);
  return found;
}
