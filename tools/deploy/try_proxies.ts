/**
 * Starts Stackroom with an embedded store behind Debian's nginx and behind HAProxy, each with its file of deploy/, and
 * uses it through them by curl: a browser's login, an upload of 200 MB, ranges, presigned links, other host names. It needs
 * nginx, haproxy, curl and openssl on the PATH, and must run as root.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { freePort } from "@/tests/free_port.ts";
import { toolArguments } from "@/tools/arguments.ts";
import { ServiceProcess } from "./service_process.ts";
import { inTemporaryFolder, MissingTool, onPath } from "@/tools/temporary_tool.ts";

const PROJECT = fileURLToPath(new URL("../../", import.meta.url)).replace(/\/$/, "");
const SITE = "store.example.org";
const S3 = "archive.s3.example.org";
const PASSWORD = "a password for this trial";
const LARGE_BYTES = 200_000_000;
const POLL_MS = 50;
const PROXIES = ["nginx", "haproxy"] as const;

toolArguments("deno run --config deno.test.json -A tools/deploy/try_proxies.ts");
await inTemporaryFolder("proxies", async (folder) => {
  for (const program of [...PROXIES, "curl", "openssl"]) {
    if (onPath(program) === null) throw new MissingTool(`${program} is missing: install it`);
  }
  // The proxies change their user.
  await Deno.chmod(folder, 0o755);
  await makeCertificates(folder);
  await Deno.writeTextFile(`${folder}/password`, PASSWORD, { mode: 0o600 });
  await Deno.writeFile(`${folder}/large`, crypto.getRandomValues(new Uint8Array(50_000)));
  await Deno.truncate(`${folder}/large`, LARGE_BYTES);
  for (const proxy of PROXIES) await tryProxy(proxy, folder);
});

async function tryProxy(proxy: typeof PROXIES[number], folder: string): Promise<void> {
  const [http, https, port] = [freePort(), freePort(), freePort()];
  const env = Object.fromEntries(["PATH", "HOME", "DENO_DIR"].map((name) => [name, Deno.env.get(name) ?? ""]));
  const stackroom = new ServiceProcess("stackroom", PROJECT, [
    Deno.execPath(),
    ...["run", "--no-prompt", "--allow-run", "launch.ts"],
  ], {
    ...env,
    EMBEDDED: "store",
    EMBEDDED_SAMPLES: "off",
    EMBEDDED_ADMIN_PASSWORD_FILE: `${folder}/password`,
    EMBEDDED_TENANT: "archive",
    EMBEDDED_TENANT_PASSWORD_FILE: `${folder}/password`,
    ROLES: "gateway,web",
    CAMPAIGN_WEB_SITE_ONLY: "1",
    CAMPAIGN_RESULTS_URL: `https://${SITE}:${https}/results`,
    S3_PUBLIC_ENDPOINT_URL: `https://{tenant}.s3.example.org:${https}`,
    TRUSTED_HOPS: "1",
    PORT: `${port}`,
    DATA_DIR: `${folder}/data-${proxy}`,
  });
  const started = [stackroom];
  try {
    await stackroom.listening(port);
    // The process listens before its embedded store does.
    while (!(await fetch(`http://127.0.0.1:${port}/readyz`).then(async ({ ok, body }) => (await body?.cancel(), ok)))) {
      await new Promise((resolve) => setTimeout(resolve, POLL_MS));
    }
    const { s3 } = JSON.parse(await Deno.readTextFile(`${folder}/data-${proxy}/ports.json`));
    const file = proxy === "nginx" ? "nginx.conf" : "haproxy.cfg";
    const site = adapt(await Deno.readTextFile(`${PROJECT}/deploy/${file}`), { folder, http, https, port, s3 });
    await Deno.writeTextFile(`${folder}/${file}`, site);
    const command = proxy === "nginx"
      ? ["nginx", "-p", folder, "-c", await mainFile(folder, file), "-e", `${folder}/nginx.log`]
      : ["haproxy", "-db", "-f", `${folder}/${file}`];
    started.push(new ServiceProcess(proxy, folder, command, env));
    await started[1].listening(https);
    await useThrough(proxy, folder, https);
  } catch (error) {
    throw new Error(
      `${(error as Error).message}\n` + started.map(({ name, output }) => `${name}:\n${output}`).join("\n"),
      { cause: error },
    );
  } finally {
    for (const one of started.reverse()) await one.stop();
  }
}

/** Reads and writes as an operator's users would. */
async function useThrough(proxy: string, folder: string, https: number): Promise<void> {
  const base = `https://${SITE}:${https}`;
  const names = [SITE, S3, "other.example.org"].flatMap((host) => ["--resolve", `${host}:${https}:127.0.0.1`]);
  const curl = async (...args: string[]) => {
    const all = ["-sS", "--cacert", `${folder}/ca.crt`, ...names, ...args];
    const { stdout, stderr } = await new Deno.Command("curl", { args: all }).output();
    return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
  };
  const status = (...args: string[]) => curl("-o", "/dev/null", "-w", "%{http_code} %{redirect_url}", ...args);
  const form = ["-d", "username=archive/admin", "--data-urlencode", `password=${PASSWORD}`];
  assert.equal(
    await status(`${base}/login`, "-H", `Origin: ${base}`, ...form),
    `303 ${base}/storage?account=archive%2Fadmin`,
  );
  assert.match(await status(`${base}/login`, "-H", "Origin: https://evil.example.org", ...form), /error=403/);
  const token: string = JSON.parse(await curl(`${base}/api/v1/auth/token`, ...form)).access_token;
  const bearer = ["-H", `Authorization: Bearer ${token}`];
  const api = `${base}/api/v1`;
  assert.equal(await status(`${api}/buckets`, ...bearer, "-d", '{"bucket":"scans"}'), "201 ");
  assert.equal(await status(`${api}/buckets/scans/objects/large`, ...bearer, "-T", `${folder}/large`), "200 ");
  assert.equal(await status(`${api}/buckets/scans/objects/large`, ...bearer, "-r", "100-199"), "206 ");
  const read = await curl(`${api}/buckets/scans/objects/large`, ...bearer, "-o", `${folder}/read`);
  assert.equal(read, "");
  assert.equal((await Deno.stat(`${folder}/read`)).size, LARGE_BYTES);
  const presign = async (method: string) => {
    const body = JSON.stringify({ bucket: "scans", key: "a b/läs.txt", method });
    return JSON.parse(await curl(`${api}/presign`, ...bearer, "-d", body)).url as string;
  };
  assert.equal(await status(await presign("put_object"), "-T", `${folder}/large`), "200 ");
  assert.equal(await status(await presign("get_object"), "-r", "0-9"), "206 ");
  const { access_key_id: key, secret_access_key: secret } = JSON.parse(await curl(`${api}/credentials`, ...bearer));
  const signed = ["--aws-sigv4", "aws:amz:us-east-1:s3", "-u", `${key}:${secret}`, "-H", "x-amz-meta-a_b: 1"];
  const hash = ["-H", "x-amz-content-sha256: UNSIGNED-PAYLOAD"];
  assert.equal(await status(`https://${S3}:${https}/scans/signed`, ...signed, ...hash, "-d", "x", "-X", "PUT"), "200 ");
  assert.match(await curl("-I", `https://${S3}:${https}/scans/signed`, ...signed, ...hash), /x-amz-meta-a_b: 1/i);
  assert.match(await status(`https://other.example.org:${https}/healthz`), /^000/);
  assert.match(await status(`${base}/healthz`, "-H", "Host: other.example.org"), /^(421|000)/);
  console.log(`${proxy}: login, ${LARGE_BYTES} bytes up and down, range, links, signed headers, other names: ok`);
}

