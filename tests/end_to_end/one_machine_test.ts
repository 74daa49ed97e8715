import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { readPorts } from "@/embedded/store/ports.ts";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { mapiAuthorization } from "@/embedded/tests/store/store_fixture.ts";
import { TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";
import { logIn } from "./gateway_client.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const LOOPBACK = "127.0.0.1";
const SYSTEM_PASSWORD = "of the system 1";
const TENANT_PASSWORD = "of the archive 2";
const FURTHER_PASSWORD = "of research 3";

Deno.test("one machine: a store without samples serves its tenants behind a proxy with TLS, by host name", async () => {
  const folder = await Deno.makeTempDir({ prefix: "stackroom-machine-" });
  const file = async (name: string, text: string) => {
    await Deno.writeTextFile(`${folder}/${name}`, text, { mode: 0o600 });
    return `${folder}/${name}`;
  };
  const routes = new Map<string, string>();
  await using proxy = hostProxy(routes);
  const { port } = proxy.addr;
  const site = `https://store.stackroom.test:${port}`;
  using _removal = removeAtEnd(folder);
  await using application = await startApplication({
    dataFolder: `${folder}/data`,
    env: {
      ...STORAGE_ONLY,
      EMBEDDED_SAMPLES: "off",
      EMBEDDED_ADMIN_PASSWORD_FILE: await file("admin", SYSTEM_PASSWORD),
      EMBEDDED_TENANT: "Archive",
      EMBEDDED_TENANT_PASSWORD_FILE: await file("archive", TENANT_PASSWORD),
      TRUSTED_HOPS: "1",
      CAMPAIGN_RESULTS_URL: `${site}/results`,
      S3_PUBLIC_ENDPOINT_URL: `https://{tenant}.s3.stackroom.test:${port}`,
    },
  });
  assert.ok(!application.output().includes("stackroom-demo"), application.output());
  const loopback = application.site.replace(/\/$/, "");
  const known = readPorts(`${folder}/data/ports.json`);
  for (const name of ["store", "other"]) routes.set(`${name}.stackroom.test`, loopback);
  routes.set("*.s3.stackroom.test", `http://127.0.0.1:${known.s3}`);
  routes.set("admin.mapi.stackroom.test", `http://127.0.0.1:${known.mapi}`);
  routes.set("archive.mapi.stackroom.test", `http://127.0.0.1:${known["mapi archive"]}`);
  const archive = await logIn(application.site, "archive/admin", TENANT_PASSWORD);
  await archive.json("POST", "/buckets", { bucket: "letters" });
  const system = await logIn(application.site, "admin", SYSTEM_PASSWORD);
  const created = await system.call(
    "PUT",
    `/mapi/tenants?username=admin&password=${encodeURIComponent(FURTHER_PASSWORD)}`,
    { name: "research" },
  );
  assert.equal(created.status, 201, await created.text());
  const research = await logIn(application.site, "research/admin", FURTHER_PASSWORD);
  await research.json("POST", "/buckets", { bucket: "letters" });
  assert.equal((await (await logIn(application.site, "archive/curator")).call("GET", "/buckets")).status, 401);

  const through = (url: string, init?: Sent) => throughProxy(port, url, init);
  const login = await through(`${site}/login`);
  const page = await login.text();
  assert.deepEqual([login.status, page.includes("stackroom-demo")], [200, false]);
  assert.equal((await through(`https://other.stackroom.test:${port}/`)).status, 421, "no name of the site");

  for (const [tenant, client] of [["archive", archive], ["research", research]] as const) {
    const link = async (method: string) => {
      const { url } = await client.json("POST", "/presign", { bucket: "letters", key: "å b/1", method });
      assert.equal(new URL(String(url)).host, `${tenant}.s3.stackroom.test:${port}`);
      return String(url);
    };
    const text = `of ${tenant}`;
    const put = await through(await link("put_object"), { method: "PUT", body: text });
    assert.equal(put.status, 200, await put.text());
    const read = await link("get_object");
    assert.equal(await (await through(read)).text(), text);
    const other = read.replace(`//${tenant}.`, tenant === "archive" ? "//research." : "//archive.");
    assert.equal((await through(other)).status, 403, "the name of the host is signed");
    assert.equal((await through(read.replace(`//${tenant}.`, "//nobody."))).status, 403);
    const { endpoint_url } = await client.json("GET", "/credentials");
    assert.equal(endpoint_url, `https://${tenant}.s3.stackroom.test:${port}`);
  }
  const preflight = await through(`https://archive.s3.stackroom.test:${port}/letters/x`, {
    method: "OPTIONS",
    headers: { origin: site, "access-control-request-method": "PUT" },
  });
  assert.equal(preflight.headers.get("access-control-allow-origin"), site, "pages of the site may upload");

  const tenants = await through(`https://admin.mapi.stackroom.test:${port}/mapi/tenants`, {
    headers: mapiAuthorization("admin", SYSTEM_PASSWORD),
  });
  assert.deepEqual(await tenants.json(), { name: ["Archive", "research"] });
  const users = await through(`https://archive.mapi.stackroom.test:${port}/mapi/tenants/archive/userAccounts`, {
    headers: mapiAuthorization("admin", TENANT_PASSWORD),
  });
  assert.deepEqual(await users.json(), { username: ["admin"] });
});

/** Origins by host name; `*` as the first label stands for any one. */
type Routes = ReadonlyMap<string, string>;

/** A proxy with TLS that passes each host name on to an address of its own, with its Host and who the client is. */
function hostProxy(routes: Routes): Deno.HttpServer<Deno.NetAddr> {
  const options = { hostname: LOOPBACK, port: 0, cert: TEST_CERTIFICATE, key: TEST_KEY, onListen() {} };
  return Deno.serve(options, async (request, { remoteAddr }) => {
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
  });
}

interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | string;
}

/** A request to a name that only the proxy knows. */
function throughProxy(port: number, url: string, sent: Sent = {}): Promise<Response> {
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
