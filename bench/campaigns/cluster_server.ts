/**
 * A large cluster and its results in a process of their own: the Kubernetes API as far as the web role reads it, and
 * `/results` with one session and a progress file for every volume. Prints its port; `/stats` counts what was asked.
 * Arguments: live campaigns, reaped ones, Job events per second.
 */
import { NAMESPACE, type ScaleCluster, scaleCluster } from "./scale_cluster.ts";

const [live, reaped, eventsPerSecond] = Deno.args.map(Number);
const cluster = scaleCluster(live, reaped);
const asked = { lists: 0, watches: 0, objects: 0, results: 0 };
const jobWatches = new Set<ReadableStreamDefaultController<Uint8Array>>();
const encoder = new TextEncoder();
let version = 1;

const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) }, (request) => {
  const { pathname, searchParams } = new URL(request.url);
  if (pathname === "/stats") return Response.json(asked);
  if (pathname === "/version") return Response.json({ gitVersion: "v1.32.0" });
  if (pathname.startsWith("/results/")) return result(pathname, request.headers.has("cookie"));
  const object = new RegExp(`^/api/v1/namespaces/${NAMESPACE}/configmaps/([^/]+)$`).exec(pathname);
  if (object) {
    asked.objects++;
    const text = cluster.configMap(object[1]);
    return new Response(text, { status: text === null ? 404 : 200 });
  }
  const items = cluster[kindOf(pathname, searchParams)];
  if (searchParams.has("watch")) return watch(items === cluster.jobs, Number(searchParams.get("timeoutSeconds")));
  asked.lists++;
  const start = Number(searchParams.get("continue") ?? 0);
  const end = start + Number(searchParams.get("limit") ?? items.length);
  const metadata = { resourceVersion: String(1000 + version), continue: end < items.length ? String(end) : "" };
  return new Response(`{"metadata":${JSON.stringify(metadata)},"items":[${items.slice(start, end).join(",")}]}`);
});

if (eventsPerSecond > 0) {
  setInterval(() => {
    version++;
    const line = encoder.encode(`{"type":"MODIFIED","object":${cluster.moved((version * 7) % live, version)}}\n`);
    for (const watch of jobWatches) watch.enqueue(line);
  }, 1000 / eventsPerSecond);
}
await server.finished;

function kindOf(path: string, query: URLSearchParams): Exclude<keyof ScaleCluster, "moved" | "configMap"> {
  const selector = query.get("labelSelector") ?? "";
  if (path.endsWith("/jobs")) return selector.includes("app=campaign-batch") ? "jobs" : "warmups";
  if (path.endsWith("/pods")) return "pods";
  if (selector.includes("!=status")) return "records";
  return selector.includes("=status") ? "statuses" : "pipelines";
}

/** Ends when asked to, after a bookmark. */
function watch(isJobs: boolean, seconds: number): Response {
  asked.watches++;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let mine: ReadableStreamDefaultController<Uint8Array> | undefined;
  const leave = () => {
    clearTimeout(timer);
    if (mine) jobWatches.delete(mine);
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      mine = controller;
      if (isJobs) jobWatches.add(controller);
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
