import { HttpError, type HttpErrorOptions } from "@/lib/http/errors.ts";

/** Of result files and all errors around them: cached by the browser only, and revalidated each time. */
export const UNCACHED = { "Cache-Control": "private, no-cache" } as const;

/** An error under `/results/`, whose response is {@link UNCACHED}. */
export function resultsError(
  status: number,
  detail: HttpError["detail"],
  { headers, cause, coded }: HttpErrorOptions = {},
): HttpError {
  return new HttpError(status, detail, { headers: { ...UNCACHED, ...headers }, cause, coded });
}

/** 502: the results role did not respond. */
export function noResultsResponse(cause?: unknown): HttpError {
  return resultsError(502, "the results service did not answer", { cause, coded: { code: "results_unavailable" } });
}
