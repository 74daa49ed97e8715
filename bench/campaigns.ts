/**
 * The campaign read API before a large cluster (1,000 live campaigns of 8,000 volumes, 2,000 active pods, 1,000 whose
 * Job is gone), both in processes of their own, asked by 8 clients at once, each of which asks again when it has its
 * answer.
 */
import { campaignName, NAMESPACE, RESULTS_URL, VOLUMES } from "@/bench/campaigns/scale_cluster.ts";
import { atMost, ms, percentile, table } from "./table.ts";
import { HttpConnection } from "@/bench/wire/http_connection.ts";
import { serverCommand } from "@/compose/server_command.ts";
import { cpuSeconds, residentBytes } from "./process_figures.ts";

const LIVE = 1000;
const REAPED = 1000;
const CLIENTS = 8;
const LIST_REQUESTS = 2000;
const DETAIL_REQUESTS = 800;
/** Campaigns whose details are asked for with their progress cached, and those asked for the first time. */
const WARM_CAMPAIGNS = 4;
const FIRST_CAMPAIGNS = 64;
const EVENTS_PER_SECOND = 50;
const SMALLER = 250;
const START_MS = 30_000;
/** A first detail and one whose progress is cached, of the CPU of a list; and MiB of the web role once idle. */
const MOST_FIRST = 140;
const MOST_SETTLED = 5;
const MOST_MIB = 250;
/** Delay between the last request and the measurement of retained memory, ms: an idle heap is collected within seconds. */
const IDLE_MS = 15_000;

/** Lists and details: CPU of the web process, latencies, calls to the cluster; memory and start. */
export async function measureCampaigns(): Promise<string> {
  const rows = [["campaign read API", "CPU each", "median", "p99", "cluster calls", "bytes", "to reach", "reached"]];
  const notes: string[] = [];
  let resident: string[] = [];
  const quiet = await withSite(LIVE, 0, async (site) => {
    const memory = (when: string) => notes.push(`RSS ${mib(residentBytes(site.pid))} ${when}`);
    notes.push(`cold start to ready ${ms(site.startMs)}`);
    memory("when ready");
    await site.closedLoop(200, () => "/api/v1/jobs");
    const list = await site.closedLoop(LIST_REQUESTS, () => "/api/v1/jobs");
    rows.push(row("list", list));
    memory(`after ${LIST_REQUESTS} lists`);
    const first = await site.closedLoop(FIRST_CAMPAIGNS, (n) => detail(100 + n), 1);
    rows.push(row("first detail, one client", first, ofList(first, list, MOST_FIRST)));
    memory(`after ${FIRST_CAMPAIGNS} first details of 100 reads each`);
    for (let n = 0; n < WARM_CAMPAIGNS; n++) await site.settled(detail(n));
    const settled = await site.closedLoop(DETAIL_REQUESTS, (n) => detail(n % WARM_CAMPAIGNS));
    rows.push(row("detail, progress cached", settled, ofList(settled, list, MOST_SETTLED)));
    memory(`after ${DETAIL_REQUESTS} more details; at most ${mib(peakBytes(site.pid))}`);
    await new Promise((resolve) => setTimeout(resolve, IDLE_MS));
    const bytes = residentBytes(site.pid);
    resident = [`web role, ${LIVE} campaigns of ${VOLUMES} volumes, idle after that`, mib(bytes)];
    resident.push(...atMost(Math.round(bytes / 2 ** 20), MOST_MIB, " MiB"));
    return list;
  });
  await withSite(LIVE, EVENTS_PER_SECOND, async (site) => {
    await site.closedLoop(200, () => "/api/v1/jobs");
    rows.push(row(`list, ${EVENTS_PER_SECOND} events/s`, await site.closedLoop(LIST_REQUESTS, () => "/api/v1/jobs")));
  });
  const smaller = await withSite(SMALLER, 0, async (site) => {
    await site.closedLoop(200, () => "/api/v1/jobs");
    const list = await site.closedLoop(LIST_REQUESTS, () => "/api/v1/jobs");
    rows.push(row(`list of ${SMALLER} campaigns`, list));
    return list;
  });
  const growth = (quiet.cpuMs - smaller.cpuMs) / (LIVE - SMALLER);
  notes.push(`one more campaign costs a list ${growth.toFixed(5)} ms CPU`);
  const memories = table([["memory", "RSS", "to reach", "reached"], resident]);
  return [table(rows), ...notes, "", memories].join("\n");
}

/** The measures that `bench/mod.ts` runs. */
export const campaignMeasures = [measureCampaigns];

interface Figures {
  readonly cpuMs: number;
  readonly durations: readonly number[];
  readonly clusterCalls: number;
  readonly bytes: number;
}

interface Site {
  readonly pid: number;
  readonly startMs: number;
  /** So many requests by clients that ask one after another. */
  closedLoop(requests: number, path: (n: number) => string, clients?: number): Promise<Figures>;
  /** Asks for a detail until all its volumes that have started are counted. */
  settled(path: string): Promise<void>;
}

const HEADERS = { Cookie: "results_session=bench" };

function detail(index: number): string {
  return `/api/v1/jobs/${NAMESPACE}/${campaignName(index)}`;
}

