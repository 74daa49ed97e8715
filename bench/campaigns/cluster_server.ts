/**
 * A large embedded cluster and its results in a process of their own: the Kubernetes API, and `/results` with one session
 * and a progress file for every volume. Prints its port; `/stats` counts the requests. Arguments: live campaigns, reaped
 * ones, Job events per second.
 */
import { clusterApi } from "@/embedded/cluster/cluster_server.ts";
import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { LOCAL_HTTP } from "@/lib/process/local_http.ts";
import { scaleCluster } from "./scale_cluster.ts";

const [live, reaped, eventsPerSecond] = Deno.args.map(Number);
const cluster = scaleCluster(live, reaped);
const api = clusterApi(cluster.store, {
  address: () => "127.0.0.1",
  conventions: CONVENTIONS.stackroom,
  bodyReader: LOCAL_HTTP.bodyReader,
  archiveUrl: "http://127.0.0.1:9000",
});
const stats = { lists: 0, watches: 0, objects: 0, writes: 0, results: 0 };

const server = Deno.serve(
  { hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) },
  async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (pathname === "/stats") return Response.json(stats);
    if (pathname.startsWith("/results/")) return result(pathname, request.headers.has("cookie"));
    if (request.method === "PATCH") stats.writes++;
    else if (searchParams.has("watch")) stats.watches++;
    else if (/\/(?:jobs|pods|configmaps)$/.test(pathname)) stats.lists++;
    else if (pathname !== "/version") stats.objects++;
    return await api(request);
  },
);

if (eventsPerSecond > 0) {
  let events = 0;
  setInterval(() => cluster.move((++events * 7) % live, events), 1000 / eventsPerSecond);
}
await server.finished;

function result(path: string, isLoggedIn: boolean): Response {
  stats.results++;
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
