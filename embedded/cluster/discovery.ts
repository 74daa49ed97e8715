import type { Plural } from "./kube_objects.ts";

/** A resource as discovery lists it. */
export interface Resource {
  readonly plural: Plural;
  readonly kind: string;
  /** `""` is the core group. */
  readonly group: "" | "batch";
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories?: readonly string[];
}

const READ = ["get", "list", "watch"];
const ALL = ["create", "delete", "get", "list", "patch", "update", "watch"];
const CORE = { group: "", namespaced: true } as const;

/** The resources of the embedded cluster and their verbs. Pods cannot be written: those of Jobs alone are run. */
export const RESOURCES: Readonly<Record<Plural, Resource>> = {
  configmaps: { ...CORE, plural: "configmaps", kind: "ConfigMap", verbs: ALL, shortNames: ["cm"] },
  namespaces: { ...CORE, plural: "namespaces", kind: "Namespace", namespaced: false, verbs: READ, shortNames: ["ns"] },
  pods: { ...CORE, plural: "pods", kind: "Pod", verbs: READ, shortNames: ["po"], categories: ["all"] },
  jobs: { ...CORE, plural: "jobs", kind: "Job", group: "batch", verbs: ALL, shortNames: [], categories: ["all"] },
};

export function resourceOf(group: string, plural: string): Resource | undefined {
  return resourcesOf(group).find((resource) => resource.plural === plural);
}

function resourcesOf(group: string): readonly Resource[] {
  return Object.values(RESOURCES).filter((resource) => resource.group === group);
}

/** `v1` or `batch/v1`. */
export function apiVersionOf({ group }: { readonly group: string }): string {
  return group === "" ? "v1" : `${group}/v1`;
}

const VERSION = "v1.36.0-embedded";
const BATCH_VERSION = { groupVersion: "batch/v1", version: "v1" };
const BATCH = { name: "batch", versions: [BATCH_VERSION], preferredVersion: BATCH_VERSION };

/** The discovery document of a path; null for another path. `address` is the API's host and port. */
export function discover(path: string, address: string): Record<string, unknown> | null {
  return Object.hasOwn(DOCUMENTS, path) ? DOCUMENTS[path](address) : null;
}

const DOCUMENTS: Readonly<Record<string, (address: string) => Record<string, unknown>>> = {
  // Clients compare major and minor; the rest identifies this server.
  "/version": () => ({ major: "1", minor: "36", gitVersion: VERSION, platform: "deno" }),
  "/api": (address) => {
    const addresses = [{ clientCIDR: "0.0.0.0/0", serverAddress: address }];
    return { kind: "APIVersions", versions: ["v1"], serverAddressByClientCIDRs: addresses };
  },
  "/apis": () => ({ kind: "APIGroupList", apiVersion: "v1", groups: [BATCH] }),
  "/apis/batch": () => ({ kind: "APIGroup", apiVersion: "v1", ...BATCH }),
  "/api/v1": () => resourceList(""),
  "/apis/batch/v1": () => resourceList("batch"),
  "/openapi/v3": () => {
    const roots = ["api/v1", "apis/batch/v1"].map((root) => [root, { serverRelativeURL: `/openapi/v3/${root}` }]);
    return { paths: Object.fromEntries(roots) };
  },
  "/openapi/v3/api/v1": () => description(""),
  "/openapi/v3/apis/batch/v1": () => description("batch"),
};

function resourceList(group: string): Record<string, unknown> {
  const resources = resourcesOf(group).map(({ plural, group: _group, ...resource }) => ({
    ...resource,
    name: plural,
    singularName: resource.kind.toLowerCase(),
  }));
  return { kind: "APIResourceList", apiVersion: "v1", groupVersion: apiVersionOf({ group }), resources };
}

/**
 * The OpenAPI 3 description of a group, as far as `kubectl` reads it: whether a PATCH supports `fieldValidation` and
 * `dryRun`, which it then leaves to the server.
 */
function description(group: string): Record<string, unknown> {
  const patched = resourcesOf(group).filter(({ verbs }) => verbs.includes("patch"));
  const parameters = ["dryRun", "fieldManager", "fieldValidation"].map((name) => ({
    name,
    in: "query",
    schema: { type: "string" },
  }));
  const paths = patched.map(({ plural, kind }) => [
    `/${group ? "apis" : "api"}/${apiVersionOf({ group })}/namespaces/{namespace}/${plural}/{name}`,
    {
      patch: {
        "x-kubernetes-action": "patch",
        "x-kubernetes-group-version-kind": { group, version: "v1", kind },
        parameters,
        responses: { 200: { description: "OK" } },
      },
    },
  ]);
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: VERSION },
    paths: Object.fromEntries(paths),
    components: { schemas: {} },
  };
}
