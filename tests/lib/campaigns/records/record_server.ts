import { parse } from "yaml";

/** A ConfigMap of the server, with the `data` keys that each manager applied. */
export interface StoredMap {
  uid: string;
  version: number;
  labels: Record<string, string>;
  data: Record<string, string>;
  owners: Map<string, Set<string>>;
}

export interface Asked {
  readonly method: string;
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string | null;
  readonly text: string;
}

interface Applied {
  readonly metadata: { readonly uid?: string; readonly resourceVersion?: string; readonly labels?: object };
  readonly data?: Readonly<Record<string, string>>;
}

/**
 * An API server with Jobs and ConfigMaps by name, which takes server-side applies as the real one does: keys belong to
 * the managers that applied them, another's key is a conflict unless forced, and what a manager leaves out goes.
 */
export class RecordServer {
  readonly jobs = new Map<string, object>();
  pods: object[] = [];
  readonly maps = new Map<string, StoredMap>();
  readonly asked: Asked[] = [];
  /** Answers in the server's place when it gives a response. */
  instead: (request: Asked) => Response | null | Promise<Response | null> = () => null;
  readonly #server: Deno.HttpServer<Deno.NetAddr>;
  readonly #stop = new AbortController();
  #version = 0;

  constructor() {
    this.#server = Deno.serve(
      { port: 0, hostname: "127.0.0.1", onListen() {}, signal: this.#stop.signal },
      (request) => this.#answer(request),
    );
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.addr.port}`;
  }

  get patches(): Asked[] {
    return this.asked.filter(({ method }) => method === "PATCH");
  }

  async close(): Promise<void> {
    this.#stop.abort();
    await this.#server.finished;
  }

  /** Puts a map there, as another program would. */
  put(name: string, parts: Partial<Pick<StoredMap, "data" | "labels" | "owners">>): StoredMap {
    const version = ++this.#version;
    const map: StoredMap = { uid: `map-${version}`, version, labels: {}, data: {}, owners: new Map(), ...parts };
    this.maps.set(name, map);
    return map;
  }

  async #answer(request: Request): Promise<Response> {
    const { pathname, searchParams } = new URL(request.url);
    const asked = {
      method: request.method,
      path: pathname,
      query: searchParams,
      contentType: request.headers.get("content-type"),
      text: await request.text(),
    };
    this.asked.push(asked);
    const other = await this.instead(asked);
    if (other) return other;
    const selector = searchParams.get("labelSelector");
    if (selector !== null) return Response.json({ items: this.#listed(pathname, selector) });
    const name = decodeURIComponent(pathname.slice(pathname.lastIndexOf("/") + 1));
    if (request.method === "PATCH") return this.#apply(name, asked);
    const job = pathname.includes("/jobs/") ? this.jobs.get(name) : undefined;
    const map = pathname.includes("/configmaps/") ? this.maps.get(name) : undefined;
    if (job) return Response.json(job);
    return map ? Response.json(shown(name, map)) : failure(404, "NotFound");
  }

  /** As much of selectors as campaigns need: live Jobs, their pods and status records; there is nothing else. */
  #listed(path: string, selector: string): object[] {
    if (path.endsWith("/pods")) return this.pods;
    if (path.endsWith("/jobs")) return selector.includes("warmup") ? [] : [...this.jobs.values()];
    return selector.includes("kind=status") ? [...this.maps].map(([name, map]) => shown(name, map)) : [];
  }

  #apply(name: string, { text, query }: Asked): Response {
    const { metadata, data = {} }: Applied = parse(text, { version: "1.1" });
    const manager = query.get("fieldManager");
    if (!manager) return failure(400, "BadRequest");
    const old = this.maps.get(name);
    if (metadata.uid && !old) return failure(409, "Conflict");
    if (metadata.resourceVersion && metadata.resourceVersion !== String(old?.version)) return failure(409, "Conflict");
    if (old && metadata.uid && metadata.uid !== old.uid) return failure(422, "Invalid", "metadata.uid");
    const map = old ?? this.put(name, {});
    for (const [key, value] of Object.entries(data)) {
      const others = [...map.owners].filter(([other, keys]) => other !== manager && keys.has(key));
      if (others.length === 0 || map.data[key] === value) continue;
      if (query.get("force") !== "true") return failure(409, "Conflict");
      for (const [, keys] of others) keys.delete(key);
    }
    const left = [...map.owners.get(manager) ?? []].filter((key) => !Object.hasOwn(data, key));
    map.owners.set(manager, new Set(Object.keys(data)));
    for (const key of left) if (![...map.owners.values()].some((keys) => keys.has(key))) delete map.data[key];
    Object.assign(map.data, data);
    Object.assign(map.labels, metadata.labels);
    map.version = ++this.#version;
    return Response.json(shown(name, map), { status: old ? 200 : 201 });
  }
}

function shown(name: string, { uid, version, labels, data, owners }: StoredMap): object {
  const managedFields = [...owners].map(([manager, keys]) => ({
    manager,
    operation: "Apply",
    apiVersion: "v1",
    fieldsType: "FieldsV1",
    fieldsV1: { "f:data": Object.fromEntries([...keys].map((key) => [`f:${key}`, {}])) },
  }));
  const metadata = { namespace: "batch-default", name, uid, resourceVersion: String(version), labels, managedFields };
  return { apiVersion: "v1", kind: "ConfigMap", metadata, data };
}

function failure(code: number, reason: string, field?: string): Response {
  const details = field && { causes: [{ reason: "FieldValueInvalid", field }] };
  return Response.json({ kind: "Status", status: "Failure", reason, code, details }, { status: code });
}
