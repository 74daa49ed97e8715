import type { Plural } from "./objects.ts";

/** A resource as discovery lists it. */
export interface Resource {
  readonly plural: Plural;
  readonly singular: string;
  readonly kind: string;
  /** `""` is the core group. */
  readonly group: "" | "batch";
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
}

/**
 * The resources of the embedded cluster and their verbs. Pods cannot be written and Jobs cannot be created, because the
 * simulator would not run them.
 */
export const RESOURCES: readonly Resource[] = [
  {
    plural: "configmaps",
    singular: "configmap",
    kind: "ConfigMap",
    group: "",
    namespaced: true,
    verbs: ["create", "delete", "get", "list", "patch", "update", "watch"],
    shortNames: ["cm"],
    categories: [],
  },
  {
    plural: "namespaces",
    singular: "namespace",
    kind: "Namespace",
    group: "",
    namespaced: false,
    verbs: ["get", "list", "watch"],
    shortNames: ["ns"],
    categories: [],
  },
  {
    plural: "pods",
    singular: "pod",
    kind: "Pod",
    group: "",
    namespaced: true,
    verbs: ["get", "list", "watch"],
    shortNames: ["po"],
    categories: ["all"],
  },
  {
    plural: "jobs",
    singular: "job",
    kind: "Job",
    group: "batch",
    namespaced: true,
    verbs: ["delete", "get", "list", "patch", "update", "watch"],
    shortNames: [],
    categories: ["all"],
  },
];

export function resourceOf(group: string, plural: string): Resource | undefined {
  return RESOURCES.find((resource) => resource.group === group && resource.plural === plural);
}

export function resourceOfPlural(plural: Plural): Resource {
  const resource = RESOURCES.find((candidate) => candidate.plural === plural);
  if (!resource) throw new Error(`no resource ${plural}`);
  return resource;
}

/** `v1` or `batch/v1`. */
export function apiVersionOf(resource: Resource): string {
  return resource.group === "" ? "v1" : `${resource.group}/v1`;
}
