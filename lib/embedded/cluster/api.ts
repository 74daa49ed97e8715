import { ApiRefusal, badRequest, methodNotAllowed, refusalResponse, unsupportedMediaType } from "./api_status.ts";
import { discover } from "./discovery.ts";
import { isObject, mergePatch, readJsonObject } from "./json_body.ts";
import { listPage } from "./listing.ts";
import { acceptedForm, representList, representObject } from "./representation.ts";
import { apiVersionOf, type Resource, resourceOf } from "./resources.ts";
import type { ClusterStore } from "./store.ts";
import { createConfigMap, deleteObject, existing, replaceObject } from "./writes.ts";

/**
 * The Kubernetes API over a store: discovery, and the verbs of `RESOURCES` with selectors, paging, tables and dry runs.
 * Every refusal is a `Status` object; what is not offered is refused, never answered as if it had happened.
 */
export function clusterApi(store: ClusterStore, address: () => string): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      return await answer(store, request, address());
    } catch (error) {
      if (error instanceof ApiRefusal) return refusalResponse(error);
      throw error;
    }
  };
}

/** What a path of the API speaks of. */
interface Target {
  readonly resource: Resource;
  /** null: all namespaces; `""`: the resource has none. */
  readonly namespace: string | null;
  readonly name: string | null;
}

async function answer(store: ClusterStore, request: Request, address: string): Promise<Response> {
  const url = new URL(request.url);
  const reading = request.method === "GET" || request.method === "HEAD";
  if (["/healthz", "/livez", "/readyz"].includes(url.pathname) && reading) return new Response("ok");
  const path = url.pathname.length > 1 ? url.pathname.replace(/\/$/, "") : url.pathname;
  const found = discover(path, address);
  if (found) {
    if (!reading) throw methodNotAllowed(`${request.method} on ${path}`);
    return Response.json(found);
  }
  const target = targetOf(path);
  if (!target) throw new ApiRefusal(404, "NotFound", "the server could not find the requested resource");
  const verb = verbOf(request.method, target);
  if (!target.resource.verbs.includes(verb)) throw methodNotAllowed(`${verb} on ${target.resource.plural}`);
  if (target.namespace && !store.get("namespaces", "", target.namespace) && verb === "create") {
    throw new ApiRefusal(404, "NotFound", `namespaces "${target.namespace}" not found`, {
      name: target.namespace,
      kind: "namespaces",
    });
  }
  return await perform(store, request, url.searchParams, target, verb);
}

type Verb = "list" | "get" | "create" | "update" | "patch" | "delete" | "deletecollection";

async function perform(
  store: ClusterStore,
  request: Request,
  query: URLSearchParams,
  { resource, namespace, name }: Target,
  verb: Verb,
): Promise<Response> {
  const form = acceptedForm(request.headers.get("accept"), verb === "list");
  if (verb === "list") {
    if (/^(1|t|true)$/i.test(query.get("watch") ?? "")) throw methodNotAllowed("watch");
    const page = listPage(store, resource.plural, namespace, query);
    const list = representList(form, resource.plural, page.objects, page.metadata, query, store.now());
    return Response.json(list);
  }
  const dryRun = isDryRun(query);
  const space = namespace ?? "";
  const represent = (object: ReturnType<typeof existing>, status: number) =>
    Response.json(representObject(form, resource.plural, object, query, store.now()), { status });
  if (verb === "create") {
    const body = await readJsonObject(typed(request, ["application/json"]));
    return represent(createConfigMap(store, resource, space, body, dryRun), 201);
  }
  if (name === null) throw methodNotAllowed(verb);
  if (verb === "get") return represent(existing(store, resource, space, name), 200);
  if (verb === "update") {
    const body = await readJsonObject(typed(request, ["application/json"]));
    return represent(replaceObject(store, resource, existing(store, resource, space, name), body, dryRun), 200);
  }
  if (verb === "patch") {
    const patch = await readJsonObject(typed(request, ["application/merge-patch+json"]));
    // Read after the body, which arrives later: between reading and storing nothing else may come.
    const current = existing(store, resource, space, name);
    const merged = mergePatch(current, patch);
    if (!isObject(merged)) throw badRequest("the patch leaves no object");
    return represent(replaceObject(store, resource, current, merged, dryRun), 200);
  }
  const options = await readJsonObject(request);
  const doomed = existing(store, resource, space, name);
  deleteObject(store, resource, doomed, options, query.get("propagationPolicy"), dryRun);
  const details = {
    name,
    ...(resource.group && { group: resource.group }),
    kind: resource.plural,
    uid: doomed.metadata.uid,
  };
  return Response.json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
}

function targetOf(path: string): Target | null {
  const match = /^\/(?:api\/v1|apis\/([^/]+)\/v1)\/(?:namespaces\/([^/]+)\/)?([^/]+)(?:\/([^/]+))?$/.exec(path);
  if (!match) return null;
  const [, group = "", namespace, plural, name] = match.map((part) => part === undefined ? part : decoded(part));
  const resource = resourceOf(group, plural ?? "");
  if (!resource) return null;
  if (!resource.namespaced) return namespace === undefined ? { resource, namespace: "", name: name ?? null } : null;
  // A name without its namespace is no path of the API.
  if (namespace === undefined && name !== undefined) return null;
  return { resource, namespace: namespace ?? null, name: name ?? null };
}

function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    throw badRequest("the path is not UTF-8");
  }
}

function verbOf(method: string, { name, namespace, resource }: Target): Verb {
  if (method === "GET" || method === "HEAD") return name === null ? "list" : "get";
  if (name === null) {
    // Without a namespace there is nowhere to create.
    if (method === "POST" && (namespace !== null || !resource.namespaced)) return "create";
    if (method === "DELETE") return "deletecollection";
  } else {
    if (method === "PUT") return "update";
    if (method === "PATCH") return "patch";
    if (method === "DELETE") return "delete";
  }
  throw methodNotAllowed(`${method} on ${apiVersionOf(resource)} ${resource.plural}`);
}

function isDryRun(query: URLSearchParams): boolean {
  const values = query.getAll("dryRun");
  if (values.some((value) => value !== "All")) throw badRequest("dryRun: only All is offered");
  return values.length > 0;
}

function typed(request: Request, accepted: readonly string[]): Request {
  const type = (request.headers.get("content-type") ?? "application/json").split(";")[0].trim().toLowerCase();
  if (!accepted.includes(type)) throw unsupportedMediaType(accepted.join(", "));
  return request;
}
