import { abort } from "node:process";
import { announcement } from "@/compose/announcement.ts";
import { backUp } from "@/compose/backup.ts";
import { type ClusterHandle, startCluster } from "@/compose/cluster.ts";
import { credentialMemory } from "@/compose/credential_memory.ts";
import { gatewayDeps } from "@/compose/gateway.ts";
import { resetDataFolder } from "@/compose/reset.ts";
import { resultsDeps } from "@/compose/results.ts";
import { REVOKED_SESSIONS_FILE } from "@/compose/revoked_sessions.ts";
import { verifyDataFolder } from "@/compose/verify.ts";
import { webRole } from "@/compose/web.ts";
import { isNoSpace } from "@/embedded/store/refusal.ts";
import { type EmbeddedStore, startEmbeddedStore } from "@/embedded/store/server/embedded_store.ts";
import { CONVERTER, RESULTS_BUCKET, RESULTS_TENANT } from "@/embedded/store/server/samples.ts";
import { usersFileLine } from "@/lib/auth/users_file.ts";
import { type Config, ConfigError, readConfig } from "@/lib/config/mod.ts";
import { batchedLog } from "@/lib/http/access_log.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { listen, ListenError } from "@/lib/process/listener.ts";
import { parentGone } from "@/lib/process/parent.ts";
import { standardInputEnded, stopOnSignals } from "@/lib/process/stop.ts";
import { revocationTextParsed } from "@/lib/results/revocation_text.ts";
import { SessionKeyError } from "@/lib/results/session_key.ts";
import { BuildError } from "@/lib/site/built_site.ts";
import { DataFolderError } from "@/lib/std/data_folder_error.ts";
import { writeDurably } from "@/lib/std/durable_files.ts";
import { buildApp } from "@/routes/mod.ts";
import { inProcessResults, resultsRole } from "@/routes/results/mod.ts";
import { unavailableApp } from "@/routes/unavailable.ts";

/** What ends a start with one line; anything else is a fault of ours and shows its stack. */
const EXPECTED = [ConfigError, DataFolderError, ListenError, SessionKeyError, BuildError];

/** Of a runtime whose connections cannot be held. */
const UNLIMITED_CONNECTIONS =
  "MAX_CONNECTIONS: this version of Deno gives no hold on connections, so their number and their timeouts are not limited: let a proxy in front do it (docs/operations.md)";

try {
  switch (Deno.args[0]) {
    case "reset":
      console.log(resetDataFolder(readConfig(Deno.env.toObject()).dataFolder, confirm));
      break;
    case "verify": {
      const isWell = verifyDataFolder(readConfig(Deno.env.toObject()).dataFolder, console.log, {
        [REVOKED_SESSIONS_FILE]: (text) => revocationTextParsed(text) !== null,
      });
      if (!isWell) Deno.exitCode = 1;
      break;
    }
    case "backup": {
      const { isWhole, lines } = await backUp(readConfig(Deno.env.toObject()).dataFolder, Deno.args[1] ?? "");
      for (const line of lines) console.log(line);
      if (!isWhole) Deno.exitCode = 1;
      break;
    }
    case "user":
      console.log(await usersFileLine(Deno.args[1] ?? "", await standardInput()));
      break;
    default:
      await start(readConfig(Deno.env.toObject()), Deno.args.includes("--dev"));
  }
} catch (error) {
  if (!(error instanceof Error) || !EXPECTED.some((expected) => error instanceof expected)) throw error;
  fail(error.message);
}

