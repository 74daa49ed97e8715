import { apiVersionOf, resourcesOf } from "./resources.ts";

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
      return { kind: "APIGroupList", apiVersion: "v1", groups: GROUPS.map(groupOf) };
    case "/api/v1":
      return resourceList("");
  }
  const group = GROUPS.find((name) => path === `/apis/${name}` || path === `/apis/${name}/v1`);
  if (!group) return null;
  return path.endsWith("/v1") ? resourceList(group) : { kind: "APIGroup", apiVersion: "v1", ...groupOf(group) };
}

const AUTHORIZATION = "authorization.k8s.io";
const GROUPS = ["batch", AUTHORIZATION];

function groupOf(name: string) {
  const version = { groupVersion: `${name}/v1`, version: "v1" };
  return { name, versions: [version], preferredVersion: version };
}

function resourceList(group: string): Record<string, unknown> {
  const resources = resourcesOf(group).map(({ plural, kind, namespaced, verbs, shortNames, categories }) => ({
    name: plural,
    singularName: kind.toLowerCase(),
    namespaced,
    kind,
    verbs,
    shortNames,
    categories,
  }));
  const listed = group === AUTHORIZATION ? [REVIEW] : resources;
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf({ group }), resources: listed };
}

const REVIEW = {
  name: "selfsubjectaccessreviews",
  singularName: "selfsubjectaccessreview",
  namespaced: false,
  kind: "SelfSubjectAccessReview",
  verbs: ["create"],
};
