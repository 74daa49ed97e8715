import type { Plural } from "./objects.ts";

/** A resource as discovery lists it. */
export interface Resource {
  readonly plural: Plural;
  readonly kind: string;
  /** `""` is the core group. */
  readonly group: "" | "batch";
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames?: readonly string[];
  readonly categories?: readonly string[];
}

const READ = ["get", "list", "watch"];
const ALL = ["create", "delete", "get", "list", "patch", "update", "watch"];

/** The resources of the embedded cluster and their verbs. Pods cannot be written: those of Jobs alone are run. */
export const RESOURCES: Readonly<Record<Plural, Resource>> = {
  configmaps: { plural: "configmaps", kind: "ConfigMap", group: "", namespaced: true, verbs: ALL, shortNames: ["cm"] },
  namespaces: {
    plural: "namespaces",
    kind: "Namespace",
    group: "",
    namespaced: false,
    verbs: READ,
    shortNames: ["ns"],
  },
  pods: {
    plural: "pods",
    kind: "Pod",
    group: "",
    namespaced: true,
    verbs: READ,
    shortNames: ["po"],
    categories: ["all"],
  },
  jobs: { plural: "jobs", kind: "Job", group: "batch", namespaced: true, verbs: ALL, categories: ["all"] },
};

export function resourceOf(group: string, plural: string): Resource | undefined {
  return resourcesOf(group).find((resource) => resource.plural === plural);
}

export function resourcesOf(group: string): readonly Resource[] {
  return Object.values(RESOURCES).filter((resource) => resource.group === group);
}

/** `v1` or `batch/v1`. */
export function apiVersionOf({ group }: { readonly group: string }): string {
  return group === "" ? "v1" : `${group}/v1`;
}