/** The file with ports of this trial; each name that it has must be there. */
function adapt(text: string, { folder, http, https, port, s3 }: Record<string, string | number>): string {
  const changes: [RegExp, string][] = [
    [/listen 443 /g, `listen 127.0.0.1:${https} `],
    [/listen 80(?=[ ;])/g, `listen 127.0.0.1:${http}`],
    [/bind :443/g, `bind 127.0.0.1:${https}`],
    [/bind :80/g, `bind 127.0.0.1:${http}`],
    [/127\.0\.0\.1:8000/g, `127.0.0.1:${port}`],
    [/127\.0\.0\.1:20481/g, `127.0.0.1:${s3}`],
    [/\/etc\/stackroom/g, `${folder}`],
    [/log \/dev\/log local0/, "log stdout format raw local0"],
  ];
  return changes.reduce((rest, [pattern, by]) => rest.replace(pattern, by), text);
}

/** Debian's own main file, with folders of this trial. */
async function mainFile(folder: string, site: string): Promise<string> {
  const text = (await Deno.readTextFile("/etc/nginx/nginx.conf"))
    .replace(/^pid .*/m, `pid ${folder}/nginx.pid;\ndaemon off;`)
    .replace(/^error_log .*/m, `error_log ${folder}/nginx.log;`)
    .replace(/access_log .*/, `access_log ${folder}/access.log;`)
    .replace(/include \/etc\/nginx\/conf\.d.*/, `include ${folder}/${site};`)
    .replace(/include \/etc\/nginx\/sites-enabled.*/, "");
  await Deno.writeTextFile(`${folder}/main.conf`, text);
  return `${folder}/main.conf`;
}

async function makeCertificates(folder: string): Promise<void> {
  const openssl = async (...args: string[]) => {
    const { success, stderr } = await new Deno.Command("openssl", { args, cwd: folder }).output();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
  };
  const key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"];
  await openssl("req", "-x509", ...key, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=trial", "-days", "2");
  for (const [name, host] of [["store", SITE], ["s3", "*.s3.example.org"]]) {
    const alternative = ["-addext", `subjectAltName=DNS:${host}`, "-subj", `/CN=${name}`];
    await openssl("req", ...key, "-keyout", `${name}.key`, "-out", `${name}.csr`, ...alternative);
    const signing = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-copy_extensions", "copy"];
    await openssl("x509", "-req", "-in", `${name}.csr`, "-out", `${name}.crt`, "-days", "2", ...signing);
    const [certificate, secret] = ["crt", "key"].map((end) => Deno.readTextFileSync(`${folder}/${name}.${end}`));
    await Deno.writeTextFile(`${folder}/${name}.pem`, certificate + secret);
  }
}
