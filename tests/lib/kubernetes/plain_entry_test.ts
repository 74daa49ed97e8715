import assert from "node:assert/strict";
import { Agent } from "node:https";
import type { ClusterEntry } from "@/lib/kubernetes/connection.ts";
import { contentEntry, kubeconfigEntry } from "@/lib/kubernetes/kubeconfig.ts";
import { plainEntry, serviceAccountEntry } from "@/lib/kubernetes/plain_entry.ts";
import { OTHER_CERTIFICATE, OTHER_KEY, TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";

const SERVER = "https://cluster.example.org:6443";

function kubeconfig(cluster: object, user: object | undefined): string {
  return JSON.stringify({
    "current-context": "x",
    contexts: [{ name: "other", context: { cluster: "k", user: "other" } }, {
      name: "x",
      context: { cluster: "k", user: "u" },
    }],
    clusters: [{ name: "k", cluster }],
    users: [{ name: "other", user: { exec: { command: "stranger" } } }, { name: "u", user }],
  });
}

/** What decides how requests of these credentials go. */
async function seen(entry: ClusterEntry | null): Promise<unknown> {
  assert.ok(entry, "the configuration is read");
  const { agent, headers } = await entry.credentials();
  const request = { server: entry.server.replace(/\/$/, ""), headers };
  // Without TLS its options mean nothing.
  if (!(agent instanceof Agent)) return request;
  const { ca, cert, key, servername, rejectUnauthorized, secureContext } = { secureContext: null, ...agent.options };
  const texts = [ca, cert, key].map((value) => String(value ?? ""));
  return { ...request, texts, servername, rejectUnauthorized, hasOwnContext: secureContext !== null };
}

Deno.test("plain entry: a configuration means the same as to the Kubernetes client", async () => {
  const data = (pem: string) => btoa(pem);
  const certificate = { "client-certificate-data": data(TEST_CERTIFICATE), "client-key-data": data(TEST_KEY) };
  const clusters = [
    { server: SERVER },
    { server: `${SERVER}/below/` },
    { server: "https://me:pass%20word@cluster.example.org" },
    { server: "http://127.0.0.1:8001" },
    { server: SERVER, "certificate-authority-data": data(TEST_CA), extensions: [{ name: "x", extension: {} }] },
    { server: SERVER, "insecure-skip-tls-verify": true, "tls-server-name": "inner.example.org" },
    { server: SERVER, "insecure-skip-tls-verify": false, "certificate-authority-data": data(TEST_CA) },
  ];
  const users = [{}, undefined, { token: "t" }, certificate, { username: "åsa", password: "p" }, {
    ...certificate,
    token: "t",
  }];
  for (const cluster of clusters) {
    for (const user of users) {
      for (const authorities of [undefined, [TEST_CA]]) {
        const text = kubeconfig(cluster, user);
        assert.deepEqual(
          await seen(plainEntry({ text }, authorities)),
          await seen(contentEntry(text, authorities)),
          text,
        );
      }
    }
  }
});

Deno.test("plain entry: files are found beside the configuration, and count before what it holds itself", async () => {
  const folder = await Deno.makeTempDir();
  try {
    const files = { "ca.pem": TEST_CA, "me.crt": TEST_CERTIFICATE, "me.key": TEST_KEY };
    for (const [name, pem] of Object.entries(files)) await Deno.writeTextFile(`${folder}/${name}`, pem);
    const path = `${folder}/config`;
    const other = { "client-certificate-data": btoa(OTHER_CERTIFICATE), "client-key-data": btoa(OTHER_KEY) };
    const user = { "client-certificate": "me.crt", "client-key": `${folder}/me.key`, ...other };
    await Deno.writeTextFile(path, kubeconfig({ server: SERVER, "certificate-authority": "ca.pem" }, user));
    const entry = plainEntry({ path });
    assert.deepEqual(await seen(entry), await seen(kubeconfigEntry([path], undefined)));
    await Deno.remove(`${folder}/me.key`);
    await assert.rejects(async () => await entry?.credentials(), { code: "ENOENT" });
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});

Deno.test("plain entry: what has more in it, or is wrong, is left to the Kubernetes client", () => {
  const users = [
    { exec: { command: "aws" } },
    { "auth-provider": { name: "x", config: { tokenFile: "/run/token" } } },
    { tokenFile: "/run/token" },
    { token: 7 },
    { token: "t", as: "someone" },
  ];
  for (const user of users) assert.equal(plainEntry({ text: kubeconfig({ server: SERVER }, user) }), null);
  const clusters = [
    { server: SERVER, "proxy-url": "http://proxy" },
    { server: SERVER, "insecure-skip-tls-verify": "yes" },
    { server: "no address" },
    {},
  ];
  for (const cluster of clusters) assert.equal(plainEntry({ text: kubeconfig(cluster, { token: "t" }) }), null);
  for (const text of ["", "a: [", kubeconfig({ server: SERVER }, {}).replace('"name":"u"', '"name":"v"')]) {
    assert.equal(plainEntry({ text }), null);
  }
  assert.equal(plainEntry({ path: "/nowhere/one:/nowhere/two" }), null);
});

Deno.test("plain entry: a pod's token is read again with each reading of the credentials", async () => {
  const folder = await Deno.makeTempDir();
  const names = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "443" };
  const before = Object.keys(names).map((name) => [name, Deno.env.get(name)] as const);
  try {
    for (const [name, value] of Object.entries(names)) Deno.env.set(name, value);
    await Deno.writeTextFile(`${folder}/ca.crt`, TEST_CA);
    await Deno.writeTextFile(`${folder}/token`, "first\n");
    const entry = serviceAccountEntry(folder);
    assert.equal(entry.server, "https://[fd00::1]:443");
    const { agent, headers } = await entry.credentials();
    assert.deepEqual([headers, String((agent as Agent).options.ca)], [{ Authorization: "Bearer first" }, TEST_CA]);
    await Deno.writeTextFile(`${folder}/token`, "second");
    assert.deepEqual((await entry.credentials()).headers, { Authorization: "Bearer second" });
    Deno.env.delete("KUBERNETES_SERVICE_HOST");
    assert.throws(() => serviceAccountEntry(folder), TypeError);
  } finally {
    for (const [name, value] of before) value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
    await Deno.remove(folder, { recursive: true });
  }
});
