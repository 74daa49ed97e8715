import type { Tenant } from "@/embedded/store/accounts.ts";
import type { StoreContext } from "@/embedded/store/context/store_context.ts";
import { authenticate } from "./caller.ts";
import { corsHeaders, preflightResponse } from "./cors.ts";
import { isHeaderInQuery, withHeadersOfQuery } from "./presigned_headers.ts";
import { asS3Error } from "./as_s3_error.ts";
import { checkHeaders } from "./unsupported_headers.ts";
import { S3Error, s3ErrorResponse } from "./s3_error.ts";
import type { S3Operation } from "./s3_operation.ts";
import { S3_OPERATIONS } from "./s3_operations.ts";
import { parseS3Request, type S3Request } from "./s3_request.ts";

/** The parameter in which some clients name the operation. */
const OPERATION_NAME = "x-id";

/** Answers S3 requests for one tenant, each with the IP address that it comes from. Pages of `origins` may read the answers, and those that CORS rules let. */
export function s3Handler(
  store: StoreContext,
  tenant: () => Tenant | null,
  origins: ReadonlySet<string>,
): (request: Request, address: string) => Promise<Response> {
  return async (request, address) => {
    const id = crypto.randomUUID();
    let response: Response;
    let cors: Record<string, string> = {};
    try {
      const scope = { store, tenant: tenant(), origins };
      if (request.method === "OPTIONS") {
        response = preflightResponse(request, scope);
      } else {
        // Before the operation, which may take away the bucket or the rules that let a page read the answer.
        cors = corsHeaders(request, scope);
        if (!scope.tenant) throw new S3Error("AccessDenied");
        response = await handle(store, scope.tenant, parseS3Request(request), address);
      }
      response.headers.set("x-amz-request-id", id);
    } catch (error) {
      if (isFailedLogin(error)) await store.logins.delayFailure();
      response = s3ErrorResponse(asS3Error(error), { method: request.method, id, resource: pathOf(request.url) });
    }
    for (const [name, value] of Object.entries(cors)) {
      response.headers.set(name, value);
    }
    // Of an empty body the runtime asks nothing, so the answer comes where "100 Continue" was waited for. Botocore then
    // misreads the next answer on the connection and waits for its end.
    if (request.headers.has("expect") && isEmpty(request)) response.headers.set("connection", "close");
    return withSandboxHeaders(response);
  };
}

function isFailedLogin(error: unknown): boolean {
  return error instanceof S3Error && (error.code === "SignatureDoesNotMatch" || error.code === "InvalidAccessKeyId");
}

/** Answers everything with one error, in the words of either protocol. */
export function errorHandler(
  code: "AccessDenied" | "MisdirectedRequest" | "ServiceUnavailable",
): (request: Request) => Response {
  return (request) => {
    const error = new S3Error(code);
    const response = s3ErrorResponse(error, {
      method: request.method,
      id: crypto.randomUUID(),
      resource: pathOf(request.url),
    });
    response.headers.set("x-hcp-errormessage", error.message);
    if (error.status === 503) response.headers.set("retry-after", "5");
    return withSandboxHeaders(response);
  };
}

function handle(
  store: StoreContext,
  tenant: Tenant,
  sent: S3Request,
  address: string,
): Response | Promise<Response> {
  const caller = authenticate(sent, store, tenant, address);
  const request = withHeadersOfQuery(sent);
  checkHeaders(store, tenant, request);
  const operation = operationOf(request);
  for (const [name] of request.query) {
    const isKnown = operation.parameters.includes(name) || operation.marker?.[0] === name;
    if (!isKnown && name !== OPERATION_NAME && !isHeaderInQuery(request, name)) {
      throw new S3Error("NotImplemented", `The parameter ${name} is not provided here`);
    }
  }
  return operation.handle({ store, caller, request, bucket: request.bucket ?? "", key: request.key ?? "" });
}

/** The operation that a request asks for: one whose marker or header it carries before one without. */
function operationOf(request: S3Request): S3Operation {
  const level = request.bucket === null ? "service" : request.key === null ? "bucket" : "object";
  const candidates = S3_OPERATIONS.filter((one) => one.method === request.method && one.level === level);
  const marked = candidates.filter(({ marker, header }) => (marker || header) && carries(request, marker, header));
  // The one told apart by both comes first: a copied part carries the marker of a part and the header of a copy.
  const operation = marked.find(({ marker, header }) => marker && header) ?? marked[0] ??
    candidates.find(({ marker, header }) => !marker && !header);
  if (operation) return operation;
  // Nothing but the list of buckets is above them.
  const isKnownMethod = level !== "service" && S3_OPERATIONS.some((one) => one.method === request.method);
  throw isKnownMethod
    ? new S3Error("NotImplemented", "This operation is not provided here")
    : new S3Error("MethodNotAllowed");
}

function carries(request: S3Request, marker: S3Operation["marker"], header: S3Operation["header"]): boolean {
  if (header !== undefined && !request.headers.has(header)) return false;
  if (!marker) return true;
  const [name, value] = marker;
  const given = request.parameter(name);
  return given !== null && (value === undefined || given === value);
}

function isEmpty(request: Request): boolean {
  return request.body === null || request.headers.get("content-length") === "0";
}

function pathOf(url: string): string {
  return url.slice(url.indexOf("/", url.indexOf("://") + 3)).replace(/\?.*$/s, "");
}

/**
 * What every answer of the embedded S3 carries: it may share a host with pages of Stackroom, so what somebody stored is
 * never guessed to be a page, and a page among it runs no script and has no origin.
 */
function withSandboxHeaders(response: Response): Response {
  response.headers.set("x-content-type-options", "nosniff");
  response.headers.set("content-security-policy", "sandbox");
  return response;
}
