import { clusterApi } from "@/embedded/cluster/cluster_server.ts";
import type { ConfigMap, Plural } from "@/embedded/cluster/kube_objects.ts";
import { ClusterStore } from "@/embedded/cluster/store.ts";
import { applyByForce } from "@/embedded/cluster/writes.ts";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { LOCAL_HTTP } from "@/lib/process/local_http.ts";
import { freePort } from "@/tests/free_port.ts";

/** The namespace of the objects. */
export const NAMESPACE = "batch-default";
export const JOBS = `/apis/batch/v1/namespaces/${NAMESPACE}/jobs`;
export const PODS = `/api/v1/namespaces/${NAMESPACE}/pods`;
export const MAPS = `/api/v1/namespaces/${NAMESPACE}/configmaps`;

/** A request that the cluster received. */
export interface Received {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly text: string;
  readonly isWatch: boolean;
}

/** Instead of the cluster's response: a status, a response, none at all, one that breaks off, or (null) the cluster's own. */
export type Fault = number | Response | "hang" | "reset" | null;
export type Faults = (request: Received) => Fault | Promise<Fault>;

/** An open watch. */
interface Watch {
  readonly response: ReadableStreamDefaultController<Uint8Array>;
  readonly events: ReadableStreamDefaultReader<Uint8Array>;
}

/**
 * The API of the embedded cluster on a loopback port, over a store that tests fill themselves and perhaps over TLS. It
 * records its requests, and fails as a test chooses: other responses by `fault`, watches that break off, lines in their
 * midst, a state that is no longer stored, a server that is stopped.
 */
