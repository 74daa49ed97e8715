import { Buffer } from "node:buffer";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";

const LOOPBACK = "127.0.0.1";
const POLL_MS = 20;
const START_TIMEOUT_MS = 90_000;
const START_ATTEMPTS = 5;
/** Ports beyond those that Linux gives to listeners on port 0 and to outgoing connections. */
const FIRST_PORT = 61_000;
const PORTS = 4_000;

/** Caddy, where this machine has it; null: a small proxy of the tests stands in for it. */
export const CADDY_PROGRAM = ["/usr/bin/caddy", "/usr/local/bin/caddy"].find((path) => {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}) ?? null;

/** A proxy with TLS that passes each host name on to an address of its own. */
export interface HostProxy extends AsyncDisposable {
  readonly port: number;
}

/** Origins by host name; `*` as the first label stands for any one. */
type Routes = ReadonlyMap<string, string>;

/** A proxy of the tests, as small as it can be. It passes the Host on, and writes who the client is. */
export function smallProxy(routes: Routes): HostProxy {
  const server = Deno.serve(
    { hostname: LOOPBACK, port: 0, cert: TEST_CERTIFICATE, key: TEST_KEY, onListen() {} },
    async (request, { remoteAddr }) => {
      const host = request.headers.get("host") ?? "";
      const name = host.replace(/:\d+$/, "");
      const target = routes.get(name) ?? routes.get(name.replace(/^[^.]+/, "*"));
      if (target === undefined) return new Response("no such site", { status: 404 });
      const forwarded = { host, "x-forwarded-for": remoteAddr.hostname, "x-forwarded-proto": "https" };
      const { pathname, search } = new URL(request.url);
      return await exchange(`${target}${pathname}${search}`, {
        method: request.method,
        headers: { ...Object.fromEntries(request.headers), ...forwarded },
        body: new Uint8Array(await request.arrayBuffer()),
      });
    },
  );
  return { port: server.addr.port, [Symbol.asyncDispose]: () => server.shutdown() };
}

/** Caddy with the same routes, on a port of its own. It cannot say which free one it found, so it tries some. */
export async function caddyProxy(routes: Routes): Promise<HostProxy> {
  for (let attempt = 0; attempt < START_ATTEMPTS; attempt++) {
    const proxy = await startCaddy(FIRST_PORT + Math.floor(Math.random() * PORTS), routes);
    if (proxy !== null) return proxy;
  }
  throw new Error(`${CADDY_PROGRAM} ended at each of ${START_ATTEMPTS} starts`);
}

/** @returns null where it ends, as it does on a port that is taken */
async function startCaddy(port: number, routes: Routes): Promise<HostProxy | null> {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-caddy-" });
  const sites = [...routes].map(([host, target]) => `${host}:${port} {\n\ttls internal\n\treverse_proxy ${target}\n}`);
  const globals = `{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n\tdefault_bind ${LOOPBACK}\n}`;
  await Deno.writeTextFile(`${folder}/Caddyfile`, [globals, ...sites, ""].join("\n"));
  const caddy = new Deno.Command(CADDY_PROGRAM!, {
    args: ["run", "--config", `${folder}/Caddyfile`, "--adapter", "caddyfile"],
    env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
    stdout: "null",
    stderr: "null",
  }).spawn();
  let hasEnded = false;
  const ended = caddy.status.then(() => hasEnded = true);
  const proxy = {
    port,
    async [Symbol.asyncDispose]() {
      if (!hasEnded) caddy.kill("SIGTERM");
      await ended;
      await Deno.remove(folder, { recursive: true });
    },
  };
  for (const end = Date.now() + START_TIMEOUT_MS; !(await servesAll(proxy, routes)) && !hasEnded;) {
    if (Date.now() > end) {
      await proxy[Symbol.asyncDispose]();
      throw new Error(`${CADDY_PROGRAM} does not serve port ${port}`);
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  if (!hasEnded) return proxy;
  await proxy[Symbol.asyncDispose]();
  return null;
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** A request to a name that only the proxy knows. */
export function throughProxy({ port }: Pick<HostProxy, "port">, url: string, sent: Sent = {}): Promise<Response> {
  const { host, pathname, search } = new URL(url);
  return exchange(`https://${LOOPBACK}:${port}${pathname}${search}`, { ...sent, headers: { ...sent.headers, host } });
}

/** Sends a request with its Host, which `fetch` takes from the address. */
function exchange(url: string, { method = "GET", headers = {}, body = "" }: Sent): Promise<Response> {
  const { protocol } = new URL(url);
  // The certificate of the tests has none of these names, and TLS to the proxy is not what is tested.
  const tls = { servername: headers.host?.replace(/:\d+$/, ""), rejectUnauthorized: false };
  const length = { "content-length": String(Buffer.byteLength(body)) };
  const options = { method, headers: { ...headers, ...length } };
  const sending = protocol === "https:" ? httpsRequest(url, { ...options, ...tls }) : httpRequest(url, options);
  return new Promise((resolve, reject) => {
    sending.on("error", reject);
    sending.on("response", async (response) => {
      const chunks: Buffer[] = [];
      for await (const chunk of response) chunks.push(chunk);
      const { statusCode: status = 502, headersDistinct } = response;
      const received = Object.entries(headersDistinct).flatMap(([name, values]) =>
        (values ?? []).map((value): [string, string] => [name, value])
      );
      const text = status === 204 || status === 304 || method === "HEAD" ? null : new Uint8Array(Buffer.concat(chunks));
      resolve(new Response(text, { status, headers: received }));
    });
    sending.end(body);
  });
}

/** Whether the proxy has a certificate for each name by now. */
async function servesAll(proxy: Pick<HostProxy, "port">, routes: Routes): Promise<boolean> {
  try {
    for (const host of routes.keys()) await throughProxy(proxy, `https://${host.replace("*", "any")}:${proxy.port}/`);
    return true;
  } catch {
    return false;
  }
}
