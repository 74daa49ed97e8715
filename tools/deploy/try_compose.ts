/**
 * Starts every service of deploy/compose.yaml without containers, with its settings and on free ports of loopback, and
 * repeats the attacks of docs/security.md behind the proxy. It needs Caddy, Redis or Valkey, and MinIO: on the PATH, or
 * their paths in CADDY, REDIS and MINIO. With a word, only the attacks with it in their name.
 */
import { randomBytes } from "node:crypto";
import { fileURLToPath } from "node:url";
import { refuseArguments, toolArguments } from "@/tools/arguments.ts";
import { readComposeFile, type Service } from "./compose_file.ts";
import { ATTACKS, type Proxied } from "./proxied_attacks.ts";
import { ServiceProcess } from "./service_process.ts";
import { inTemporaryFolder, MissingTool, onPath } from "@/tools/temporary_tool.ts";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const START_MS = 30_000;
const POLL_MS = 20;
const HOSTS = { site: "stackroom.localhost", api: "api.stackroom.localhost", s3: "s3.stackroom.localhost" };
/** Addresses of the services inside their network. */
const INSIDE = { web: 8000, gateway: 8000, results: 8000, redis: 6379, s3: 9000 };
const SECRETS = {
  API_SECRET_KEY: randomBytes(32).toString("hex"),
  RESULTS_SESSION_KEY: randomBytes(32).toString("base64"),
  REDIS_PASSWORD: randomBytes(16).toString("hex"),
  S3_ROOT_ACCESS_KEY: "admin",
  S3_ROOT_SECRET_KEY: randomBytes(16).toString("hex"),
};
const ROLES = ["gateway", "web", "results"] as const;
type Role = typeof ROLES[number];

const { words: [part = ""] } = toolArguments(
  "deno run --config deno.test.json -A tools/deploy/try_compose.ts [PART OF A NAME]",
  { words: 1 },
);
const chosen = ATTACKS.filter(({ name }) => name.includes(part));
if (chosen.length === 0) refuseArguments(`no attack '${part}': ${ATTACKS.map(({ name }) => name).join("; ")}`);
await inTemporaryFolder("compose", async (folder) => {
  const programs = { caddy: program("CADDY"), redis: program("REDIS"), s3: program("MINIO") };
  const { services } = readComposeFile(await Deno.readTextFile(`${PROJECT}/deploy/compose.yaml`), SECRETS);
  const ports = freePorts([...Object.keys(INSIDE), ...ROLES.map(metricsOf), "http", "https"]);
  const local = (text: string) =>
    Object.entries(INSIDE).reduce(
      (rest, [name, port]) =>
        rest.replaceAll(new RegExp(`(?<![\\w.-])${name}:${port}\\b`, "g"), `127.0.0.1:${ports[name]}`),
      text,
    );
  const environment = ({ environment }: Service) =>
    Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, local(value)]));
  const processes: ServiceProcess[] = [];
  const start = async (name: string, command: readonly string[], env: Record<string, string>) => {
    processes.push(new ServiceProcess(name, PROJECT, command, { ...surroundings(), ...env }));
    await processes.at(-1)!.listening(ports[name] ?? ports.https);
    return processes.at(-1)!;
  };
  try {
    const [, , redis] = services.redis.command ?? [];
    await start("redis", [
      "sh",
      "-c",
      redis.replace("valkey-server -", `${programs.redis} - --port ${ports.redis} --bind 127.0.0.1 --dir ${folder}`),
    ], environment(services.redis));
    const s3 = (services.s3.command ?? []).map((word) =>
      word.replace(/^\/data$/, `${folder}/objects`).replace(/^:9000$/, `127.0.0.1:${ports.s3}`)
    );
    await start("s3", [programs.s3, ...s3], { ...environment(services.s3), HOME: folder });
    const role = (name: Role) =>
      start(name, [Deno.execPath(), "run", "--no-prompt", "--allow-run", "launch.ts"], {
        ...environment(services[name]),
        EMBEDDED: "off",
        HOST: "127.0.0.1",
        PORT: `${ports[name]}`,
        METRICS_HOST: "127.0.0.1",
        METRICS_PORT: `${ports[metricsOf(name)]}`,
      });
    const results = await role("results");
    const gateway = await role("gateway");
    const web = await role("web");
    const proxySettings = {
      HTTP_PORT: `${ports.http}`,
      HTTPS_PORT: `${ports.https}`,
      XDG_DATA_HOME: `${folder}/caddy`,
    };
    const caddyfile = ["--config", `${PROJECT}/deploy/Caddyfile`, "--adapter", "caddyfile"];
    await start("proxy", [programs.caddy, "run", ...caddyfile], {
      ...environment(services.proxy),
      ...proxySettings,
      XDG_CONFIG_HOME: `${folder}/caddy`,
    });
    const ca = await authority(`${folder}/caddy/caddy/pki/authorities/local/root.crt`);
    const target = (host: string) => ({ port: ports.https, host, ca });
    const proxied: Proxied = {
      site: target(HOSTS.site),
      api: target(HOSTS.api),
      s3: target(HOSTS.s3),
      account: { user: SECRETS.S3_ROOT_ACCESS_KEY, password: SECRETS.S3_ROOT_SECRET_KEY },
      gatewayLog: () => gateway.log(),
      webLog: () => web.log(),
    };
    await attackAll(proxied);
    for (const secret of Object.values(SECRETS).filter((value) => value !== SECRETS.S3_ROOT_ACCESS_KEY)) {
      const holder = [gateway, web, results].find(({ output }) => output.includes(secret));
      if (holder) throw new Error(`the log of ${holder.name} holds a secret`);
    }
  } finally {
    for (const process of processes.reverse()) await process.stop();
  }
});

