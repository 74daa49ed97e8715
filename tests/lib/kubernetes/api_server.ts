import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { parseFieldSelector, parseLabelSelector } from "@/embedded/cluster/selectors.ts";
import { isObject } from "@/lib/std/is_object.ts";
import { member, stringAt } from "@/lib/std/untrusted.ts";
import type { SERVER } from "./tls_server.ts";

type Stored = Readonly<Record<string, unknown>>;

interface Happened {
  readonly version: number;
  readonly collection: string;
  readonly before: Stored | null;
  readonly after: Stored | null;
}

/** A watch under way. */
interface Watch {
  readonly collection: string;
  readonly answer: ServerResponse;
  readonly matches: (object: Stored) => boolean;
  readonly metadataOnly: boolean;
}

export interface Asked {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: Headers;
  readonly isWatch: boolean;
}

/** What happens to a request: an answer, nothing at all, a reset, or (null) what should. */
export type Outcome = { readonly status: number; readonly body?: string } | "hang" | "reset" | null;

export type Fault = (asked: Asked) => Outcome | Promise<Outcome>;

/** A Kubernetes API that lists and watches as the real one does, or misbehaves as a test tells it to. */
export class TestApi {
  readonly asked: Asked[] = [];
  readonly #objects = new Map<string, Map<string, Stored>>();
  readonly #happened: Happened[] = [];
  readonly #watches = new Set<Watch>();
  readonly #waiting = new Set<() => void>();
  #server: Server;
  #port = 0;
  #version = 100;
  /** Changes up to this version are forgotten. */
  #forgotten = 0;
  readonly #tls: typeof SERVER | null;
  fault: Fault | null = null;

  private constructor(tls: typeof SERVER | null) {
    this.#tls = tls;
    this.#server = this.#newServer();
  }

  static async start(tls: typeof SERVER | null = null): Promise<TestApi> {
    const api = new TestApi(tls);
    await api.restart();
    return api;
  }

  get url(): string {
    return `${this.#tls ? "https" : "http"}://127.0.0.1:${this.#port}`;
  }

  get watches(): number {
    return this.#watches.size;
  }

