/**
 * Has a real API server accept the objects of deploy/chart in each of its combinations, then starts the web role with
 * the token of the chart's own service account: with all of its rights, and without each of them. It needs Helm (or its
 * path in HELM), a cluster that may be changed, its KUBECONFIG, and kubectl (or a command in KUBECTL).
 */
import assert from "node:assert/strict";
import { parseAllDocuments } from "yaml";
import { startApplication } from "@/tests/application.ts";
import { toolArguments } from "@/tools/arguments.ts";
import { CHART_VALUES, HELM, template } from "./chart.ts";
import { inTemporaryFolder, MissingTool } from "@/tools/temporary_tool.ts";

const CHART = "deploy/chart";
const NAMESPACE = "batch-default";
const ACCOUNT = "system:serviceaccount:stackroom:stackroom-web";
const CAMPAIGN = "my-first-campaign";
const RECORD_MS = 20_000;
/** The only rights of the web role's account. */
const RIGHTS: Readonly<Record<string, readonly string[]>> = {
  "jobs.batch": ["get", "list", "watch"],
  pods: ["list", "watch"],
  configmaps: ["get", "list", "watch", "create", "patch"],
};
const VERBS = ["get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"];

/** Enough of the Prometheus operator for an API server to know its objects. */
const SERVICE_MONITORS = {
  apiVersion: "apiextensions.k8s.io/v1",
  kind: "CustomResourceDefinition",
  metadata: { name: "servicemonitors.monitoring.coreos.com" },
  spec: {
    group: "monitoring.coreos.com",
    scope: "Namespaced",
    names: { kind: "ServiceMonitor", plural: "servicemonitors", singular: "servicemonitor" },
    versions: [{
      name: "v1",
      served: true,
      storage: true,
      schema: { openAPIV3Schema: { type: "object", "x-kubernetes-preserve-unknown-fields": true } },
    }],
  },
};

toolArguments("deno run --config deno.test.json -A tools/deploy/try_chart.ts");
await inTemporaryFolder("chart", async (folder) => {
  if (HELM === null) throw new MissingTool("helm is missing: install it, or set HELM");
  await apply(JSON.stringify(SERVICE_MONITORS));
  await kubectl(["wait", "--for=condition=Established", "crd/servicemonitors.monitoring.coreos.com"]);
  for (const name of ["stackroom", NAMESPACE, "batch-other"]) await apply(namespace(name));
  for (const [name, values] of Object.entries(CHART_VALUES)) {
    const accepted = await apply(await template(CHART, values), "--dry-run=server");
    console.log(`ok   ${name}: ${accepted.trim().split("\n").length} objects are accepted`);
  }
  for (const object of await grants()) await apply(JSON.stringify(object));
  await apply(await Deno.readTextFile("docs/examples/campaign.yaml"), "--namespace", NAMESPACE);
  await compareRights();
  await tryPolicy();
  const kubeconfig = await accountConfig(folder);
  console.log(`all rights: ${await webRole(kubeconfig)}`);
  for (const [resource, verbs] of Object.entries(RIGHTS)) {
    for (const verb of verbs) {
      await grant({ ...RIGHTS, [resource]: verbs.filter((other) => other !== verb) });
      console.log(`without ${verb} ${resource}: ${await webRole(kubeconfig)}`);
    }
  }
  await grant(RIGHTS);
});

/** The chart's objects that grant the account its rights; without a namespace they get that of the release. */
async function grants(): Promise<unknown[]> {
  const text = await template(CHART, CHART_VALUES["all roles"]);
  const kinds = /^(ServiceAccount|Role|RoleBinding|ValidatingAdmissionPolicy|ValidatingAdmissionPolicyBinding)$/;
  return parseAllDocuments(text).map((document) => document.toJS()).filter((object) => kinds.test(object?.kind))
    .map((object) =>
      object.kind === "ServiceAccount"
        ? { ...object, metadata: { ...object.metadata, namespace: "stackroom" } }
        : object
    );
}

/** Each verb on resources that matter, in both namespaces of campaigns and in the account's own. */
async function compareRights(): Promise<void> {
  const resources = [...Object.keys(RIGHTS), "secrets", "deployments.apps", "serviceaccounts"];
  for (const space of [NAMESPACE, "batch-other", "stackroom"]) {
    for (const resource of resources) {
      const allowed: string[] = [];
      for (const verb of VERBS) {
        const words = ["auth", "can-i", verb, resource, "--namespace", space, "--as", ACCOUNT];
        if ((await run(words)).output.trim().endsWith("yes")) allowed.push(verb);
      }
      assert.deepEqual(allowed, space === NAMESPACE ? RIGHTS[resource] ?? [] : [], `${resource} in ${space}`);
    }
  }
  console.log("ok   the account may do what the chart grants, and nothing else");
}

