import { percentDecoded } from "@/lib/std/percent_decoded.ts";
import { reviewAccess, REVIEWS } from "./access_review.ts";
import {
  ApiError,
  badRequest,
  conflict,
  errorResponse,
  invalidOptions,
  methodNotAllowed,
  named,
  unsupportedMediaType,
} from "./api_status.ts";
import { withArchiveAddress } from "./archive_address.ts";
import type { ClusterConventions } from "./campaign_objects.ts";
import { unknownFields } from "./config_map_body.ts";
import { discover } from "./discovery.ts";
import { readBytes, readJsonObject } from "./json_body.ts";
import type { JsonObject } from "./json_values.ts";
import { listPage } from "./listing.ts";
import { metadataOf } from "./object_body.ts";
import type { KubeObject } from "./objects.ts";
import { describe } from "./openapi.ts";
import { patchObject } from "./patches.ts";
import { readProtobufConfigMap, readProtobufReview } from "./protobuf_body.ts";
import { acceptedForm, type Form, representList, representObject } from "./representation.ts";
import { apiVersionOf, type Resource, resourceOf } from "./resources.ts";
import type { ClusterStore } from "./store.ts";
import { BOOKMARK_EVERY_MS, isTrue, watchEvents } from "./watch.ts";
import { createObject, deleteObject, existing, replaceObject } from "./writes.ts";

/** Longest name of a field manager, characters. */
const MAX_MANAGER_CHARACTERS = 128;

/**
 * The Kubernetes API over a store: discovery, and the verbs of `RESOURCES` with selectors, paging, watches, tables and dry runs.
 * Every error is a `Status` object. What is not offered is an error, never a success without effect.
 */
export function clusterApi(
  store: ClusterStore,
  options: ClusterApiOptions,
): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      return await respond(store, request, options);
    } catch (error) {
      if (error instanceof ApiError) return errorResponse(error);
      throw error;
    }
  };
}

interface ClusterApiOptions {
  /** Host and port of the API, for discovery. */
  readonly address: () => string;
  /** By which Jobs of campaigns are recognised. */
  readonly conventions: ClusterConventions;
  /** Origin of the archive, which a submitted volumes.txt may name by another address. */
  readonly archiveUrl: string;
  /** How often watches get a bookmark, in milliseconds. */
  readonly bookmarkEveryMs?: number;
}

/** The target of an API path. */
interface Target {
  readonly resource: Resource;
  /** null: all namespaces; `""`: the resource has none. */
  readonly namespace: string | null;
  readonly name: string | null;
}

async function respond(
  store: ClusterStore,
  request: Request,
  options: ClusterApiOptions,
): Promise<Response> {
  const { address, bookmarkEveryMs = BOOKMARK_EVERY_MS } = options;
  const { pathname, searchParams: query } = new URL(request.url);
  const reading = request.method === "GET" || request.method === "HEAD";
  if (["/healthz", "/livez", "/readyz"].includes(pathname) && reading) return new Response("ok");
  const path = pathname.length > 1 ? pathname.replace(/\/$/, "") : pathname;
  const found = discover(path, address()) ?? describe(path);
  if (found) {
    if (!reading) throw methodNotAllowed(`${request.method} on ${path}`);
    return Response.json(found);
  }
  if (path === REVIEWS && request.method === "POST") {
    const isProtobuf = contentType(request) === PROTOBUF;
    const body = isProtobuf ? readProtobufReview(await readBytes(request)) : await readJsonBody(request);
    return Response.json(reviewAccess(body), { status: 201 });
  }
  const target = targetOf(path);
  if (!target) throw new ApiError(404, "NotFound", "the server could not find the requested resource");
  const { resource, namespace } = target;
  const { plural } = resource;
  const verb = verbOf(request.method, target, query);
  if (!resource.verbs.includes(verb)) throw methodNotAllowed(`${verb} on ${plural}`);
  if (verb === "create" && namespace) checkNamespace(store, namespace);
  const form = acceptedForm(request.headers.get("accept"), verb === "list");
  if (verb === "watch") {
    const events = watchEvents(store, { plural, namespace, form, query, bookmarkEveryMs });
    const headers = { "content-type": "application/json", "cache-control": "no-cache, private" };
    return new Response(request.method === "HEAD" ? null : events, { headers });
  }
  if (verb === "list") {
    const { objects, metadata } = listPage(store, plural, namespace, query);
    return Response.json(representList(form, plural, objects, metadata, query, store.now()));
  }
  return await perform(store, request, query, target, verb, form, options);
}

