import { apiVersionOf, type Resource, RESOURCES } from "./resources.ts";

/** The discovery documents; null for another path. */
export function discover(path: string, address: string): Record<string, unknown> | null {
  switch (path) {
    case "/version":
      // Clients compare major and minor; the rest identifies this server.
      return { major: "1", minor: "36", gitVersion: "v1.36.0-embedded", platform: "deno" };
    case "/api":
      return {
        kind: "APIVersions",
        versions: ["v1"],
        serverAddressByClientCIDRs: [{ clientCIDR: "0.0.0.0/0", serverAddress: address }],
      };
    case "/apis":
      return { kind: "APIGroupList", apiVersion: "v1", groups: [BATCH_GROUP, AUTHORIZATION_GROUP] };
    case "/apis/batch":
      return { kind: "APIGroup", apiVersion: "v1", ...BATCH_GROUP };
    case "/apis/authorization.k8s.io":
      return { kind: "APIGroup", apiVersion: "v1", ...AUTHORIZATION_GROUP };
    case "/apis/authorization.k8s.io/v1":
      return AUTHORIZATION_RESOURCES;
    case "/api/v1":
      return resourceList("");
    case "/apis/batch/v1":
      return resourceList("batch");
    default:
      return null;
  }
}

const BATCH_GROUP = {
  name: "batch",
  versions: [{ groupVersion: "batch/v1", version: "v1" }],
  preferredVersion: { groupVersion: "batch/v1", version: "v1" },
};

const AUTHORIZATION_GROUP = {
  name: "authorization.k8s.io",
  versions: [{ groupVersion: "authorization.k8s.io/v1", version: "v1" }],
  preferredVersion: { groupVersion: "authorization.k8s.io/v1", version: "v1" },
};

const AUTHORIZATION_RESOURCES = {
  kind: "APIResourceList",
  apiVersion: "v1",
  groupVersion: "authorization.k8s.io/v1",
  resources: [{
    name: "selfsubjectaccessreviews",
    singularName: "selfsubjectaccessreview",
    namespaced: false,
    kind: "SelfSubjectAccessReview",
    verbs: ["create"],
  }],
};

function resourceList(group: Resource["group"]): Record<string, unknown> {
  const members = RESOURCES.filter((resource) => resource.group === group);
  return {
    kind: "APIResourceList",
    apiVersion: "v1",
    groupVersion: apiVersionOf(members[0]),
    resources: members.map((resource) => ({
      name: resource.plural,
      singularName: resource.singular,
      namespaced: resource.namespaced,
      kind: resource.kind,
      verbs: resource.verbs,
      ...(resource.shortNames.length > 0 && { shortNames: resource.shortNames }),
      ...(resource.categories.length > 0 && { categories: resource.categories }),
    })),
  };
}
