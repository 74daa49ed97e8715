import { apiVersionOf, type Resource, resourcesOf } from "./resources.ts";

/**
 * The OpenAPI 3 description of what the cluster serves; null for another path. `kubectl` looks up here whether a
 * PATCH supports `fieldValidation` and `dryRun` before it leaves validation to the server. Schemas of objects are not described.
 */
export function describe(path: string): Record<string, unknown> | null {
  if (path === "/openapi/v3") {
    const paths = GROUPS.map(rootOf).map((root) => [root.slice(1), { serverRelativeURL: `/openapi/v3${root}` }]);
    return { paths: Object.fromEntries(paths) };
  }
  const group = GROUPS.find((candidate) => path === `/openapi/v3${rootOf(candidate)}`);
  if (group === undefined) return null;
  return {
    openapi: "3.0.0",
    info: { title: "Kubernetes", version: "v1.36.0-embedded" },
    paths: Object.fromEntries(resourcesOf(group).flatMap(pathsOf)),
    components: { schemas: {} },
  };
}

const GROUPS = ["", "batch"] as const;

function rootOf(group: string): string {
  return `/${group ? "apis" : "api"}/${apiVersionOf({ group })}`;
}

function pathsOf(resource: Resource): [string, Record<string, unknown>][] {
  const inside = resource.namespaced ? "/namespaces/{namespace}" : "";
  const all = `${rootOf(resource.group)}${inside}/${resource.plural}`;
  const operations = (methods: Readonly<Record<string, string>>) =>
    Object.fromEntries(
      Object.entries(methods).filter(([verb]) => resource.verbs.includes(verb))
        .map(([verb, method]) => [method, operation(resource, verb)]),
    );
  const path = (name: string) => ({ name, in: "path", required: true, schema: { type: "string" } });
  const space = resource.namespaced ? [path("namespace")] : [];
  return [
    [all, { ...operations({ list: "get", create: "post" }), parameters: space }],
    [`${all}/{name}`, {
      ...operations({ get: "get", update: "put", patch: "patch", delete: "delete" }),
      parameters: [path("name"), ...space],
    }],
  ];
}

const WRITING = ["dryRun", "fieldManager", "fieldValidation"];
const PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  list: [
    "allowWatchBookmarks",
    "continue",
    "fieldSelector",
    "labelSelector",
    "limit",
    "resourceVersion",
    "resourceVersionMatch",
    "sendInitialEvents",
    "timeoutSeconds",
    "watch",
  ],
  create: WRITING,
  update: WRITING,
  patch: [...WRITING, "force"],
  delete: ["dryRun", "propagationPolicy"],
};

function operation(resource: Resource, verb: string): Record<string, unknown> {
  const parameters = (PARAMETERS[verb] ?? []).map((name) => ({ name, in: "query", schema: { type: "string" } }));
  return {
    "x-kubernetes-action": verb,
    "x-kubernetes-group-version-kind": { group: resource.group, version: "v1", kind: resource.kind },
    parameters,
    responses: { 200: { description: "OK" } },
  };
}