/** The admission policy lets the account write status records alone. It holds a moment after its creation. */
async function tryPolicy(): Promise<void> {
  const create = (name: string) =>
    run(["create", "configmap", name, "--namespace", NAMESPACE, "--as", ACCOUNT, "--dry-run=server"]);
  for (const end = Date.now() + RECORD_MS;;) {
    const { output } = await create("volumes");
    if (output.includes("status records")) break;
    assert.ok(Date.now() < end, output);
  }
  assert.ok((await create("campaign-a-status")).success);
  console.log("ok   the account writes no ConfigMap but status records");
}

/** Replaces the rules of the Role. */
async function grant(rights: typeof RIGHTS): Promise<void> {
  const rules = Object.entries(rights).map(([resource, verbs]) => {
    const [name, group = ""] = resource.split(".");
    return { apiGroups: [group], resources: [name], verbs };
  });
  await kubectl(["patch", "role", "stackroom-web", "-n", NAMESPACE, "--type=merge", "-p", JSON.stringify({ rules })]);
}

/** A kubeconfig with a token of the account. */
async function accountConfig(folder: string): Promise<string> {
  const token = (await kubectl(["create", "token", "stackroom-web", "--namespace", "stackroom"])).trim();
  const config = JSON.parse(await kubectl(["config", "view", "--raw", "--flatten", "--minify", "--output=json"]));
  for (const entry of config.users) entry.user = { token };
  const path = `${folder}/kubeconfig`;
  await Deno.writeTextFile(path, JSON.stringify(config));
  return path;
}

/** The web role's results with these rights: statuses of list and detail, whether a record appears, and messages. */
async function webRole(kubeconfig: string): Promise<string> {
  const record = `campaign-${CAMPAIGN}-status`;
  await kubectl(["delete", "configmap", record, "--namespace", NAMESPACE, "--ignore-not-found"]);
  const env = { EMBEDDED: "store", ROLES: "web,results", KUBECONFIG: kubeconfig, CAMPAIGN_NAMESPACES: NAMESPACE };
  const application = await startApplication({ env });
  try {
    const cookie = await session(application.site);
    const status = async (path: string) => {
      const response = await fetch(application.site + path, { headers: { cookie } });
      await response.body?.cancel();
      return response.status;
    };
    const list = await status("api/v1/jobs");
    const detail = await status(`api/v1/jobs/${NAMESPACE}/${CAMPAIGN}`);
    const ready = await status("readyz");
    const isWritten = async () => (await run(["get", "configmap", record, "--namespace", NAMESPACE])).success;
    const isRefused = () => application.output().includes("unwritten_records");
    let written = await isWritten();
    for (const end = Date.now() + RECORD_MS; !written && !isRefused() && list === 200 && Date.now() < end;) {
      await status("api/v1/jobs");
      written = await isWritten();
    }
    const said = application.output().split("\n").filter((line) => /unwritten_records|watch|KUBE|cluster/i.test(line));
    const lines = [...new Set(said)].map((line) => `\n     ${line.slice(0, 300)}`).join("");
    return `list ${list}, detail ${detail}, readyz ${ready}, record ${written ? "written" : "not written"}${lines}`;
  } finally {
    await application.stop();
  }
}

async function session(site: string): Promise<string> {
  const response = await fetch(`${site}results/_login`, {
    method: "POST",
    headers: { Origin: new URL(site).origin, "Content-Type": "application/json" },
    body: JSON.stringify({ username: "reader", password: "stackroom-demo" }),
  });
  assert.equal(response.status, 204, await response.text());
  return (response.headers.get("Set-Cookie") ?? "").split(";")[0];
}

function namespace(name: string): string {
  return JSON.stringify({ apiVersion: "v1", kind: "Namespace", metadata: { name } });
}

async function apply(objects: string, ...options: string[]): Promise<string> {
  return await kubectl(["apply", ...options, "-f", "-"], objects);
}

/** @throws {Error} with what kubectl says */
async function kubectl(args: readonly string[], input = ""): Promise<string> {
  const { success, output } = await run(args, input);
  if (!success) throw new Error(`kubectl ${args[0]}: ${output}`);
  return output;
}

async function run(args: readonly string[], input = ""): Promise<{ success: boolean; output: string }> {
  const [program, ...words] = (Deno.env.get("KUBECTL") ?? "kubectl").split(" ");
  const child = new Deno.Command(program, {
    args: [...words, ...args],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const ended = child.output();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(input));
  await writer.close();
  const { success, stdout, stderr } = await ended;
  return { success, output: new TextDecoder().decode(success ? stdout : stderr) || new TextDecoder().decode(stdout) };
}
