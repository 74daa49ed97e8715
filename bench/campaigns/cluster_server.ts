/**
 * A large cluster and its results in a process of their own: the Kubernetes API as far as the web role reads it, and
 * `/results` with one session and a progress file for every volume. Prints its port; `/stats` counts what was asked.
 * Arguments: live campaigns, reaped ones, Job events per second.
 */
import { NAMESPACE, type ScaleCluster, scaleCluster } from "./scale_cluster.ts";

const [live, reaped, eventsPerSecond] = Deno.args.map(Number);
const cluster = scaleCluster(live, reaped);
const asked = { lists: 0, watches: 0, objects: 0, writes: 0, results: 0 };
const watches = new Map<ScaleCluster["jobs"], Set<ReadableStreamDefaultController<Uint8Array>>>(
  [cluster.jobs, cluster.statuses].map((items) => [items, new Set()]),
);
const encoder = new TextEncoder();
type Collections = "jobs" | "warmups" | "pods" | "records" | "statuses" | "pipelines";
const OBJECT = new RegExp(`/namespaces/${NAMESPACE}/(jobs|configmaps)/([^/]+)$`);
let version = 1;

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) },
  async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/stats") return Response.json(asked);
    if (pathname === "/version") return Response.json({ gitVersion: "v1.32.0" });
    if (pathname.startsWith("/results/")) return result(pathname, request.headers.has("cookie"));
    const [, kind, name] = OBJECT.exec(pathname) ?? [];
    if (request.method === "PATCH") {
      asked.writes++;
      const object = cluster.applied(name, (await request.json()).data);
      if (object !== null) tell(cluster.statuses, object);
      return answered(object);
    }
    if (name) {
      asked.objects++;
      return answered(kind === "jobs" ? cluster.job(name) : cluster.configMap(name));
    }
    const items = cluster[kindOf(pathname, searchParams)];
    if (searchParams.has("watch")) {
      return watch(
        watches.get(items) ?? new Set(),
        Number(searchParams.get("timeoutSeconds")),
      );
    }
    asked.lists++;
    const start = Number(searchParams.get("continue") ?? 0);
    const end = start + Number(searchParams.get("limit") ?? items.length);
    const metadata = { resourceVersion: String(1000 + version), continue: end < items.length ? String(end) : "" };
    return new Response(`{"metadata":${JSON.stringify(metadata)},"items":[${items.slice(start, end).join(",")}]}`);
  },
);

if (eventsPerSecond > 0) {
  setInterval(() => {
    version++;
    tell(cluster.jobs, cluster.moved((version * 7) % live, version));
  }, 1000 / eventsPerSecond);
}
await server.finished;

function answered(object: string | null): Response {
  return new Response(object, { status: object === null ? 404 : 200 });
}

function tell(items: ScaleCluster["jobs"], object: string): void {
  const line = encoder.encode(`{"type":"MODIFIED","object":${object}}\n`);
  for (const watch of watches.get(items) ?? []) watch.enqueue(line);
}

function kindOf(path: string, query: URLSearchParams): Collections {
  const selector = query.get("labelSelector") ?? "";
  if (path.endsWith("/jobs")) return selector.includes("app=campaign-batch") ? "jobs" : "warmups";
  if (path.endsWith("/pods")) return "pods";
  if (selector.includes("!=status")) return "records";
  return selector.includes("=status") ? "statuses" : "pipelines";
}

/** Ends when asked to, after a bookmark. */
function watch(others: Set<ReadableStreamDefaultController<Uint8Array>>, seconds: number): Response {
  asked.watches++;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let mine: ReadableStreamDefaultController<Uint8Array> | undefined;
  const leave = () => {
    clearTimeout(timer);
    if (mine) others.delete(mine);
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      mine = controller;
      others.add(controller);
      timer = setTimeout(() => {
        leave();
        const object = { metadata: { resourceVersion: String(1000 + version) } };
        controller.enqueue(encoder.encode(JSON.stringify({ type: "BOOKMARK", object }) + "\n"));
        controller.close();
      }, seconds * 1000);
    },
    cancel: leave,
  });
  return new Response(body);
}

function result(path: string, isLoggedIn: boolean): Response {
  asked.results++;
  if (!isLoggedIn) return new Response(null, { status: 401 });
  if (path === "/results/_session") return Response.json({ user: "anna" });
  return Response.json({
    pages_total: 200,
    pages_done: 180,
    pages_failed: 1,
    last_page: "0180",
    stage: "stream",
    updated_at: "2026-01-02T10:00:00Z",
    errors: 1,
    last_error: { page: "0017", error: "sidan är tom" },
  });
}
