import { type Application, type ApplicationOptions, StartError } from "@/tests/application.ts";
import { freePort } from "@/tests/free_port.ts";
import { type HostedProcess, refusedByRuntime, startHostedProcess } from "./hosted_process.ts";
import { ROLES, startUpstreams, type Upstreams } from "./upstreams.ts";

/** The same at each start: a login outlives a restart. */
const SESSION_KEY = btoa("s".repeat(32));
/** So often a port is tried. */
const MAX_TRIES = 3;

/**
 * Starts a process with the embedded store and cluster, a Redis, and `hosted.ts` with all roles that knows of them by
 * settings alone. Its `site` and `pid` are those of `hosted.ts`. The store's tenant is that of the results; it is reached
 * as a store of one's own. Stopped, `hosted.ts` ends without a word. A test that has `EMBEDDED` off has upstreams of its
 * own, and gets `hosted.ts` alone.
 *
 * @throws {StartError}
 */
export async function startHosted(options: ApplicationOptions = {}): Promise<Application> {
  for (let tries = 1;; tries++) {
    try {
      return await startOnce(options);
    } catch (error) {
      // Another process has taken the port while the upstreams started: they have its number, so all is started again.
      if (!(error instanceof StartError && error.output.includes("AddrInUse")) || tries === MAX_TRIES) throw error;
    }
  }
}

/** @throws {StartError} */
async function startOnce(options: ApplicationOptions): Promise<Application> {
  const { env = {} } = options;
  const port = freePort();
  if (env.EMBEDDED === "off") return applicationOf(await startHostedProcess(env, port), null);
  const upstreams = await startUpstreams(options, `http://127.0.0.1:${port}/results`);
  try {
    return await applicationOf(await startHostedProcess(await settings(upstreams, env), port), upstreams);
  } catch (error) {
    await upstreams[Symbol.asyncDispose]();
    throw error;
  }
}

/** @throws {StartError} */
async function applicationOf(hosted: HostedProcess, upstreams: Upstreams | null): Promise<Application> {
  if (hosted.site === "") throw new StartError(hosted.output(), await hosted.ended);
  return {
    site: hosted.site,
    pid: hosted.pid,
    dataFolder: upstreams?.process.dataFolder ?? "",
    output: () => (upstreams?.process.output() ?? "") + hosted.output(),
    async stop() {
      await hosted.kill();
      const status = await upstreams?.process.stop();
      await upstreams?.[Symbol.asyncDispose]();
      const refused = refusedByRuntime(hosted);
      if (refused.length > 0) throw new Error(`the runtime refused:\n${refused.join("\n")}`);
      return status ?? { success: true, code: 0, signal: null };
    },
    async kill() {
      await hosted.kill();
      await upstreams?.[Symbol.asyncDispose]();
    },
  };
}

async function settings(
  { common, ofRole, kubeconfig }: Upstreams,
  env: Readonly<Record<string, string>>,
): Promise<Record<string, string>> {
  const isStorageOnly = "CAMPAIGN_WEB_SITE_ONLY" in env;
  const roles = ROLES.filter((role) => role !== "results" || !isStorageOnly);
  const ofRoles: Record<string, string> = Object.assign({}, ...roles.map((role) => ofRole[role]));
  if (!isStorageOnly) ofRoles.KUBECONFIG_CONTENT = await Deno.readTextFile(kubeconfig);
  return { ...common, TRUSTED_HOPS: "0", RESULTS_SESSION_KEY: SESSION_KEY, ...ofRoles };
}
