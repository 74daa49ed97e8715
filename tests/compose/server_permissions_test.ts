import assert from "node:assert/strict";
import { serverPermissions } from "@/compose/server_command.ts";
import { readConfig } from "@/lib/config/mod.ts";
import type { Permissions } from "@/lib/process/deno.ts";
import { PROJECT_FOLDER } from "@/lib/site/site.ts";

const KEY = "0123456789abcdef0123456789abcdef";
const CERTIFICATE = "-----BEGIN CERTIFICATE-----";

function permissions(env: Record<string, string>, disk: Record<string, string> = {}): Promise<Permissions> {
  const files = {
    exists: (path: string) => path in disk,
    read: (path: string) => disk[path] ?? null,
    realPath: (path: string) => path in disk ? path.replace("/link", "/real") : null,
  };
  return serverPermissions(readConfig(env, files), env, files);
}

/** What of the permissions lies outside of the project. */
const outside = (paths: readonly string[]) => paths.filter((path) => !path.startsWith(PROJECT_FOLDER));

const SERVICE_ACCOUNT = "/var/run/secrets/kubernetes.io/serviceaccount";

Deno.test("server permissions: everything embedded reads its code and its data folder, and speaks to loopback", async () => {
  const { read, write, env, net, run } = await permissions({
    DATA_DIR: "/data dir",
    port: "0",
    AWS_SECRET: "x",
  });
  assert.deepEqual(outside(read), ["/data dir"], "it has no business with a cluster that it is a pod of");
  assert.ok(!read.includes(PROJECT_FOLDER), "a file beside the code, such as one of secrets, is not the server's");
  assert.deepEqual(write, ["/data dir"]);
  assert.deepEqual(new Set(net), new Set(["localhost", "127.0.0.1", "[::1]"]));
  assert.ok(env.includes("port") && env.includes("DATA_DIR") && !env.includes("AWS_SECRET"));
  assert.deepEqual(run, []);
});

Deno.test("server permissions: the server of shared state is reached on its port alone", async () => {
  const net = async (REDIS_URL: string) => (await permissions({ REDIS_URL })).net;
  assert.ok((await net("rediss://:password@redis.example.org:6380/1")).includes("redis.example.org:6380"));
  assert.ok((await net("redis://[fd00::1]")).includes("[fd00::1]:6379"));
});

Deno.test("server permissions: a data folder behind a link is named as both, though parts of it are missing yet", async () => {
  const both = ["/link/not/there", "/real/not/there"];
  const { read, write } = await permissions({ DATA_DIR: "/link/not/there" }, { "/link": "" });
  assert.deepEqual([outside(read).slice(0, 2), write], [both, both]);
});

Deno.test("server permissions: a relative data folder is one below the working folder", async () => {
  assert.deepEqual((await permissions({ DATA_DIR: "./here/../data" })).write, [`${Deno.cwd()}/data`]);
});

Deno.test("server permissions: a gateway to a store elsewhere writes nothing and reads the files of its settings", async () => {
  const env = {
    EMBEDDED: "off",
    ROLES: "gateway",
    API_SECRET_KEY: KEY,
    STORAGE_BACKEND: "generic",
    S3_ENDPOINT_URL: "https://s3.example.org",
    S3_ACCESS_KEY: "a",
    S3_SECRET_KEY: "s",
    GATEWAY_USERS_FILE: "/etc/users",
    CA_FILE: "/etc/ca.pem",
    DATA_DIR: "/data",
    KUBECONFIG: "/k/config",
    RESULTS_SESSION_KEY_FILE: "/key",
  };
  const { read, write, net } = await permissions(env, { "/etc/users": "", "/etc/ca.pem": CERTIFICATE });
  assert.deepEqual(outside(read), ["/etc/ca.pem", "/etc/users"]);
  assert.deepEqual(write, []);
  assert.equal(net, "all");
});

Deno.test("server permissions: the results role reads its key, which may be behind a link that is switched", async () => {
  const env = { EMBEDDED: "off", ROLES: "results", RESULTS_S3_ENDPOINT: "https://s", RESULTS_S3_BUCKET: "b" };
  assert.deepEqual((await permissions(env, { "/secrets/session/key": "" })).read, [
    "/secrets/session/key",
    SERVICE_ACCOUNT,
  ]);
  const given = await permissions({ ...env, RESULTS_SESSION_KEY_FILE: "/link/key" }, { "/link/key": "" });
  assert.deepEqual(given.read, ["/link/key", SERVICE_ACCOUNT]);
});

Deno.test("server permissions: the web role reads its kubeconfig with what that names, and its folder of files", async () => {
  const env = {
    EMBEDDED: "off",
    ROLES: "web",
    CAMPAIGN_RESULTS_URL: "https://c.example.org/results",
    CAMPAIGN_RESULTS_PROXY: "http://results:8082/results",
    CAMPAIGN_WEB_STATIC: "/link/static",
    HOME: "/home/me",
  };
  const config = "current-context: c\ncontexts: [{name: c, context: {user: u}}]\nusers: [{name: u, user: ";
  const disk = {
    "/link/static": "",
    "/home/me/.kube/config": `${config}{tokenFile: token}}]`,
    "/exec": `${config}{exec: {command: aws}}}]`,
  };
  const own = await permissions(env, disk);
  assert.deepEqual(outside(own.read), [
    "/link/static",
    "/real/static",
    SERVICE_ACCOUNT,
    "/home/me/.kube/config",
    "/home/me/.kube/token",
  ]);
  assert.deepEqual([own.run, own.write], [[], []]);
  const exec = await permissions({ ...env, KUBECONFIG: "/exec" }, disk);
  assert.deepEqual([exec.run, exec.env], [["aws"], "all"]);
});

Deno.test("server permissions: the pod's service account is for starts that have campaigns of a real cluster", async () => {
  const reads = async (env: Record<string, string>) => (await permissions(env)).read.includes(SERVICE_ACCOUNT);
  const store = { EMBEDDED: "store", CAMPAIGN_RESULTS_URL: "https://c.example.org/results", KUBECONFIG_CONTENT: "{}" };
  assert.equal(await reads(store), true);
  assert.equal(await reads({ ...store, CAMPAIGN_WEB_SITE_ONLY: "1", ROLES: "gateway,web" }), false);
  assert.equal(await reads({ EMBEDDED: "store", ROLES: "gateway" }), false);
});

Deno.test("server permissions: receivers of notifications are reached on their ports alone, and their secrets read", async () => {
  const secret = `whsec_${btoa("x".repeat(32))}`;
  const env = {
    NOTIFY_WEBHOOK_URL: "https://hooks.example.org/a,http://127.0.0.1:9000/b",
    NOTIFY_WEBHOOK_SECRET_FILE: "/etc/secret",
    NOTIFY_SMTP_URL: "smtp://mail.example.org",
    NOTIFY_SMTP_USER: "u",
    NOTIFY_SMTP_PASSWORD_FILE: "/etc/password",
    NOTIFY_MAIL_FROM: "a@example.org",
    NOTIFY_MAIL_TO: "b@example.org",
  };
  const { net, read } = await permissions(env, { "/etc/secret": secret, "/etc/password": "word" });
  for (const host of ["hooks.example.org:443", "127.0.0.1:9000", "mail.example.org:587"]) {
    assert.ok(net.includes(host), host);
  }
  for (const path of ["/etc/secret", "/etc/password"]) assert.ok(read.includes(path), path);
});
