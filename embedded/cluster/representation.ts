import { ApiError, expiredVersion, invalidOptions, statusOf } from "./api_status.ts";
import { apiVersionOf, RESOURCES } from "./discovery.ts";
import { condition, isTerminating, type Job, type KubeObject, type Plural, type Pod } from "./kube_objects.ts";
import { isTrue, selectionOf, wholeNumber } from "./selection.ts";
import type { Change, ClusterStore } from "./store.ts";

/** The forms of a response. */
export type Form = "object" | "table" | "metadata";

/**
 * The first form of an `Accept` header that this API has: plain JSON, a `Table`, or metadata only (`PartialObjectMetadataList` for
 * lists, `PartialObjectMetadata` for one object). Throws a 406 for any other, and for the form of the other kind of request.
 */
export function acceptedForm(accept: string | null, isList: boolean): Form {
  for (const range of (accept ?? "*/*").split(",")) {
    const [type, ...parameters] = range.split(";").map((part) => part.trim());
    if (!["application/json", "application/*", "*/*"].includes(type.toLowerCase())) continue;
    const named = new URLSearchParams(parameters.join("&"));
    const as = named.get("as");
    if (as === null) return "object";
    if (named.get("g") !== "meta.k8s.io" || named.get("v") !== "v1") continue;
    if (as === "Table") return "table";
    if (as === (isList ? "PartialObjectMetadataList" : "PartialObjectMetadata")) return "metadata";
  }
  const message = "only the following media types are accepted: application/json, with as=Table or metadata only";
  throw new ApiError(406, "NotAcceptable", message);
}

/** How a response shows objects of one kind. */
interface Representation {
  readonly form: Form;
  readonly plural: Plural;
  readonly query: URLSearchParams;
  /** Milliseconds since 1970, for ages in tables. */
  readonly now: number;
}

/** One object in a form. */
export function representObject(as: Representation, object: KubeObject) {
  if (as.form === "object") return object;
  if (as.form === "metadata") return metadataOnly(object);
  return tableOf(as, [object], { resourceVersion: object.metadata.resourceVersion });
}

/** A list in a form; `metadata` is the list's own: its version, and where it continues. */
export function representList(
  as: Representation,
  objects: readonly KubeObject[],
  metadata: Readonly<Record<string, unknown>>,
) {
  if (as.form === "table") return tableOf(as, objects, metadata);
  if (as.form === "metadata") {
    const items = objects.map(metadataOnly);
    return { kind: "PartialObjectMetadataList", apiVersion: "meta.k8s.io/v1", metadata, items };
  }
  const resource = RESOURCES[as.plural];
  // The items of a typed list carry neither kind nor apiVersion.
  const items = objects.map(({ kind: _kind, apiVersion: _apiVersion, ...item }) => item);
  return { kind: `${resource.kind}List`, apiVersion: apiVersionOf(resource), metadata, items };
}

/** The object of a bookmark event: only the version that the watch has reached. */
function representBookmark(form: Form, plural: Plural, version: number) {
  const metadata = { resourceVersion: String(version), creationTimestamp: null };
  if (form === "table") return { kind: "Table", apiVersion: "meta.k8s.io/v1", metadata, rows: [] };
  if (form === "metadata") return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata };
  const resource = RESOURCES[plural];
  return { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata };
}

/** The metadata-only form of an object. */
function metadataOnly(object: KubeObject) {
  return { kind: "PartialObjectMetadata", apiVersion: "meta.k8s.io/v1", metadata: object.metadata };
}

/** Objects as the rows that `kubectl get` prints ("Receiving resources as Tables" of the Kubernetes API). */
function tableOf(
  { plural, query, now }: Representation,
  objects: readonly KubeObject[],
  metadata: Readonly<Record<string, unknown>>,
) {
  const includeObject = query.get("includeObject");
  const included = (object: KubeObject) => {
    if (includeObject === "None") return undefined;
    if (includeObject === "Object") return object;
    return metadataOnly(object);
  };
  return {
    kind: "Table",
    apiVersion: "meta.k8s.io/v1",
    metadata,
    columnDefinitions: COLUMNS[plural].map((name, index) => ({
      name,
      type: "string",
      format: index === 0 ? "name" : "",
      description: name,
      priority: 0,
    })),
    rows: objects.map((object) => ({ cells: cellsOf(object, now), object: included(object) })),
  };
}

const COLUMNS: Readonly<Record<Plural, readonly string[]>> = {
  configmaps: ["Name", "Data", "Age"],
  namespaces: ["Name", "Status", "Age"],
  pods: ["Name", "Ready", "Status", "Restarts", "Age"],
  jobs: ["Name", "Status", "Completions", "Duration", "Age"],
};

