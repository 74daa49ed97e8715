import { bearerAuthentication, type Protocol, type TokenCheck } from "@/lib/auth/admission.ts";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { AuditRecorder } from "@/lib/http/audit_event.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { rejectConditions } from "@/lib/s3/objects.ts";
import { supported } from "@/lib/s3/s3_errors.ts";
import { operationsFor } from "@/lib/http/operation.ts";

/** Checks bearer tokens, and records changes; null: nothing does. */
type Access = TokenCheck & { readonly recorder: AuditRecorder | null };

/** Creates operations behind the bearer token. */
export type GatewayOperation = ReturnType<typeof operationsFor<Caller>>;

/** Operations that hold conditions on the object that they change. */
const CONDITIONAL: ReadonlySet<string | undefined> = new Set([
  "put_object",
  "post_object",
  "delete_object",
  "copy_object",
  "create_folder",
  "complete_multipart_upload",
  "restore_object_version",
]);

/** @throws HttpError 501 for a condition that an operation would ignore */
function rejectUnheld({ operation, request }: RequestContext): void {
  const takes = operation === "copy_object" ? "target and source" : CONDITIONAL.has(operation) ? "target" : "none";
  rejectConditions(request.headers, takes);
}

/** Operations by one protocol whose caller is known by the bearer token alone; cookies are not looked at. */
export function gatewayOperations({ recorder, ...check }: Access, protocol: Protocol): GatewayOperation {
  const beforeWrite = protocol === "s3" ? rejectUnheld : undefined;
  return operationsFor<Caller>(bearerAuthentication(check, protocol, beforeWrite), "bearer", recorder);
}

/** The same operations over calls that not every store knows: the 501 of one that does not names the operation. */
export function optionalOperations(operation: GatewayOperation, backend: string): GatewayOperation {
  return (spec) =>
    operation({
      ...spec,
      handler: async (input, context) => await supported(spec.id, backend, () => spec.handler(input, context)),
    });
}
