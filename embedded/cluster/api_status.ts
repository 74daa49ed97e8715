import { shownPath } from "./field_sets.ts";
import type { FieldConflict } from "./managed_fields.ts";
import type { ManagedFields } from "./objects.ts";
import type { Resource } from "./resources.ts";

/** A refusal of the cluster's API, answered as a `Status` object (Kubernetes API conventions, "Response Status Kind"). */
export class ApiRefusal extends Error {
  constructor(
    readonly code: number,
    readonly reason: string,
    message: string,
    readonly details: Readonly<Record<string, unknown>> = {},
    readonly metadata: Readonly<Record<string, unknown>> = {},
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

/** 409 of an apply that would change what others own, each field with its owner (Kubernetes, "Server-Side Apply", conflicts). */
export function fieldConflict(conflicts: readonly FieldConflict[]): ApiRefusal {
  const causes = conflicts.map(({ owner, path }) => ({
    reason: "FieldManagerConflict",
    message: `conflict with ${shownOwner(owner)}`,
    field: shownPath(path),
  }));
  const [first] = causes;
  const byOwner = Map.groupBy(causes, ({ message }) => message);
  const list = [...byOwner].flatMap(([message, fields]) => [
    `${message.replace("conflict", "conflicts")}:`,
    ...fields.map(({ field }) => `- ${field}`),
  ]);
  const message = causes.length === 1
    ? `Apply failed with 1 conflict: ${first.message}: ${first.field}`
    : `Apply failed with ${causes.length} conflicts: ${list.join("\n")}`;
  return new ApiRefusal(409, "Conflict", message, { causes });
}

function shownOwner({ manager, operation, apiVersion, time }: ManagedFields): string {
  const name = JSON.stringify(manager);
  return operation === "Update" ? `${name} using ${apiVersion} at ${time}` : name;
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

/** 422 for one parameter of a request, of a list, a watch or a patch. */
export function invalidOptions(
  kind: "ListOptions" | "PatchOptions",
  field: string,
  reason: "Required" | "Invalid" | "TooLong" | "Forbidden" | "NotSupported",
  why: string,
): ApiRefusal {
  return new ApiRefusal(422, "Invalid", `${kind}.meta.k8s.io "" is invalid: ${field}: ${why}`, {
    group: "meta.k8s.io",
    kind,
    causes: [{ reason: `FieldValue${reason}`, message: why, field }],
  });
}

export function badRequest(message: string): ApiRefusal {
  return new ApiRefusal(400, "BadRequest", message);
}

/** 410 for a `continue` whose list is forgotten; `next` goes on from the same place in the state of now. */
export function expiredContinue(next: string): ApiRefusal {
  const message =
    "the state that the continue parameter speaks of is forgotten: list again without it, or go on in the " +
    "state of now by the token of this answer";
  return new ApiRefusal(410, "Expired", message, {}, { continue: next });
}

/** 410 for a resource version that is no longer, or was never, remembered. */
export function expiredVersion(version: number): ApiRefusal {
  return new ApiRefusal(410, "Expired", `too old resource version: ${version}`);
}

/** 504 for a resource version that the cluster has not reached. */
export function versionTooLarge(version: number, current: number): ApiRefusal {
  const message = `Too large resource version: ${version}, current: ${current}`;
  const causes = [{ reason: "ResourceVersionTooLarge", message: "Too large resource version" }];
  return new ApiRefusal(504, "Timeout", message, { causes, retryAfterSeconds: 1 });
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
  return Response.json(statusOf(refusal), { status: refusal.code, headers });
}

/** The `Status` object of a refusal. */
export function statusOf(refusal: ApiRefusal) {
  return {
    kind: "Status",
    apiVersion: "v1",
    metadata: refusal.metadata,
    status: "Failure",
    message: refusal.message,
    reason: refusal.reason,
    details: refusal.details,
    code: refusal.code,
  };
}

function qualified(resource: Resource): string {
  return resource.group === "" ? resource.plural : `${resource.plural}.${resource.group}`;
}

function named(resource: Resource, name: string): Record<string, unknown> {
  return { name, ...(resource.group && { group: resource.group }), kind: resource.plural };
}