function cellsOf(object: KubeObject, now: number): unknown[] {
  const { name, creationTimestamp } = object.metadata;
  const age = span(now - Date.parse(creationTimestamp));
  switch (object.kind) {
    case "ConfigMap":
      return [name, String(Object.keys(object.data ?? {}).length), age];
    case "Namespace":
      return [name, object.status.phase, age];
    case "Pod":
      return [name, ...podCells(object), age];
    case "Job":
      return [name, ...jobCells(object, now), age];
  }
}

function podCells(pod: Pod): string[] {
  const containers = pod.status.containerStatuses ?? [];
  const ready = containers.filter((container) => container.ready).length;
  const ended = containers.find((container) => container.state.terminated)?.state.terminated;
  const waiting = pod.status.phase === "Pending" && (pod.status.initContainerStatuses ?? [])
    .some((container) => container.state.running);
  const initialising = waiting ? `Init:0/${pod.spec.initContainers?.length ?? 0}` : undefined;
  const leaving = isTerminating(pod) ? "Terminating" : undefined;
  const status = leaving ?? pod.status.reason ?? ended?.reason ?? initialising ?? pod.status.phase;
  return [`${ready}/${pod.spec.containers.length}`, status, "0"];
}

function jobCells(job: Job, now: number): string[] {
  const { startTime, completionTime, succeeded = 0 } = job.status;
  const status = ["Complete", "Failed", "Suspended", "FailureTarget"].find((type) => condition(job, type)) ?? "Running";
  const end = completionTime ?? condition(job, "Failed")?.lastTransitionTime;
  const duration = startTime ? span((end ? Date.parse(end) : now) - Date.parse(startTime)) : "";
  return [status, `${succeeded}/${job.spec.completions}`, duration];
}

