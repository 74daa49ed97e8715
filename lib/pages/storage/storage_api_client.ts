import { goToLogin } from "@/lib/pages/browser/session_client.ts";
import { type ApiParameters, storageApiPath } from "./storage_paths.ts";
import { isObject, parsedJson } from "@/lib/std/untrusted.ts";

/** The gateway's response; status 0: it could not be reached. */
export interface ApiResponse<Json = unknown> {
  readonly status: number;
  /** The body; with a successful status it has the form in the API document. */
  readonly json: Json;
  readonly headers: Headers;
}

/** A request to one of the gateway's operations; `json` is its body. */
interface ApiRequest {
  readonly method?: string;
  readonly json?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
  /** Longest wait for the response, ms. */
  readonly timeoutMs?: number;
  /** Whether the caller handles the end of the login: the page stays. */
  readonly handlesLogin?: boolean;
}

/**
 * Calls an operation of the gateway as an account and reads its JSON. Where the login is over, the page leaves for the
 * login.
 *
 * @param operation its path below `/api/v1` with placeholders, such as `/buckets/:bucket/objects`
 * @throws DOMException `AbortError` when the signal aborts
 */
export async function callStorageApi<Json = unknown>(
  operation: string,
  account: string,
  parameters: ApiParameters,
  { method = "GET", json, headers: given, signal, timeoutMs, handlesLogin = false }: ApiRequest = {},
): Promise<ApiResponse<Json>> {
  const bound = timeoutMs === undefined
    ? signal
    : AbortSignal.any([AbortSignal.timeout(timeoutMs), ...signal ? [signal] : []]);
  try {
    const response = await fetch(storageApiPath(operation, account, parameters), {
      method,
      signal: bound,
      // An archive is sent in place of its task's progress unless JSON is named.
      headers: {
        Accept: "application/json",
        ...json === undefined ? {} : { "Content-Type": "application/json" },
        ...given,
      },
      body: json === undefined ? undefined : JSON.stringify(json),
    });
    const { status, headers } = response;
    if (status === 401 && !handlesLogin) goToLogin();
    const found = parsedJson(await response.text());
    // A proxy in between may have responded.
    const isForeign = response.ok && method !== "HEAD" && !isObject(found);
    return { status: isForeign ? 0 : status, headers, json: found as Json };
  } catch (error) {
    if (signal?.aborted) throw error;
    return { status: 0, json: null as Json, headers: new Headers() };
  }
}
