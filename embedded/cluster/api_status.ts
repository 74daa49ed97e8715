import type { Resource } from "./discovery.ts";
import type { FieldConflict } from "./managed_fields.ts";

/** An error of the cluster's API, sent as a `Status` object (Kubernetes API conventions, "Response Status Kind"). */
export class ApiError extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

export function notFound(resource: Resource, name: string): ApiError {
  return new ApiError(404, "NotFound", `${qualified(resource)} "${name}" not found`, named(resource, name));
}

export function alreadyExists(resource: Resource, name: string): ApiError {
  const message = `${qualified(resource)} "${name}" already exists`;
  return new ApiError(409, "AlreadyExists", message, named(resource, name));
}

export function conflict(resource: Resource, name: string, why: string): ApiError {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new ApiError(409, "Conflict", message, named(resource, name));
}

/** 409 of an apply that would change what others own, each field with its owner (Kubernetes, "Server-Side Apply", conflicts). */
export function fieldConflict(conflicts: readonly FieldConflict[]): ApiError {
  const causes = conflicts.map(({ manager, field }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${JSON.stringify(manager)}`,
    field,
  }));
  const list = causes.map(({ message, field }) => `${message}: ${field}`).join("\n- ");
  const message = causes.length === 1
    ? `Apply failed with 1 conflict: ${list}`
    : `Apply failed with ${causes.length} conflicts:\n- ${list}`;
  return new ApiError(409, "Conflict", message, { causes });
}

/** 422 for one field of an object, named by its path. */
export function invalid(resource: Resource, name: string, field: string, why: string): ApiError {
  const message = `${resource.kind}${resource.group && `.${resource.group}`} "${name}" is invalid: ${field}: ${why}`;
  const causes = [{ reason: "FieldValueInvalid", message: why, field }];
  return new ApiError(422, "Invalid", message, { ...named(resource, name), kind: resource.kind, causes });
}

/** 422 for one parameter of a request, of a list, a watch or a patch. */
export function invalidOptions(
  kind: "ListOptions" | "PatchOptions",
  field: string,
  reason: "Required" | "TooLong" | "Forbidden" | "NotSupported",
  why: string,
): ApiError {
  return new ApiError(422, "Invalid", `${kind}.meta.k8s.io "" is invalid: ${field}: ${why}`, {
    group: "meta.k8s.io",
    kind,
    causes: [{ reason: `FieldValue${reason}`, message: why, field }],
  });
}

export function badRequest(message: string): ApiError {
  return new ApiError(400, "BadRequest", message);
}

/** 410 for a resource version that is no longer stored or never was. */
export function expiredVersion(version: number): ApiError {
  return new ApiError(410, "Expired", `too old resource version: ${version}`);
}

/** 504 for a resource version that the cluster has not reached. */
export function versionTooLarge(version: number, current: number): ApiError {
  const message = `Too large resource version: ${version}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new ApiError(504, "Timeout", message, { causes, retryAfterSeconds: 1 });
}

export function methodNotAllowed(what: string): ApiError {
  return new ApiError(405, "MethodNotAllowed", `${what} is not offered by this cluster`);
}

export function unsupportedMediaType(accepted: string): ApiError {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return new ApiError(415, "UnsupportedMediaType", message);
}

/** The response for an error, with its `Status` body. */
export function errorResponse(error: ApiError): Response {
  return Response.json(statusOf(error), { status: error.code });
}

/** The `Status` object of an error. */
export function statusOf(error: ApiError) {
  const { message, reason, details, code } = error;
  return { kind: "Status", apiVersion: "v1", metadata: {}, status: "Failure", message, reason, details, code };
}

function qualified(resource: Resource): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

/** The details of a `Status` about one object. */
export function named(resource: Resource, name: string): Record<string, unknown> {
  return { name, ...(resource.group && { group: resource.group }), kind: resource.plural };
}