type Verb = "watch" | "list" | "get" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** A verb for one object. */
async function perform(
  store: ClusterStore,
  request: Request,
  query: URLSearchParams,
  { resource, namespace, name }: Target,
  verb: Verb,
  form: Form,
  { conventions, archiveUrl }: ClusterApiOptions,
): Promise<Response> {
  const dryRun = isDryRun(query);
  const space = namespace ?? "";
  const warnings: string[] = [];
  const represent = (object: KubeObject, status = 200) => {
    const headers = warnings.map((warning): [string, string] => ["warning", `299 - ${JSON.stringify(warning)}`]);
    const body = representObject(form, resource.plural, object, query, store.now());
    return Response.json(body, { status, headers });
  };
  const writing = { manager: fieldManager(request, query), dryRun, conventions };
  const admit = (body: JsonObject) => {
    if (resource.plural !== "configmaps") return body;
    warnings.push(...fieldWarnings(body, query));
    return withArchiveAddress(body, archiveUrl);
  };
  const read = resource.plural === "configmaps" ? readConfigMap : readJsonBody;
  if (verb === "create") {
    const body = admit(await read(request));
    return represent(createObject(store, resource, space, body, writing), 201);
  }
  if (name === null) throw methodNotAllowed(verb);
  if (verb === "get") return represent(existing(store, resource, space, name));
  if (verb === "update") {
    const body = admit(await read(request));
    const current = existing(store, resource, space, name);
    const { uid } = metadataOf(body);
    if (uid !== undefined && uid !== "" && uid !== current.metadata.uid) {
      throw conflict(resource, name, "the UID in the request does not match the UID in record");
    }
    return represent(replaceObject(store, resource, current, body, writing));
  }
  if (verb === "patch") {
    if (contentType(request).startsWith("application/apply-patch")) {
      if (!query.get("fieldManager")) {
        throw invalidOptions("PatchOptions", "fieldManager", "Required", "is required for apply patch");
      }
      checkNamespace(store, space);
    }
    const force = isTrue(query, "force");
    const patched = await patchObject(store, request, { resource, namespace: space, name, writing, force, admit });
    return represent(patched.object, patched.isNew ? 201 : 200);
  }
  const options = await readJsonObject(request);
  const target = existing(store, resource, space, name);
  deleteObject(store, resource, target, options, query.get("propagationPolicy"), dryRun);
  const details = { ...named(resource, name), uid: target.metadata.uid };
  return Response.json({ kind: "Status", apiVersion: "v1", metadata: {}, status: "Success", details });
}

function targetOf(path: string): Target | null {
  const match = /^\/(?:api\/v1|apis\/([^/]+)\/v1)\/(?:namespaces\/([^/]+)\/)?([^/]+)(?:\/([^/]+))?$/.exec(path);
  if (!match) return null;
  const [, group = "", namespace, plural, name] = match.map((part) => part === undefined ? part : decoded(part));
  const resource = resourceOf(group, plural ?? "");
  if (!resource) return null;
  if (!resource.namespaced) return namespace === undefined ? { resource, namespace: "", name: name ?? null } : null;
  // The API has no path with a name and without its namespace.
  if (namespace === undefined && name !== undefined) return null;
  return { resource, namespace: namespace ?? null, name: name ?? null };
}

function decoded(segment: string): string {
  const plain = percentDecoded(segment);
  if (plain === null) throw badRequest("the path is not UTF-8");
  return plain;
}

function verbOf(method: string, { name, namespace, resource }: Target, query: URLSearchParams): Verb {
  if (method === "GET" || method === "HEAD") {
    if (name !== null) return "get";
    return isTrue(query, "watch") ? "watch" : "list";
  }
  if (name === null) {
    // A namespaced object cannot be created without a namespace.
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

/** The field manager of a request: the parameter, else the client's name. */
function fieldManager(request: Request, query: URLSearchParams): string {
  const given = query.get("fieldManager") ?? "";
  if (given.length > MAX_MANAGER_CHARACTERS) {
    throw invalidOptions("PatchOptions", "fieldManager", "TooLong", `may not be longer than ${MAX_MANAGER_CHARACTERS}`);
  }
  if (/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/u.test(given)) {
    throw invalidOptions("PatchOptions", "fieldManager", "Invalid", "should only contain printable characters");
  }
  const client = (request.headers.get("user-agent") ?? "").split("/")[0].replace(/[^ -~]/g, "");
  return given || client.slice(0, MAX_MANAGER_CHARACTERS) || "unknown";
}

/** Warnings about unknown fields of a body; with `fieldValidation=Strict` they are a 400. */
function fieldWarnings(body: JsonObject, query: URLSearchParams): string[] {
  const validation = query.get("fieldValidation") || "Warn";
  if (!["Ignore", "Warn", "Strict"].includes(validation)) {
    throw invalidOptions("PatchOptions", "fieldValidation", "NotSupported", "Ignore, Warn or Strict");
  }
  const unknown = validation === "Ignore" ? [] : unknownFields(body).map((path) => `unknown field "${path}"`);
  if (validation === "Strict" && unknown.length > 0) throw badRequest(`strict decoding error: ${unknown.join(", ")}`);
  return unknown.map((warning) => warning.replace(/[^ -~]/g, "?"));
}

/** @throws ApiError 404 */
function checkNamespace(store: ClusterStore, name: string): void {
  if (store.get("namespaces", "", name)) return;
  throw new ApiError(404, "NotFound", `namespaces "${name}" not found`, { name, kind: "namespaces" });
}

async function readConfigMap(request: Request): Promise<JsonObject> {
  if (contentType(request) === PROTOBUF) return readProtobufConfigMap(await readBytes(request));
  return await readJsonBody(request, `application/json, ${PROTOBUF}`);
}

async function readJsonBody(request: Request, accepted = "application/json"): Promise<JsonObject> {
  if (contentType(request) !== "application/json") throw unsupportedMediaType(accepted);
  return await readJsonObject(request);
}

const PROTOBUF = "application/vnd.kubernetes.protobuf";

function contentType(request: Request): string {
  return (request.headers.get("content-type") ?? "application/json").split(";")[0].trim().toLowerCase();
}
