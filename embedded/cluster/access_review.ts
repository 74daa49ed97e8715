import { isObject } from "@/lib/std/is_object.ts";
import { badRequest } from "./api_status.ts";
import type { JsonObject } from "./json_values.ts";
import { resourceOf } from "./resources.ts";

/** Where clients ask what they may do. */
export const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/**
 * Answers a `SelfSubjectAccessReview`: whoever reaches this cluster may do all that it offers, and what it does not offer nobody may.
 * Throws a 400 for a question that names no resource.
 */
export function reviewAccess(body: JsonObject): Record<string, unknown> {
  const spec = isObject(body.spec) ? body.spec : {};
  const asked = spec.resourceAttributes;
  if (!isObject(asked)) throw badRequest("spec.resourceAttributes: a resource and a verb are required");
  const { group = "", resource = "", verb = "", subresource = "" } = asked;
  if (typeof group !== "string" || typeof resource !== "string" || typeof verb !== "string") {
    throw badRequest("spec.resourceAttributes: group, resource and verb are texts");
  }
  const offered = subresource === "" ? resourceOf(group, resource) : undefined;
  const allowed = offered?.verbs.includes(verb) ?? false;
  return {
    kind: "SelfSubjectAccessReview",
    apiVersion: "authorization.k8s.io/v1",
    metadata: { creationTimestamp: null },
    spec: { resourceAttributes: asked },
    status: { allowed, ...(!allowed && { reason: "this cluster does not offer it" }) },
  };
}
