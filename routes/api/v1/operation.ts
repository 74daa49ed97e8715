import { hash } from "node:crypto";
import { z } from "zod";
import { bearerAuthentication, type Protocol, type TokenCheck } from "@/lib/auth/admission.ts";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { AuditDetails, AuditRecorder, AuditTarget } from "@/lib/http/audit_event.ts";
import { badRequest } from "@/lib/http/errors.ts";
import { operationsFor } from "@/lib/http/operation.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { issuedForm, type IssuedForms } from "@/lib/s3/listing.ts";
import { bucketName, rejectConditions } from "@/lib/s3/objects.ts";
import { supported } from "@/lib/s3/s3_errors.ts";

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

/** Which bucket, in the path. */
export const bucketParams = z.object({ bucket: bucketName });

/** Where an object is, in the path. */
export const objectParams = bucketParams.extend({
  key: z.string().min(1).meta({ description: "May contain slashes", examples: ["2026/first page.txt"] }),
});

/** Which version of an object, in the query. */
export const versionId = (forms: IssuedForms | null) =>
  z.string().min(1).meta(issuedForm(forms, "versionId")).optional().meta({
    description: "Version id; default: the current version",
  });

/** Largest body that lists keys, bytes. */
export const MAX_KEYS_BODY_BYTES = 8 * 1024 * 1024;

/** Describes the conditions of an operation. */
export const CONDITIONS = "If-Match, If-None-Match and If-Unmodified-Since apply to the object that is changed.";

/** The responses of operations with conditions. */
export const conditional = {
  412: { description: "A condition does not hold; nothing changed" },
  501: { description: "The store does not support this condition here" },
};

/** The way to keys that end in a reserved word. */
export const asObject = z.literal("object").optional().meta({
  description: "Treats the rest of the path as a key, even if it ends in a reserved word",
});

/** The Content-Length of a request, bytes; null where it has none. @throws HttpError 400 for what is no length */
export function statedLength(headers: Headers): number | null {
  const text = headers.get("content-length");
  if (text === null) return null;
  const length = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(length)) throw badRequest("content-length: not a length in bytes");
  return length;
}

/** Keys of one change that its record names; the digest of all says which they were. */
const NAMED_KEYS = 20;

/** A bucket as the target of a change. */
export function bucketTarget({ params: { bucket } }: { readonly params: { readonly bucket: string } }): AuditTarget {
  return { kind: "bucket", bucket };
}

interface ObjectInput {
  readonly params: { readonly bucket: string; readonly key: string };
  readonly query?: { readonly version_id?: string };
}

/** An object, or one version of it, as the target of a change. */
export function objectTarget({ params: { bucket, key }, query }: ObjectInput): AuditTarget {
  const version = query?.version_id;
  return { kind: "object", bucket, key, ...(version === undefined ? {} : { version_id: version }) };
}

/** Keys of one change: how many, the first of them, and the SHA-256 of their JSON array. */
export function keyDetails(keys: readonly string[]): AuditDetails {
  if (keys.length === 0) return {};
  return {
    count: keys.length,
    keys: keys.slice(0, NAMED_KEYS),
    keys_sha256: hash("sha256", JSON.stringify(keys), "hex"),
  };
}

/** The target of a task that was chosen by keys and prefixes: one prefix is named itself. */
export function chosenTarget(bucket: string, prefixes: readonly string[]): AuditTarget {
  return { kind: "objects", bucket, ...(prefixes.length === 1 ? { prefix: prefixes[0] } : {}) };
}

/** Keys as {@link keyDetails} has them, and prefixes that the target does not name. */
export function chosenDetails(keys: readonly string[], prefixes: readonly string[]): AuditDetails {
  return { ...keyDetails(keys), ...(prefixes.length > 1 ? { prefixes } : {}) };
}

/** The version that a change created or removed, as the store's response has it. */
export function versionNote(headers: Headers): AuditDetails {
  const version = headers.get("x-amz-version-id");
  const isMarker = headers.get("x-amz-delete-marker") === "true";
  return {
    ...(version === null ? {} : { version_id: version }),
    ...(isMarker ? { marker: true } : {}),
  };
}
