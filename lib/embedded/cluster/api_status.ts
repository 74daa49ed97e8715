import type { Resource } from "./resources.ts";

/** A refusal of the cluster's API, answered as a `Status` object (Kubernetes API conventions, "Response Status Kind"). */
export class ApiRefusal extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
  ) {
    super(message);
  }
}

export function notFound(resource: Resource, name: string): ApiRefusal {
  return new ApiRefusal(404, "NotFound", `${qualified(resource)} "${name}" not found`, named(resource, name));
}

export function alreadyExists(resource: Resource, name: string): ApiRefusal {
  const message = `${qualified(resource)} "${name}" already exists`;
  return new ApiRefusal(409, "AlreadyExists", message, named(resource, name));
}

export function conflict(resource: Resource, name: string, why: string): ApiRefusal {
  const message = `Operation cannot be fulfilled on ${qualified(resource)} "${name}": ${why}`;
  return new ApiRefusal(409, "Conflict", message, named(resource, name));
}

/** 422 for one field of an object, named by its path. */
export function invalid(resource: Resource, name: string, field: string, why: string): ApiRefusal {
  const message = `${resource.kind}${resource.group && `.${resource.group}`} "${name}" is invalid: ${field}: ${why}`;
  const details = {
    name,
    ...(resource.group && { group: resource.group }),
    kind: resource.kind,
    causes: [{ reason: "FieldValueInvalid", message: why, field }],
  };
  return new ApiRefusal(422, "Invalid", message, details);
}

export function badRequest(message: string): ApiRefusal {
  return new ApiRefusal(400, "BadRequest", message);
}

export function expired(): ApiRefusal {
  const message = "The provided continue parameter or resource version is too old, start again without it";
  return new ApiRefusal(410, "Expired", message);
}

export function methodNotAllowed(what: string): ApiRefusal {
  return new ApiRefusal(405, "MethodNotAllowed", `${what} is not offered by this cluster`);
}

export function unsupportedMediaType(accepted: string): ApiRefusal {
  const message = `the body of the request was in an unknown format - accepted media types include: ${accepted}`;
  return new ApiRefusal(415, "UnsupportedMediaType", message);
}

/** The answer to a refusal, `Status` body included. */
export function refusalResponse(refusal: ApiRefusal, headers: HeadersInit = {}): Response {
  const status = {
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: refusal.message,
    reason: refusal.reason,
    details: refusal.details,
    code: refusal.code,
  };
  return Response.json(status, { status: refusal.code, headers });
}

function qualified(resource: Resource): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function named(resource: Resource, name: string): Record<string, unknown> {
  return { name, ...(resource.group && { group: resource.group }), kind: resource.plural };
}
