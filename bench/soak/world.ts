import { readPorts } from "@/embedded/store/ports.ts";
import { RESULTS_TENANT } from "@/embedded/store/server/sample_data.ts";
import { type Application, startProcess } from "@/tests/application.ts";
import { startUpstreams, type Upstreams } from "@/tests/end_to_end/upstreams.ts";
import { freePort } from "@/tests/free_port.ts";
import { FaultProxy } from "./fault_proxy.ts";

const LOOPBACK = "127.0.0.1";
const SESSION_KEY = btoa("s".repeat(32));
/** Lifetime of tokens and sessions: short, so that they expire many times during the run. */
const TOKEN_MINUTES = 5;
const SESSION_HOURS = 0.1;
/** When both have expired for certain, ms. */
export const LOGIN_MS = SESSION_HOURS * 3_600_000;

/** The application with all roles, and what it uses in other processes, behind a proxy that has faults. */
export class SoakWorld implements AsyncDisposable {
  readonly #parts: AsyncDisposableStack;
  readonly #upstreams: Upstreams;
  readonly #clock: string | null;
  /** The process with the store and the cluster. */
  #servers: Application;

  private constructor(
    parts: AsyncDisposableStack,
    upstreams: Upstreams,
    readonly application: Application,
    readonly proxies: readonly FaultProxy[],
    clock: string | null,
  ) {
    this.#parts = parts;
    this.#upstreams = upstreams;
    this.#servers = upstreams.process;
    this.#clock = clock;
  }

  /** @param faketime the path of libfaketime (github.com/wolfcw/libfaketime), which steps the clock; null: it does not step */
  static async start(faketime: string | null): Promise<SoakWorld> {
    await using stack = new AsyncDisposableStack();
    const folder = await Deno.makeTempDir({ prefix: "stackroom-soak-" });
    stack.defer(() => Deno.remove(folder, { recursive: true }));
    const port = freePort();
    const resultsUrl = `http://${LOOPBACK}:${port}/results`;
    const upstreams = stack.use(await startUpstreams({ dataFolder: `${folder}/servers` }, resultsUrl));
    const kubeconfig = await Deno.readTextFile(upstreams.kubeconfig);
    const server = /"server": "(http:\/\/[^"]+):(\d+)"/.exec(kubeconfig);
    if (!server) throw new Error(`no address of a cluster in ${kubeconfig}`);
    const storePort = readPorts(`${folder}/servers/ports.json`)[`s3 ${RESULTS_TENANT}`];
    const store = stack.use(new FaultProxy(storePort));
    const cluster = stack.use(new FaultProxy(Number(server[2])));
    await Deno.writeTextFile(
      `${folder}/kubeconfig`,
      kubeconfig.replace(server[0], `"server": "${server[1]}:${cluster.port}"`),
    );
    const clock = faketime === null ? null : `${folder}/clock`;
    if (clock !== null) await Deno.writeTextFile(clock, "+0");
    const { gateway, results, web } = upstreams.ofRole;
    const storeUrl = `http://${LOOPBACK}:${store.port}`;
    const application = await startProcess({
      dataFolder: `${folder}/unused`,
      main: "bench/soak/collected_main.ts",
      env: {
        ...upstreams.common,
        ...{ ...web, ...results, ...gateway },
        ...{ HOST: LOOPBACK, PORT: String(port), S3_ENDPOINT_URL: storeUrl, RESULTS_S3_ENDPOINT: storeUrl },
        ...{ METRICS_PORT: "0", KUBECONFIG: `${folder}/kubeconfig`, RESULTS_SESSION_KEY: SESSION_KEY },
        ...{ API_TOKEN_EXPIRE_MINUTES: String(TOKEN_MINUTES), RESULTS_SESSION_HOURS: String(SESSION_HOURS) },
        ...(clock !== null && {
          ...{ LD_PRELOAD: faketime!, FAKETIME_TIMESTAMP_FILE: clock },
          ...{ FAKETIME_NO_CACHE: "1", FAKETIME_DONT_FAKE_MONOTONIC: "1" },
        }),
      },
    });
    stack.defer(async () => void await application.stop());
    return new SoakWorld(stack.move(), upstreams, application, [store, cluster], clock);
  }

  /** Kills the store and the cluster, and starts them over the same folder. */
  async restartServers(): Promise<void> {
    const { dataFolder } = this.#servers;
    await this.#servers.kill();
    this.#servers = await startProcess({
      dataFolder,
      env: { CAMPAIGN_RESULTS_URL: `${this.application.site}results` },
    });
    this.#parts.defer(() => this.#servers.kill().catch(() => {}));
  }

  /** Base URL of the metrics, with a trailing slash. */
  get metrics(): string {
    const found = /(http:\/\/\S+?)\/?metrics/.exec(this.application.output());
    if (!found) throw new Error("the start says no address of metrics");
    return `${found[1]}/`;
  }

  async restartRedis(): Promise<void> {
    await this.#upstreams.redis.kill();
    await this.#upstreams.redis.start();
  }

  /** Sets the application's clock so many seconds off. @returns false where it cannot be set */
  async stepClock(seconds: number): Promise<boolean> {
    if (this.#clock === null) return false;
    await Deno.writeTextFile(this.#clock, seconds < 0 ? String(seconds) : `+${seconds}`);
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#parts.disposeAsync();
  }
}