/** Configuration, then the embedded parts, then the app for the roles, then its address; it runs until it is told to stop. */
async function start(config: Config, dev: boolean): Promise<void> {
  for (const warning of config.warnings) console.error(warning);
  const log = batchedLog((text) => Deno.stderr.writeSync(new TextEncoder().encode(text)));
  const folder = config.embedded.store || config.embedded.cluster ? DataFolder.open(config.dataFolder) : null;
  for (const warning of folder?.warnings ?? []) console.error(warning);
  const { trustedHops } = config;
  const starting = unavailableApp({ detail: "Stackroom is starting", retryAfterSeconds: 1, trustedHops, log });
  const stopping = unavailableApp({ detail: "Stackroom is stopping", retryAfterSeconds: 5, trustedHops, log });
  const listener = listen(config.server.host, config.server.port, {
    starting: (request, info) => starting.fetch(request, info),
    stopping: (request, info) => stopping.fetch(request, info),
  }, config.server.connections);
  if (!listener.limitsConnections) console.error(UNLIMITED_CONNECTIONS);

  const store = folder && config.embedded.store ? await startStore(config, folder) : null;
  await store?.allowOrigins(siteOrigins(config, listener.origin, listener.port));
  const shown = config.web && !config.web.siteOnly ? config.web : null;
  const cluster = folder && shown && config.embedded.cluster
    ? await startSamples(config, folder, store, listener.origin)
    : null;

  const memory = credentialMemory();
  const fromStore = config.results && resultsDeps(config, config.results, store, folder, memory, log);
  const results = fromStore && resultsRole(fromStore);
  const web = config.web &&
    await webRole(config, config.web, { results: results && inProcessResults(results), cluster, dev, log });
  const app = buildApp({
    gateway: config.gateway && gatewayDeps(config, config.gateway, store, folder, memory),
    web: web && web.deps,
    results: config.web ? null : results,
    resultsTrustedHops: config.results?.trustedHops,
    resultsStore: fromStore?.store ?? null,
    diskIsFull: store && (() => store.isFull()),
    trustedHops,
    allowedHosts: config.server.allowedHosts,
    maxRequests: config.maxRequests,
    log,
    now: Date.now,
  });
  listener.answerWith((request, info) => app.fetch(request, info));

  const isLaunched = Deno.args.includes("--launched");
  if (dev) {
    // A watcher starts the process again by itself, and a signal handler would keep it alive behind the watcher's back.
    // It goes on after an exit, too, and each of its starts would leave a thread behind that reads standard input.
    if (isLaunched) parentGone().then(abort);
  } else {
    stopOnSignals({
      async finish() {
        await listener.drain();
        await web?.close();
        await cluster?.stop();
        await store?.stop();
      },
      cut: () => listener.cut(),
      last: () => log.flush(),
    }, isLaunched ? standardInputEnded() : new Promise(() => {}));
  }
  console.log(announcement(config, { origin: listener.origin, hasStore: store !== null, cluster }));
}

function startStore(config: Config, folder: DataFolder): Promise<EmbeddedStore> {
  return startEmbeddedStore({
    folder: folder.path,
    hostname: config.embedded.host,
    converterPassword: folder.secret("converter-password"),
  }, (message) => fail(`The embedded store ended: ${message}`));
}

/** The sample cluster, whose workers write their results into the embedded store where there is one. */
async function startSamples(
  config: Config,
  folder: DataFolder,
  store: EmbeddedStore | null,
  origin: string,
): Promise<ClusterHandle> {
  const { resultsUrl } = config.web ?? {};
  const address = await store?.addresses.s3(RESULTS_TENANT);
  const cluster = await startCluster({
    host: config.embedded.host,
    namespace: config.campaigns.namespaces[0],
    conventions: config.campaigns.conventions,
    ...config.simulator,
    resultsUrl: resultsUrl?.kind === "fixed" ? resultsUrl.url : `${origin}/results`,
    folder: folder.path,
    results: address
      ? {
        endpoint: address.endpoint,
        tenant: RESULTS_TENANT,
        bucket: RESULTS_BUCKET,
        username: CONVERTER,
        password: folder.secret("converter-password"),
      }
      : null,
  }, (message) => fail(`The embedded cluster ended: ${message}`));
  keepKubeconfig(folder, cluster.kubeconfig);
  return cluster;
}

/** Written only where it changed: a start goes on where the disk is full. */
function keepKubeconfig(folder: DataFolder, kubeconfig: string): void {
  const path = `${folder.path}/kubeconfig`;
  try {
    if (Deno.readTextFileSync(path) === kubeconfig) return;
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  try {
    writeDurably(path, new TextEncoder().encode(kubeconfig));
  } catch (error) {
    if (!isNoSpace(error)) throw error;
    console.error(`${path} was not written: the disk is full.`);
  }
}

/** The origins of our own pages, under every name that we answer to. */
function siteOrigins(config: Config, origin: string, port: number): string[] {
  const names = config.server.allowedHosts ?? [];
  const listed = config.gateway?.corsOrigins ?? [];
  return [origin, ...names.map((name) => `http://${name}:${port}`), ...(listed === "*" ? [] : listed)];
}

async function standardInput(): Promise<string> {
  return (await new Response(Deno.stdin.readable).text()).replace(/\r?\n$/, "");
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
