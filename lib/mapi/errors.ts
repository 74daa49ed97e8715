import { Buffer } from "node:buffer";
import { credentialsRefused, HttpError, notFound } from "@/lib/http/errors.ts";
import { redactText } from "@/lib/http/redact.ts";

const MESSAGE_HEADER = "X-HCP-ErrorMessage";
const MAX_DETAIL_CHARACTERS = 1000;

/** The error response for a status of the management API. */
export function mapiFailure(response: Response, body: string, resource: string): HttpError {
  const { status } = response;
  const detail = detailOf(response, body);
  switch (status) {
    case 302:
      // HCP redirects requests for an absent resource to its console.
      return new HttpError(404, `${resource} not found or no permission`);
    case 400:
    case 403:
      return new HttpError(status, detail);
    case 401:
      return credentialsRefused("HCP authentication failed");
    case 404:
      return notFound(resource);
    case 405:
      return new HttpError(405, "Method not allowed for this resource");
    case 409:
      return new HttpError(409, `${resource}: ${detail}`);
    case 414:
      return new HttpError(414, "Request URI too large");
    case 415:
      return new HttpError(415, "Unsupported media type");
    case 500:
      return new HttpError(502, `HCP internal error: ${detail}`);
    case 507:
      return new HttpError(507, `${resource}: ${detail}`);
    case 503:
      return new HttpError(503, `HCP unavailable: ${detail}`);
    default:
      return new HttpError(502, `Unexpected HCP status ${status}: ${detail}`);
  }
}

function detailOf(response: Response, body: string): string {
  const header = response.headers.get(MESSAGE_HEADER);
  const text = header ? Buffer.from(header, "latin1").toString("utf8") : body;
  const clean = redactText(text.slice(0, 4 * MAX_DETAIL_CHARACTERS)).replace(/\p{Cc}+/gu, " ").trim();
  return clean.slice(0, MAX_DETAIL_CHARACTERS) || `HCP returned ${response.status}`;
}
