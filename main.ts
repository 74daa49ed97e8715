import { gatewayDeps } from "@/compose/gateway.ts";
import { usersFileLine } from "@/lib/auth/users_file.ts";
import { type Config, ConfigError, readConfig } from "@/lib/config.ts";
import { DataFolder, DataFolderError } from "@/lib/embedded/data_folder.ts";
import { resetDataFolder } from "@/lib/embedded/reset.ts";
import { type EmbeddedStore, startEmbeddedStore } from "@/lib/embedded/store/embedded_store.ts";
import { SAMPLE_LOGINS, SAMPLE_PASSWORD } from "@/lib/embedded/store/samples.ts";
import { batchedLog } from "@/lib/http/access_log.ts";
import { listen, ListenError } from "@/lib/process/listener.ts";
import { stopOnSignals } from "@/lib/process/stop.ts";
import { buildApp } from "@/routes/mod.ts";

try {
  switch (Deno.args[0]) {
    case "reset":
      console.log(resetDataFolder(readConfig(Deno.env.toObject()).dataFolder, confirm));
      break;
    case "user":
      console.log(await usersFileLine(Deno.args[1] ?? "", await standardInput()));
      break;
    default:
      await start(readConfig(Deno.env.toObject()));
  }
} catch (error) {
  const isExpected = error instanceof ConfigError || error instanceof DataFolderError || error instanceof ListenError;
  if (!isExpected) throw error;
  fail(error.message);
}

/** Configuration, then the embedded parts, then the app for the roles, then its address; it runs until it is told to stop. */
async function start(config: Config): Promise<void> {
  for (const warning of config.warnings) console.error(warning);
  const folder = config.embedded.store ? DataFolder.open(config.dataFolder) : null;
  const listener = listen(config.server.host, config.server.port);
  const store = folder && await startStore(config, folder);
  await store?.allowOrigins(siteOrigins(config, listener.origin, listener.port));

  const log = batchedLog((text) => Deno.stderr.writeSync(new TextEncoder().encode(text)));
  const app = buildApp({
    gateway: config.gateway && gatewayDeps(config, config.gateway, store, folder),
    allowedHosts: config.server.allowedHosts,
    log,
    now: Date.now,
  });
  listener.answerWith((request, info) => app.fetch(request, info));
  announce(config, listener.origin, store);

  stopOnSignals(async () => {
    await listener.drain();
    await store?.stop();
  }, () => log.flush());
}

function startStore(config: Config, folder: DataFolder): Promise<EmbeddedStore> {
  return startEmbeddedStore({
    folder: folder.path,
    hostname: config.embedded.host,
    converterPassword: folder.secret("converter-password"),
  }, (message) => fail(`The embedded store ended: ${message}`));
}

/** The origins of our own pages, under every name that we answer to. */
function siteOrigins(config: Config, origin: string, port: number): string[] {
  const names = config.server.allowedHosts ?? [];
  const listed = config.gateway?.corsOrigins ?? [];
  return [origin, ...names.map((name) => `http://${name}:${port}`), ...(listed === "*" ? [] : listed)];
}

/** What an operator wants to know first. */
function announce(config: Config, origin: string, store: EmbeddedStore | null): void {
  const lines = [["Site", `${origin}/`]];
  if (config.gateway) lines.push(["API", `${origin}/docs`]);
  if (store) {
    for (const [i, { login, what }] of SAMPLE_LOGINS.entries()) {
      lines.push([i === 0 ? "Logins" : "", `${login.padEnd(20)} ${what}`]);
    }
    lines.push(["Password", `${SAMPLE_PASSWORD} (for each of them)`]);
    lines.push(["Data", Deno.realPathSync(config.dataFolder)]);
  }
  console.log(lines.map(([label, text]) => `${label.padEnd(12)}${text}`).join("\n"));
}

async function standardInput(): Promise<string> {
  return (await new Response(Deno.stdin.readable).text()).replace(/\r?\n$/, "");
}

function fail(message: string): never {
  console.error(message);
  Deno.exit(1);
}
