import type { TakeReader } from "@/lib/std/body_reader.ts";
import { type HttpHost, LOOPBACK_NAMES, requestedHost, urlHost } from "@/lib/std/http_host.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import {
  ApiError,
  badRequest,
  errorResponse,
  invalidOptions,
  methodNotAllowed,
  named,
  unsupportedMediaType,
} from "./api_status.ts";
import { apiVersionOf, discover, type Resource, resourceOf, RESOURCES } from "./discovery.ts";
import { type JsonObject, RequestBody } from "./json_body.ts";
import type { KubeObject } from "./kube_objects.ts";
import { readProtobufConfigMap, withArchiveAddress } from "./object_body.ts";
import {
  acceptedForm,
  BOOKMARK_EVERY_MS,
  type Form,
  representList,
  representObject,
  watchEvents,
} from "./representation.ts";
import { isTrue, listPage } from "./selection.ts";
import { Simulator, type SimulatorOptions } from "./simulator.ts";
import type { ClusterStore } from "./store.ts";
import { createObject, deleteObject, existing, patchObject, replaceObject } from "./writes.ts";

export interface EmbeddedClusterOptions extends SimulatorOptions {
  readonly http: HttpHost;
  /** A loopback address; 127.0.0.1 when left out. */
  readonly host?: string;
  /** 0, the default, takes any free port. */
  readonly port?: number;
  /** How often watches get a bookmark, in milliseconds; a minute when left out. */
  readonly bookmarkEveryMs?: number;
  /** Called when files of the past cannot be written; it fails the start by throwing. The start fails without it. */
  readonly onUnwritten?: (error: unknown) => void;
}

export interface EmbeddedCluster {
  /** Origin of the Kubernetes API, without a trailing slash. */
  readonly url: string;
  readonly port: number;
  /** Runs the samples; paused until `run` or `step`. */
  readonly simulator: Simulator;
  /** A kubeconfig for this cluster, in JSON, which is valid YAML. */
  kubeconfig(): string;
  /** Stops the simulator, closes open connections and frees the port. */
  close(): Promise<void>;
}

/**
 * Starts a cluster of sample campaigns: a Kubernetes API on a loopback port over a simulator whose clock stands at `now`.
 * The states of finished volumes are written before it resolves; the other files of the past, and those whose write
 * failed, follow while it runs. The API takes plain HTTP without credentials, so that any local process may use it; it
 * accepts only loopback Host names (else 421) and no requests of web pages (`Origin`: 403).
 */
export async function startEmbeddedCluster(options: EmbeddedClusterOptions): Promise<EmbeddedCluster> {
  const simulator = new Simulator(options);
  // Each volume that finished in the past has its progress then.
  await simulator.outbox.drain(["live", "states"]).catch((error) => {
    if (!options.onUnwritten) throw error;
    options.onUnwritten(error);
  });
  const { host = "127.0.0.1", port = 0 } = options;
  let address = "";
  const api = clusterApi(simulator.store, { ...options, bodyReader: options.http.bodyReader, address: () => address });
  const handler = (request: Request) => {
    const error = foreignError(request);
    return error ? errorResponse(error) : api(request);
  };
  const server = options.http.listen({ hostname: host, port }, handler, handler);
  address = `${urlHost(host)}:${server.port}`;
  const url = `http://${address}`;
  return {
    url,
    port: server.port,
    simulator,
    kubeconfig: () => kubeconfig(url, options.namespace),
    close() {
      simulator.stop();
      server.cut();
      return server.drain();
    },
  };
}

function foreignError(request: Request): ApiError | null {
  if (!LOOPBACK_NAMES.includes(requestedHost(request))) {
    return new ApiError(421, "Misdirected", "this cluster answers only under loopback names");
  }
  if (request.headers.has("origin")) return new ApiError(403, "Forbidden", "this cluster does not serve web pages");
  return null;
}

function kubeconfig(server: string, namespace: string): string {
  const name = "stackroom-embedded";
  return JSON.stringify(
    {
      apiVersion: "v1",
      kind: "Config",
      // client-node rejects plain HTTP unless TLS verification is switched off.
      clusters: [{ name, cluster: { server, "insecure-skip-tls-verify": true } }],
      users: [{ name, user: {} }],
      contexts: [{ name, context: { cluster: name, user: name, namespace } }],
      "current-context": name,
    },
    null,
    2,
  );
}

/** Longest name of a field manager, characters. */
const MAX_MANAGER_CHARACTERS = 128;

/**
 * The Kubernetes API over a store: discovery, and the verbs of `RESOURCES` with selectors, paging, watches, tables and dry runs.
 * Every error is a `Status` object. What is not offered is an error, never a success without effect.
 */
export function clusterApi(store: ClusterStore, options: ClusterApiOptions): (request: Request) => Promise<Response> {
  return async (request) => {
    try {
      return await respond(store, request, options);
    } catch (error) {
      const isKnown = error instanceof ApiError;
      return errorResponse(isKnown ? error : new ApiError(500, "InternalError", "the embedded cluster failed"));
    }
  };
}

