import assert from "node:assert/strict";
import { resolve } from "node:path";
import { kubeconfigAccess } from "@/lib/kubernetes/kubeconfig_access.ts";

const CONFIG = `
current-context: here
contexts:
- {name: here, context: {cluster: one, user: me}}
- {name: there, context: {cluster: two, user: other}}
clusters:
- {name: one, cluster: {server: "https://one", certificate-authority: ca.pem}}
- {name: two, cluster: {server: "https://two", certificate-authority: /two/ca.pem}}
users:
- {name: me, user: {tokenFile: /run/token, client-certificate: ../me.crt, client-key: me.key}}
- {name: other, user: {exec: {command: stranger}, tokenFile: /other/token}}
`;

function access(files: Record<string, string>, list: string) {
  return kubeconfigAccess({ path: list }, (path) => files[path] ?? null);
}

Deno.test("kubeconfig access: the files that the current context names, relative to the kubeconfig, and no others", () => {
  assert.deepEqual(access({ "/k/config": CONFIG }, "/k/config"), {
    files: ["/k/config", "/k/ca.pem", "/me.crt", "/k/me.key", "/run/token"],
    commands: [],
  });
});

Deno.test("kubeconfig access: a configuration that is no file names its files from the working folder", () => {
  assert.deepEqual(kubeconfigAccess({ text: CONFIG }, () => null), {
    files: ["ca.pem", "../me.crt", "me.key", "/run/token"].map((path) => resolve(path)),
    commands: [],
  });
});

Deno.test("kubeconfig access: the program of the user's plugin, in its own place or in a provider's", () => {
  const user = (content: string) => `
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: ${content}}]`;
  assert.deepEqual(access({ "/k": user(`{exec: {command: aws, args: [a]}}`) }, "/k").commands, ["aws"]);
  assert.deepEqual(
    access({ "/k": user(`{auth-provider: {name: exec, config: {exec: {command: /bin/p}}}}`) }, "/k").commands,
    ["/bin/p"],
  );
  assert.deepEqual(access({ "/k": user(`{auth-provider: {name: x, config: {tokenFile: t}}}`) }, "/k").files, [
    "/k",
    "/t",
  ]);
});

Deno.test("kubeconfig access: several files are merged, the first that says something wins", () => {
  const first = "current-context: c\nusers: [{name: u, user: {tokenFile: first}}]";
  const second = `
contexts: [{name: c, context: {cluster: k, user: u}}]
users: [{name: u, user: {tokenFile: second, exec: {command: no}}}]`;
  assert.deepEqual(access({ "/a/one": first, "/b/two": second }, "/a/one:/b/two:/c/none"), {
    files: ["/a/one", "/b/two", "/c/none", "/a/first"],
    commands: [],
  });
});

Deno.test("kubeconfig access: a file that is not a kubeconfig needs nothing but itself", () => {
  for (const text of ["", "a: [", "7", "users: 7\ncontexts: [null, 3]\ncurrent-context: [x]", "clusters: [{name: }]"]) {
    assert.deepEqual(access({ "/k": text }, "/k"), { files: ["/k"], commands: [] }, text);
  }
});