/** A duration in milliseconds in the short form of `kubectl`: `45s`, `5m12s`, `3h20m`, `8d`. */
function span(milliseconds: number): string {
  const seconds = Math.max(0, Math.floor(milliseconds / 1000));
  if (seconds < 120) return `${seconds}s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 10) return seconds % 60 === 0 ? `${minutes}m` : `${minutes}m${seconds % 60}s`;
  if (minutes < 180) return `${minutes}m`;
  const hours = Math.floor(minutes / 60);
  if (hours < 8) return minutes % 60 === 0 ? `${hours}h` : `${hours}h${minutes % 60}m`;
  if (hours < 48) return `${hours}h`;
  return `${Math.floor(hours / 24)}d`;
}

/** The interval of bookmarks, ms; about that of the real API server. */
export const BOOKMARK_EVERY_MS = 60_000;
/** A watch without `timeoutSeconds` ends after half an hour. */
const DEFAULT_SECONDS = 1800;
/** Events that are serialised at once. */
const EVENTS_PER_CHUNK = 64;
/** The longest duration of a timer, with a margin. */
const MAX_TIMEOUT_SECONDS = 2_000_000;

interface WatchRequest {
  readonly plural: Plural;
  /** null: all namespaces. */
  readonly namespace: string | null;
  readonly form: Form;
  readonly query: URLSearchParams;
  readonly bookmarkEveryMs: number;
}

/**
 * The events of a watch, one JSON object per line (Kubernetes API concepts, "Efficient detection of changes"): from
 * `resourceVersion` on, or from the current state as ADDED events where none is given; with selectors, bookmarks and
 * `timeoutSeconds`. A version that is no longer stored is an ERROR event with a 410, as in the real API
 * server, and so is one not reached yet, which can only come from another cluster and would never be reached. Memory is
 * bounded by the store: a slow client reads the stored changes, and a 410 when they are gone.
 *
 * @throws ApiError 400 for a malformed parameter, 422 for `sendInitialEvents`, which clients then omit
 */
export function watchEvents(store: ClusterStore, request: WatchRequest): ReadableStream<Uint8Array> {
  const watch = new Watch(store, request);
  return new ReadableStream<Uint8Array>({
    pull: (controller) => watch.pull(controller),
    cancel: () => watch.cancel(),
  }, { highWaterMark: 0 });
}

interface Event {
  readonly type: "ADDED" | "MODIFIED" | "DELETED" | "BOOKMARK" | "ERROR";
  readonly object: unknown;
}

class Watch {
  readonly #selects: (object: KubeObject) => boolean;
  readonly #bookmarks: boolean;
  readonly #deadline: number;
  /** Objects whose ADDED events come first. */
  readonly #initial: KubeObject[];
  /** All changes up to this version are sent. */
  #version: number;
  #nextBookmark: number;
  #wake: () => void = () => {};
  #over = false;

  constructor(private readonly store: ClusterStore, private readonly request: WatchRequest) {
    const { query, plural, namespace } = request;
    this.#selects = selectionOf(plural, query);
    this.#bookmarks = isTrue(query, "allowWatchBookmarks");
    const now = performance.now();
    const seconds = wholeNumber(query, "timeoutSeconds") || DEFAULT_SECONDS;
    this.#deadline = now + Math.min(seconds, MAX_TIMEOUT_SECONDS) * 1000;
    this.#nextBookmark = now + request.bookmarkEveryMs;
    if (query.get("sendInitialEvents") || query.get("resourceVersionMatch")) {
      throw invalidOptions("ListOptions", "resourceVersionMatch", "Forbidden", "this cluster offers no initial events");
    }
    const from = wholeNumber(query, "resourceVersion") ?? 0;
    this.#initial = from === 0 ? store.list(plural, namespace).filter(this.#selects) : [];
    this.#version = from === 0 ? store.version : from;
  }

  async pull(controller: ReadableStreamDefaultController<Uint8Array>): Promise<void> {
    while (!this.#over) {
      const { events, ends } = this.#next();
      if (events.length > 0) {
        controller.enqueue(ENCODER.encode(events.map((event) => `${JSON.stringify(event)}\n`).join("")));
      }
      if (ends) {
        this.#over = true;
        controller.close();
      }
      if (events.length > 0 || ends) return;
      await this.#nextWake();
    }
  }

  cancel(): void {
    this.#over = true;
    this.#wake();
  }

  #next(): { events: Event[]; ends: boolean } {
    if (this.#initial.length > 0) {
      const objects = this.#initial.splice(0, EVENTS_PER_CHUNK);
      return { events: objects.map((object) => this.#event("ADDED", object)), ends: false };
    }
    const events = this.#changes();
    if (events.length > 0) return { events, ends: events.some((event) => event.type === "ERROR") };
    const now = performance.now();
    if (now >= this.#deadline) return { events: this.#bookmarks ? [this.#bookmark()] : [], ends: true };
    if (this.#bookmarks && now >= this.#nextBookmark) return { events: [this.#bookmark()], ends: false };
    return { events: [], ends: false };
  }

  /** The events of the next changes; nothing when there are none, or none that the watch selects. */
  #changes(): Event[] {
    while (this.#version !== this.store.version) {
      const changes = this.store.changesSince(this.#version);
      if (changes === null) return [{ type: "ERROR", object: statusOf(expiredVersion(this.#version)) }];
      const some = changes.slice(0, EVENTS_PER_CHUNK);
      this.#version = some[some.length - 1].version;
      const events = some.flatMap((change) => this.#eventOf(change) ?? []);
      if (events.length > 0) return events;
    }
    return [];
  }

  /** The event of a change: an object that now matches the selectors is ADDED, one that no longer does is DELETED. */
  #eventOf({ plural, version, object, previous }: Change): Event | null {
    if (plural !== this.request.plural) return null;
    const matches = (candidate: KubeObject | null): candidate is KubeObject =>
      candidate !== null && this.#isInNamespace(candidate) && this.#selects(candidate);
    if (matches(object)) return this.#event(matches(previous) ? "MODIFIED" : "ADDED", object);
    if (!matches(previous)) return null;
    // The object as it was last seen, at the version of the change.
    const metadata = { ...previous.metadata, resourceVersion: String(version) };
    return this.#event("DELETED", { ...previous, metadata });
  }

  #isInNamespace(object: KubeObject): boolean {
    const { namespace } = this.request;
    return namespace === null || (object.metadata.namespace ?? "") === namespace;
  }

  #event(type: Event["type"], object: KubeObject): Event {
    return { type, object: representObject({ ...this.request, now: this.store.now() }, object) };
  }

  #bookmark(): Event {
    const { form, plural, bookmarkEveryMs } = this.request;
    this.#nextBookmark = performance.now() + bookmarkEveryMs;
    return { type: "BOOKMARK", object: representBookmark(form, plural, this.#version) };
  }

  /** Resolves at the next change, bookmark or end. */
  async #nextWake(): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wake = woken.resolve;
    const until = this.#bookmarks ? Math.min(this.#deadline, this.#nextBookmark) : this.#deadline;
    const timer = setTimeout(woken.resolve, Math.max(0, until - performance.now()));
    const unsubscribe = this.store.onChange(woken.resolve);
    await woken.promise;
    clearTimeout(timer);
    unsubscribe();
  }
}

const ENCODER = new TextEncoder();