interface ClusterApiOptions extends Pick<EmbeddedClusterOptions, "conventions" | "archiveUrl" | "bookmarkEveryMs"> {
  /** Host and port of the API, for discovery. */
  readonly address: () => string;
  readonly bodyReader: TakeReader;
}

/** The target of an API path. */
interface Target {
  readonly resource: Resource;
  /** null: all namespaces; `""`: the resource has none. */
  readonly namespace: string | null;
  readonly name: string | null;
}

async function respond(store: ClusterStore, request: Request, options: ClusterApiOptions): Promise<Response> {
  const { address, bookmarkEveryMs = BOOKMARK_EVERY_MS } = options;
  const { pathname, searchParams: query } = new URL(request.url);
  const reading = request.method === "GET" || request.method === "HEAD";
  if (["/healthz", "/livez", "/readyz"].includes(pathname) && reading) return new Response("ok");
  const path = pathname.length > 1 ? pathname.replace(/\/$/, "") : pathname;
  const found = discover(path, address());
  if (found) {
    if (!reading) throw methodNotAllowed(`${request.method} on ${path}`);
    return Response.json(found);
  }
  const target = targetOf(path);
  if (!target) throw new ApiError(404, "NotFound", "the server could not find the requested resource");
  const { resource, namespace } = target;
  const { plural } = resource;
  const verb = verbOf(request.method, target, query);
  if (!resource.verbs.includes(verb)) throw methodNotAllowed(`${verb} on ${plural}`);
  const form = acceptedForm(request.headers.get("accept"), verb === "list");
  if (verb === "watch") {
    const events = watchEvents(store, { plural, namespace, form, query, bookmarkEveryMs });
    const headers = { "content-type": "application/json", "cache-control": "no-cache, private" };
    return new Response(request.method === "HEAD" ? null : events, { headers });
  }
  if (verb === "list") {
    const { objects, metadata } = listPage(store, plural, namespace, query);
    return Response.json(representList({ form, plural, query, now: store.now() }, objects, metadata));
  }
  const body = new RequestBody(request, options.bodyReader);
  return await perform(store, body, { ...target, verb, form, query, options });
}

type Verb = "watch" | "list" | "get" | "create" | "update" | "patch" | "delete" | "deletecollection";

/** A request for one object. */
interface Call extends Target {
  readonly verb: Verb;
  readonly form: Form;
  readonly query: URLSearchParams;
  readonly options: ClusterApiOptions;
}

async function perform(store: ClusterStore, sent: RequestBody, call: Call): Promise<Response> {
  const { resource, name, verb, query } = call;
  const { conventions, archiveUrl } = call.options;
  const namespace = call.namespace ?? "";
  const written = { resource, namespace, dryRun: isDryRun(query) };
  const represent = (object: KubeObject, status = 200) =>
    Response.json(representObject({ form: call.form, plural: resource.plural, query, now: store.now() }, object), {
      status,
    });
  const admit = (body: JsonObject) => resource.plural === "configmaps" ? withArchiveAddress(body, archiveUrl) : body;
  if (verb === "create") {
    existing(store, RESOURCES.namespaces, "", namespace);
    // kubectl sends a ConfigMap that it makes itself in protobuf.
    const isProtobuf = resource.plural === "configmaps" && sent.mediaType === PROTOBUF;
    const body = isProtobuf ? readProtobufConfigMap(await sent.bytes()) : await readJsonBody(sent);
    return represent(createObject(store, written, admit(body), conventions), 201);
  }
  if (name === null) throw methodNotAllowed(verb);
  if (verb === "get") return represent(existing(store, resource, namespace, name));
  if (verb === "update") {
    const body = admit(await readJsonBody(sent));
    const current = existing(store, resource, namespace, name);
    return represent(replaceObject(store, { ...written, name }, current, body));
  }
  if (verb === "patch") {
    existing(store, RESOURCES.namespaces, "", namespace);
    const patching = { fieldManager: fieldManager(query), force: isTrue(query, "force"), admit };
    const { object, isNew } = await patchObject(store, sent, { ...written, name }, patching);
    return represent(object, isNew ? 201 : 200);
  }
  const options = await sent.object();
  const current = existing(store, resource, namespace, name);
  deleteObject(store, { ...written, name }, current, {
    propagationPolicy: query.get("propagationPolicy"),
    ...options,
  });
  const details = { ...named(resource, name), uid: current.metadata.uid };
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

function fieldManager(query: URLSearchParams): string {
  const given = query.get("fieldManager") ?? "";
  if (given.length <= MAX_MANAGER_CHARACTERS) return given;
  const why = `may not be longer than ${MAX_MANAGER_CHARACTERS}`;
  throw invalidOptions("PatchOptions", "fieldManager", "TooLong", why);
}

const PROTOBUF = "application/vnd.kubernetes.protobuf";

async function readJsonBody(body: RequestBody): Promise<JsonObject> {
  // Without a type a body is taken for JSON, as by the real API server.
  if (!["application/json", ""].includes(body.mediaType)) throw unsupportedMediaType("application/json");
  return await body.object();
}