export class FaultyCluster implements AsyncDisposable {
  readonly store = new ClusterStore(Date.now, Math.random);
  readonly requests: Received[] = [];
  fault: Faults | null = null;
  /** Watches do not end at their `timeoutSeconds`. */
  keepsWatches = false;
  readonly #api = clusterApi(this.store, {
    address: () => "127.0.0.1",
    conventions: CONVENTIONS.stackroom,
    bodyReader: LOCAL_HTTP.bodyReader,
    archiveUrl: "http://127.0.0.1:9000",
  });
  readonly #tls: { readonly cert: string; readonly key: string } | null;
  readonly #watches = new Set<Watch>();
  readonly #waiting = new Set<() => void>();
  #server: Deno.HttpServer<Deno.NetAddr>;
  #stop = new AbortController();

  /** @param tls certificate and key (PEM); null: plain HTTP */
  constructor(tls: { readonly cert: string; readonly key: string } | null = null) {
    this.#tls = tls;
    this.#server = this.#serve(freePort());
    this.store.onChange(() => this.#changed());
    this.store.create("namespaces", {
      apiVersion: "v1",
      kind: "Namespace",
      metadata: { name: NAMESPACE },
      spec: { finalizers: [] },
      status: { phase: "Active" },
    });
  }

  get url(): string {
    return `http${this.#tls ? "s" : ""}://127.0.0.1:${this.#server.addr.port}`;
  }

  /** How many watches are open. */
  get watches(): number {
    return this.#watches.size;
  }

  /** The requests that change something. */
  get patches(): Received[] {
    return this.requests.filter(({ method }) => method === "PATCH");
  }

  /** Stores an object as it is, whatever its type, in a collection. */
  put(collection: string, object: Readonly<Record<string, unknown>>): void {
    const plural = pluralOf(collection);
    const metadata = { namespace: NAMESPACE, ...Object(object.metadata) };
    this.store.put(plural, { ...TYPES[plural], ...Object(object), metadata });
  }

  remove(collection: string, name: string): void {
    this.store.delete(pluralOf(collection), NAMESPACE, name);
  }

  /** Applies a ConfigMap as another program would. */
  apply(name: string, data: Readonly<Record<string, string>>, manager = "another"): void {
    applyByForce(this.store, { ...TYPES.configmaps, metadata: { name, namespace: NAMESPACE }, data }, manager);
  }

  configMap(name: string): ConfigMap | undefined {
    return this.store.get("configmaps", NAMESPACE, name);
  }

  /** Discards all earlier states: positions so far are 410. */
  forget(): void {
    this.store.restore(this.store.snapshot());
  }

  /** Sends every watch a bookmark of the current version. */
  bookmark(): void {
    this.send(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${this.store.version}"}}}\n`);
  }

  /** Sends every watch text or bytes. */
  send(content: string | Uint8Array): void {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    for (const { response } of this.#watches) response.enqueue(bytes);
  }

  /** Ends all watches: as their time is over, or by breaking their connections. */
  end(how: "clean" | "reset" = "clean"): void {
    for (const watch of this.#watches) {
      this.#leave(watch);
      if (how === "clean") watch.response.close();
      else watch.response.error(RESET);
    }
  }

  /** Waits until a condition holds, which is checked at each request, each change and each watch that opens or ends. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Stops at once and cuts open connections; the objects stay. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#server.finished;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  /** Starts again on the same port. */
  restart(): void {
    this.#stop = new AbortController();
    this.#server = this.#serve(this.#server.addr.port);
  }

  #serve(port: number): Deno.HttpServer<Deno.NetAddr> {
    // The default prints the error of each response that a test breaks off.
    const onError = () => new Response(null, { status: 500 });
    const options = { hostname: "127.0.0.1", port, onListen() {}, onError, signal: this.#stop.signal };
    return Deno.serve({ ...options, ...this.#tls }, (request) => this.#respond(request));
  }

  async #respond(request: Request): Promise<Response> {
    const url = new URL(request.url);
    const { method, headers } = request;
    const text = await request.text();
    const isWatch = url.searchParams.has("watch");
    const received = { method, path: url.pathname, query: url.searchParams, headers, text, isWatch };
    this.requests.push(received);
    this.#changed();
    const fault = await this.fault?.(received) ?? null;
    if (fault === "hang") return await new Promise(() => {});
    if (fault === "reset") return new Response(new ReadableStream({ pull: (body) => body.error(RESET) }));
    if (typeof fault === "number") return new Response(null, { status: fault });
    if (fault) return fault;
    const wanted = new URL(url);
    if (isWatch && this.keepsWatches) wanted.searchParams.set("timeoutSeconds", "3600");
    const response = await this.#api(new Request(wanted, { method, headers, body: text || null }));
    return isWatch && response.body ? this.#watch(response, response.body) : response;
  }

  #watch({ status, headers }: Response, stream: ReadableStream<Uint8Array>): Response {
    const events = stream.getReader();
    let watch: Watch;
    const body = new ReadableStream<Uint8Array>({
      start: (response) => {
        watch = { response, events };
        this.#watches.add(watch);
        this.#changed();
        this.#pass(watch);
      },
      cancel: () => this.#leave(watch),
    });
    return new Response(body, { status, headers });
  }

  async #pass(watch: Watch): Promise<void> {
    for (;;) {
      const { value } = await watch.events.read();
      if (!this.#watches.has(watch)) return;
      if (value === undefined) break;
      watch.response.enqueue(value);
    }
    this.#leave(watch);
    watch.response.close();
  }

  #leave(watch: Watch): void {
    this.#watches.delete(watch);
    watch.events.cancel();
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

/** Of a response that breaks off, which cuts its connection. */
const RESET = new Error("reset");

const TYPES = {
  jobs: { apiVersion: "batch/v1", kind: "Job" },
  pods: { apiVersion: "v1", kind: "Pod" },
  configmaps: { apiVersion: "v1", kind: "ConfigMap" },
  namespaces: { apiVersion: "v1", kind: "Namespace" },
} as const;

function pluralOf(collection: string): Plural {
  const plural = collection.slice(collection.lastIndexOf("/") + 1);
  if (plural === "jobs" || plural === "pods" || plural === "configmaps") return plural;
  throw new Error(`no collection ${collection}`);
}
