import { isObject } from "@/lib/std/is_object.ts";
import { badRequest } from "./api_status.ts";
import type { JsonObject } from "./json_values.ts";
import { resourceOf } from "./resources.ts";

/** The path of access reviews. */
export const REVIEWS = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews";

/**
 * The result of a `SelfSubjectAccessReview`: each client may use all verbs that the cluster offers, and no others.
 *
 * @throws ApiError 400 for a review without a resource
 */
export function reviewAccess(body: JsonObject): Record<string, unknown> {
  const spec = isObject(body.spec) ? body.spec : {};
  const attributes = spec.resourceAttributes;
  if (!isObject(attributes)) throw badRequest("spec.resourceAttributes: a resource and a verb are required");
  const { group = "", resource = "", verb = "", subresource = "" } = attributes;
  if (typeof group !== "string" || typeof resource !== "string" || typeof verb !== "string") {
    throw badRequest("spec.resourceAttributes: group, resource and verb are texts");
  }
  const offered = subresource === "" ? resourceOf(group, resource) : undefined;
  const allowed = offered?.verbs.includes(verb) ?? false;
  return {
    kind: "SelfSubjectAccessReview",
    apiVersion: "authorization.k8s.io/v1",
    metadata: { creationTimestamp: null },
    spec: { resourceAttributes: attributes },
    status: { allowed, ...(!allowed && { reason: "this cluster does not offer it" }) },
  };
}
