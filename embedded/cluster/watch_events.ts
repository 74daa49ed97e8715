import { expiredVersion, invalidOptions, statusOf } from "./api_status.ts";
import type { KubeObject, Plural } from "./kube_objects.ts";
import { type Form, representBookmark, representObject } from "./representation.ts";
import { isTrue, selectionOf, wholeNumber } from "./selection.ts";
import type { Change, ClusterStore } from "./store.ts";

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
  readonly #store: ClusterStore;
  readonly #request: WatchRequest;
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

  constructor(store: ClusterStore, request: WatchRequest) {
    const { query, plural, namespace } = request;
    this.#store = store;
    this.#request = request;
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
    while (this.#version !== this.#store.version) {
      const changes = this.#store.changesSince(this.#version);
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
    if (plural !== this.#request.plural) return null;
    const matches = (candidate: KubeObject | null): candidate is KubeObject =>
      candidate !== null && this.#isInNamespace(candidate) && this.#selects(candidate);
    if (matches(object)) return this.#event(matches(previous) ? "MODIFIED" : "ADDED", object);
    if (!matches(previous)) return null;
    // The object as it was last seen, at the version of the change.
    const metadata = { ...previous.metadata, resourceVersion: String(version) };
    return this.#event("DELETED", { ...previous, metadata });
  }

  #isInNamespace(object: KubeObject): boolean {
    const { namespace } = this.#request;
    return namespace === null || (object.metadata.namespace ?? "") === namespace;
  }

  #event(type: Event["type"], object: KubeObject): Event {
    return { type, object: representObject({ ...this.#request, now: this.#store.now() }, object) };
  }

  #bookmark(): Event {
    const { form, plural, bookmarkEveryMs } = this.#request;
    this.#nextBookmark = performance.now() + bookmarkEveryMs;
    return { type: "BOOKMARK", object: representBookmark(form, plural, this.#version) };
  }

  /** Resolves at the next change, bookmark or end. */
  async #nextWake(): Promise<void> {
    const woken = Promise.withResolvers<void>();
    this.#wake = woken.resolve;
    const until = this.#bookmarks ? Math.min(this.#deadline, this.#nextBookmark) : this.#deadline;
    const timer = setTimeout(woken.resolve, Math.max(0, until - performance.now()));
    const unsubscribe = this.#store.onChange(woken.resolve);
    await woken.promise;
    clearTimeout(timer);
    unsubscribe();
  }
}

const ENCODER = new TextEncoder();