async function withSite<T>(live: number, events: number, use: (site: Site) => Promise<T>): Promise<T> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-bench-" });
  const cluster = run([
    "run",
    "--config",
    "deno.json",
    "-A",
    "bench/campaigns/cluster_server.ts",
    `${live}`,
    `${REAPED}`,
    `${events}`,
  ]);
  const children = [cluster];
  try {
    const clusterUrl = `http://127.0.0.1:${await lineWith(cluster, /^(\d+)$/m)}`;
    await Deno.writeTextFile(`${folder}/kubeconfig`, kubeconfig(clusterUrl));
    const startedAt = performance.now();
    const settings = {
      ROLES: "web",
      EMBEDDED: "off",
      HOST: "127.0.0.1",
      PORT: "0",
      KUBECONFIG: `${folder}/kubeconfig`,
      CAMPAIGN_NAMESPACES: NAMESPACE,
      CAMPAIGN_RESULTS_URL: RESULTS_URL,
      CAMPAIGN_RESULTS_PROXY: `${clusterUrl}/results`,
      CAMPAIGN_WEB_STATIC: `${folder}/none`,
    };
    const { args, env } = await serverCommand(settings);
    const web = run(args, { ...env, ...settings });
    children.push(web);
    const site = (await lineWith(web, /^Site\s+(\S+?)\/?\s*$/m)).replace(/\/$/, "");
    await ready(site);
    return await use(siteOf(site, clusterUrl, web.pid, performance.now() - startedAt));
  } finally {
    for (const child of children) child.kill("SIGKILL");
    await Promise.all(children.map((child) => child.status));
    await Deno.remove(folder, { recursive: true });
  }
}

function siteOf(site: string, clusterUrl: string, pid: number, startMs: number): Site {
  const clusterCalls = async () => {
    const { lists, objects, writes } = await (await fetch(`${clusterUrl}/stats`)).json();
    return lists + objects + writes;
  };
  return {
    pid,
    startMs,
    async closedLoop(requests, path, clients = CLIENTS) {
      const durations: number[] = [];
      let [next, bytes] = [0, 0];
      const before = { cpu: cpuSeconds(pid), reads: await clusterCalls() };
      await Promise.all(Array.from({ length: clients }, async () => {
        // Each answer that `fetch` reads leaves a megabyte to collect here, and those pauses were counted as the site's.
        const connection = new HttpConnection(site);
        while (next < requests) {
          const n = next++;
          let length = 0;
          const startedAt = performance.now();
          const answer = await connection.request("GET", path(n), Object.entries(HEADERS), null, (part) => {
            length += part.length;
          });
          if (answer.status !== 200) throw new Error(`${path(n)}: ${answer.status}`);
          durations.push(performance.now() - startedAt);
          bytes = length;
        }
        connection.close();
      }));
      const cpuMs = (cpuSeconds(pid) - before.cpu) * 1000 / requests;
      return { cpuMs, durations, clusterCalls: await clusterCalls() - before.reads, bytes };
    },
    async settled(path) {
      for (;;) {
        const { pagesCoverage } = await (await fetch(site + path, { headers: HEADERS })).json();
        if (pagesCoverage.counted === pagesCoverage.of) return;
      }
    },
  };
}

/** CPU against that of a list of the same run, since machines differ. */
function ofList({ cpuMs }: Figures, list: Figures, most: number): [toReach: string, reached: string] {
  return atMost(cpuMs / list.cpuMs, most, " x the list");
}

function row(
  what: string,
  { cpuMs, durations, clusterCalls, bytes }: Figures,
  verdict: readonly [toReach: string, reached: string] = ["", ""],
): string[] {
  const figures = [cpuMs, percentile(durations, 0.5), percentile(durations, 0.99)].map(ms);
  return [what, ...figures, String(clusterCalls), String(bytes), ...verdict];
}

function run(args: readonly string[], env: Readonly<Record<string, string>> = {}): Deno.ChildProcess {
  const cwd = new URL("..", import.meta.url);
  return new Deno.Command(Deno.execPath(), {
    args: [...args],
    cwd,
    env: { NO_COLOR: "1", ...env },
    stdin: "null",
    stdout: "piped",
    stderr: "null",
  }).spawn();
}

/** The first group of a pattern that a child's output comes to match. */
async function lineWith(child: Deno.ChildProcess, pattern: RegExp): Promise<string> {
  let output = "";
  const [mine, rest] = child.stdout.tee();
  rest.pipeTo(new WritableStream()).catch(() => {});
  for await (const text of mine.pipeThrough(new TextDecoderStream())) {
    output += text;
    const found = pattern.exec(output)?.[1];
    if (found) return found;
  }
  throw new Error(`no ${pattern}: ${output}`);
}

async function ready(site: string): Promise<void> {
  for (const since = performance.now(); performance.now() - since < START_MS;) {
    const answer = await fetch(`${site}/readyz`);
    await answer.body?.cancel();
    if (answer.ok) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("the site did not become ready");
}

function kubeconfig(server: string): string {
  return JSON.stringify({
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "c", cluster: { server, "insecure-skip-tls-verify": true } }],
    users: [{ name: "u", user: {} }],
    contexts: [{ name: "x", context: { cluster: "c", user: "u" } }],
    "current-context": "x",
  });
}

function peakBytes(pid: number): number {
  return Number(/^VmHWM:\s+(\d+) kB/m.exec(Deno.readTextFileSync(`/proc/${pid}/status`))?.[1]) * 1024;
}

function mib(bytes: number): string {
  return `${Math.round(bytes / 1024 / 1024)} MiB`;
}
