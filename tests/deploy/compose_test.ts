import assert from "node:assert/strict";
import { type Config, ConfigError, readConfig } from "@/lib/config/mod.ts";
import type { Role } from "@/lib/config/variables.ts";
import { factsOf } from "@/tests/lib/config/settings.ts";
import { DEFAULT_IDLE_SECONDS } from "@/lib/process/connections.ts";
import { readComposeFile, type Service } from "@/tools/deploy/compose_file.ts";

const source = await Deno.readTextFile("deploy/compose.yaml");
const up = await Deno.readTextFile("deploy/up");
const caddyfile = await Deno.readTextFile("deploy/Caddyfile");
const project = JSON.parse(await Deno.readTextFile("deno.json"));

/** What `deploy/up` writes, with other values. */
const SECRETS: Readonly<Record<string, string>> = {
  ...Object.fromEntries([...up.matchAll(/^(\w+)=/gm)].map(([, name]) => [name, `value-of-${name}-of-some-length`])),
  RESULTS_SESSION_KEY: btoa("0".repeat(32)),
};
const { services, networks } = readComposeFile(source, SECRETS);
const ROLES: readonly Role[] = ["gateway", "web", "results"];

/** The settings of a service as its process reads them, in an image with nothing embedded. */
function config({ environment }: Service, further: Readonly<Record<string, string>> = {}): Config {
  const files = { exists: () => false, read: () => null };
  return readConfig({ ...environment, EMBEDDED: "off", ...further }, files);
}

Deno.test("compose: each role is a service whose settings are complete, known, and read by that role", () => {
  for (const role of ROLES) {
    const settings = services[role].environment;
    for (const name of Object.keys(settings)) {
      const { roles = [] } = factsOf(name) ?? assert.fail(`${role}: ${name}`);
      assert.ok(roles.length === 0 || roles.includes(role), `${role} does not read ${name}`);
    }
    const { roles, warnings } = config(services[role]);
    assert.deepEqual([...roles], [role]);
    // The network of the containers is private: docs/deployment.md says that passwords cross it in clear.
    assert.deepEqual(warnings.filter((line) => !line.startsWith("REDIS_URL")), []);
  }
});

Deno.test("compose: every role takes further settings, and files that they name, from where no repository has them", async () => {
  const ignored = (await Deno.readTextFile(".gitignore")).split("\n");
  for (const role of ROLES) {
    assert.deepEqual(services[role].env_file, [{ path: "roles.env", required: false }], role);
    assert.deepEqual(services[role].volumes, ["./files:/etc/stackroom/files:ro"], role);
  }
  for (const path of ["deploy/roles.env", "deploy/files/"]) assert.ok(ignored.includes(path), path);
});

Deno.test("compose: with a kubeconfig the web role shows campaigns of the results service", () => {
  const { services } = readComposeFile(source, { ...SECRETS, CAMPAIGN_WEB_SITE_ONLY: "", KUBECONFIG_CONTENT: "{}" });
  const { web } = config(services.web);
  assert.equal(web?.siteOnly, false);
  assert.equal(web?.resultsProxy, "http://results:8000/results");
  assert.equal(web?.resultsUrl, "https://stackroom.localhost/results");
});

Deno.test("compose: trusted hops are those of the proxy, and of the web role in front of results", () => {
  const hops = ROLES.map((role) => services[role].environment.TRUSTED_HOPS);
  assert.deepEqual(hops, ["1", "1", "2"]);
});

Deno.test("compose: everything that it requires is created by deploy/up, and no secret has a default", () => {
  const required = new Set([...source.matchAll(/\$\{(\w+):\?/g)].map(([, name]) => name));
  for (const name of required) {
    assert.match(up, new RegExp(`^${name}=`, "m"), name);
    assert.throws(() => readComposeFile(source, { ...SECRETS, [name]: "" }), new RegExp(name));
  }
  for (const name of source.matchAll(/\$\{(\w*(?:KEY|PASSWORD|SECRET)\w*)(?!\w|:\?)/g)) assert.fail(name[1]);
  assert.throws(() => config(services.gateway, { API_SECRET_KEY: "" }), ConfigError);
});

Deno.test("compose: only the proxy can be reached from outside, and results, Valkey and the store reach nothing else", () => {
  for (const [name, { ports, networks }] of Object.entries(services)) {
    assert.equal(ports !== undefined, name === "proxy", name);
    if (["results", "redis"].includes(name)) assert.deepEqual(networks, ["back"], name);
  }
  assert.equal(networks.back?.internal, true);
});

Deno.test("compose: a shell of a container becomes its server, so that the signal to stop reaches it", async () => {
  const [shell, option, script] = services.redis.command ?? [];
  assert.deepEqual([shell, option], ["sh", "-c"]);
  // In place of the server: it says which process it is, and what it reads.
  const { stdout, success } = await new Deno.Command(shell, {
    args: [option, `echo $$; ${script.replace("valkey-server", () => "sh -c 'echo $$; cat'")}`],
    env: { REDIS_PASSWORD: "a-word" },
  }).output();
  assert.ok(success);
  const [own, server, configuration] = new TextDecoder().decode(stdout).split("\n");
  assert.equal(server, own);
  assert.equal(configuration, "requirepass a-word");
});

Deno.test("compose: no container can write its root, has capabilities or gains rights, and each image is of one version", () => {
  for (const [name, service] of Object.entries(services)) {
    assert.equal(service.read_only, true, name);
    assert.deepEqual(service.cap_drop, ["ALL"], name);
    assert.deepEqual(service.security_opt, ["no-new-privileges:true"], name);
    assert.match(service.image, /:(?:\d+\.\d+\.\d+|RELEASE\.[\dTZ-]+)$/, name);
  }
  for (const role of ROLES) assert.equal(services[role].image, `stackroom:${project.version}`);
});

Deno.test("proxy: it has the limits that docs/operations.md requires, and uses no connection that is being closed", async () => {
  const operations = await Deno.readTextFile("docs/operations.md");
  const row = operations.split("\n").find((line) => line.startsWith("| Caddy"))!;
  const values = (text: string, name: string) => new RegExp(`\\b${name} (\\d+)s`).exec(text)?.[1];
  for (const name of ["read_header", "idle", "keepalive", "response_header_timeout"]) {
    assert.ok(values(caddyfile, name), name);
    assert.equal(values(caddyfile, name), values(row, name), name);
  }
  assert.ok(Number(values(caddyfile, "keepalive")) < DEFAULT_IDLE_SECONDS);
  for (const name of ["read_body", "write"]) assert.doesNotMatch(caddyfile, new RegExp(`^\\s*${name}\\b`, "m"));
});

Deno.test("proxy: every variable of the Caddyfile that has no value of its own in compose has a default", () => {
  const names = [...caddyfile.matchAll(/\{\$(\w+)(:[^}]+)?\}/g)];
  for (const [, name, otherwise] of names) assert.ok(otherwise || services.proxy.environment[name], name);
  for (const name of Object.keys(services.proxy.environment)) {
    assert.ok(names.some(([, used]) => used === name), `${name} is not used`);
  }
});