/** The name of the port at which a role serves its metrics: here all roles have one address. */
function metricsOf(role: Role): string {
  return `metrics of ${role}`;
}

async function attackAll(proxied: Proxied): Promise<void> {
  const through: string[] = [];
  for (const { name, run } of chosen) {
    const failure = await run(proxied).then(() => null, (error: Error) => error.message);
    console.log(`${failure === null ? "ok  " : "FAIL"} ${name}${failure === null ? "" : `\n     ${failure}`}`);
    if (failure !== null) through.push(name);
  }
  console.log(`${chosen.length} attacks, ${through.length} of which got through`);
  if (through.length > 0) throw new Error("the proxy does not hold");
}

/** The path that a variable of that name holds, or of the first program of these that is on the PATH. */
function program(variable: "CADDY" | "REDIS" | "MINIO"): string {
  const names = { CADDY: ["caddy"], REDIS: ["valkey-server", "redis-server"], MINIO: ["minio"] }[variable];
  const found = Deno.env.get(variable) ?? names.map(onPath).find((path) => path !== null);
  if (found === undefined) throw new MissingTool(`${names.join(" or ")} is missing: install it, or set ${variable}`);
  return found!;
}

function surroundings(): Record<string, string> {
  return Object.fromEntries(["PATH", "HOME", "DENO_DIR"].flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}

/** The certificate of Caddy's own authority, which it writes after it has begun to listen. */
async function authority(path: string): Promise<string> {
  for (const end = Date.now() + START_MS;;) {
    const pem = await Deno.readTextFile(path).catch(() => "");
    if (pem.includes("END CERTIFICATE")) return pem;
    if (Date.now() > end) throw new Error("Caddy has no authority of its own");
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}

/** A free port for each name; all are held until all are found. */
function freePorts(names: readonly string[]): Record<string, number> {
  const listeners = names.map(() => Deno.listen({ hostname: "127.0.0.1", port: 0 }));
  for (const listener of listeners) listener.close();
  return Object.fromEntries(names.map((name, index) => [name, (listeners[index].addr as Deno.NetAddr).port]));
}