  /** Creates or replaces an object and tells the watches. */
  put(collection: string, object: Stored): void {
    const name = stringAt(object, "metadata", "name") ?? "";
    const objects = this.#collection(collection);
    const before = objects.get(name) ?? null;
    const metadata = member(object, "metadata");
    const after = {
      ...object,
      metadata: { ...(isObject(metadata) ? metadata : {}), resourceVersion: String(++this.#version) },
    };
    objects.set(name, after);
    this.#tell({ version: this.#version, collection, before, after });
  }

  remove(collection: string, name: string): void {
    const before = this.#collection(collection).get(name) ?? null;
    this.#collection(collection).delete(name);
    this.#tell({ version: ++this.#version, collection, before, after: null });
  }

  /** Sends every watch a bookmark. */
  bookmark(): void {
    this.send(`{"type":"BOOKMARK","object":{"metadata":{"resourceVersion":"${++this.#version}"}}}\n`);
  }

  /** Sends every watch some text. */
  send(text: string): void {
    this.sendBytes(encode(text));
  }

  sendBytes(bytes: Uint8Array): void {
    for (const { answer } of this.#watches) answer.write(bytes);
    this.#changed();
  }

  /** Forgets all changes so far: positions of before are 410. */
  forget(): void {
    this.#forgotten = this.#version;
  }

  /** Ends all watches: as asked for, or by breaking their connections. */
  end(how: "clean" | "reset" = "clean"): void {
    for (const { answer } of this.#watches) {
      if (how === "clean") answer.end();
      else answer.socket?.destroy();
    }
    this.#watches.clear();
    this.#changed();
  }

  /** Waits until something holds; it is looked at whenever a request comes or a change is sent. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) await new Promise<void>((resolve) => this.#waiting.add(resolve));
  }

  /** Stops at once, cutting what is under way; the objects stay. */
  kill(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    this.#server.closeAllConnections();
    this.#watches.clear();
    return closed;
  }

  /** Starts again on the same port. */
  restart(): Promise<void> {
    this.#server = this.#newServer();
    return new Promise((resolve) =>
      this.#server.listen(this.#port, "127.0.0.1", () => {
        const address = this.#server.address();
        if (typeof address === "object" && address) this.#port = address.port;
        resolve();
      })
    );
  }

  #newServer(): Server {
    const answer = (request: IncomingMessage, response: ServerResponse) => void this.#answer(request, response);
    return this.#tls ? createTlsServer(this.#tls, answer) : createServer(answer);
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? "/", "http://api.test");
    const query = url.searchParams;
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    const asked = { path: url.pathname, query, headers, isWatch: query.has("watch") };
    this.asked.push(asked);
    this.#changed();
    const outcome = await this.fault?.(asked) ?? null;
    if (outcome === "hang") return;
    if (outcome === "reset") return void request.socket.destroy();
    if (outcome) return void response.writeHead(outcome.status).end(outcome.body);
    if (asked.isWatch) this.#watch(asked, response);
    else {
      const object = asked.path === "/version" ? { gitVersion: "v1.32.0" } : this.#read(asked);
      response.writeHead(object ? 200 : 404).end(JSON.stringify(object ?? { kind: "Status", code: 404 }));
    }
    this.#changed();
  }

  #read({ path, query, headers }: Asked): object | null {
    const collection = this.#objects.get(path);
    if (!collection && /\/(?:jobs|pods|configmaps)$/.test(path) === false) {
      const cut = path.lastIndexOf("/");
      return this.#objects.get(path.slice(0, cut))?.get(decodeURIComponent(path.slice(cut + 1))) ?? null;
    }
    const metadataOnly = (headers.get("accept") ?? "").includes("as=PartialObjectMetadataList");
    const found = [...(collection ?? new Map<string, Stored>()).values()].filter(matcher(path, query));
    found.sort((a, b) => String(stringAt(a, "metadata", "name")) < String(stringAt(b, "metadata", "name")) ? -1 : 1);
    const start = Number(query.get("continue") ?? 0);
    const end = start + Number(query.get("limit") ?? Infinity);
    const metadata = { resourceVersion: String(this.#version), ...(end < found.length && { continue: String(end) }) };
    return { metadata, items: found.slice(start, end).map((object) => shown(object, metadataOnly)) };
  }

  #watch({ path, query, headers }: Asked, answer: ServerResponse): void {
    const since = Number(query.get("resourceVersion") ?? 0);
    answer.writeHead(200, { "Content-Type": "application/json" });
    answer.flushHeaders();
    if (since < this.#forgotten) {
      const status = { kind: "Status", code: 410, reason: "Expired" };
      answer.end(`${JSON.stringify({ type: "ERROR", object: status })}\n`);
      return;
    }
    const metadataOnly = (headers.get("accept") ?? "").includes("as=PartialObjectMetadata;");
    const mine = { collection: path, answer, matches: matcher(path, query), metadataOnly };
    this.#watches.add(mine);
    answer.on("close", () => {
      this.#watches.delete(mine);
      this.#changed();
    });
    for (const happened of this.#happened) if (happened.version > since) tell(mine, happened);
  }

  #collection(path: string): Map<string, Stored> {
    const objects = this.#objects.get(path) ?? new Map<string, Stored>();
    this.#objects.set(path, objects);
    return objects;
  }

  #tell(happened: Happened): void {
    this.#happened.push(happened);
    for (const watch of this.#watches) tell(watch, happened);
    this.#changed();
  }

  #changed(): void {
    for (const wake of this.#waiting) wake();
    this.#waiting.clear();
  }
}

function tell(watch: Watch, { version, collection, before, after }: Happened): void {
  if (collection !== watch.collection) return;
  const was = before !== null && watch.matches(before);
  const is = after !== null && watch.matches(after);
  if (!was && !is) return;
  const type = !was ? "ADDED" : is ? "MODIFIED" : "DELETED";
  const object = after ?? { ...before, metadata: { ...metadataOf(before), resourceVersion: String(version) } };
  watch.answer.write(`${JSON.stringify({ type, object: shown(object, watch.metadataOnly) })}\n`);
}

function metadataOf(object: Stored | null): Stored {
  const metadata = member(object, "metadata");
  return isObject(metadata) ? metadata : {};
}

function shown(object: Stored, metadataOnly: boolean): Stored {
  return metadataOnly ? { kind: "PartialObjectMetadata", metadata: object.metadata } : object;
}

function matcher(path: string, query: URLSearchParams): (object: Stored) => boolean {
  const label = parseLabelSelector(query.get("labelSelector") ?? "");
  const field = query.get("fieldSelector") ?? "";
  if (field !== "") parseFieldSelector(field, path.endsWith("/pods") ? "pods" : "configmaps");
  return (object) => {
    const labels = member(object, "metadata", "labels");
    const texts: Record<string, string> = {};
    for (const [name, value] of Object.entries(isObject(labels) ? labels : {})) texts[name] = String(value);
    if (!label(texts)) return false;
    return field !== "status.phase!=Succeeded" || stringAt(object, "status", "phase") !== "Succeeded";
  };
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
