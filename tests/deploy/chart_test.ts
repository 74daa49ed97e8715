import assert from "node:assert/strict";
import { parse, parseAllDocuments } from "yaml";
import { readConfig } from "@/lib/config/mod.ts";
import type { Role } from "@/lib/config/variables.ts";
import { factsOf } from "@/tests/lib/config/settings.ts";
import { CHART_VALUES, HELM, template } from "@/tools/deploy/chart.ts";

const CHART = "deploy/chart";
const values = parse(await Deno.readTextFile(`${CHART}/values.yaml`));

/** Members of a rendered object that the tests look at. */
interface KubernetesObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  // deno-lint-ignore no-explicit-any -- each kind has its own
  readonly spec: any;
  readonly rules?: readonly { readonly resources: readonly string[]; readonly verbs: readonly string[] }[];
}

async function objects(values: Readonly<Record<string, unknown>>): Promise<KubernetesObject[]> {
  const text = await template(CHART, values);
  return parseAllDocuments(text).map((document) => document.toJS()).filter((object) => object !== null);
}

function ofKind(found: readonly KubernetesObject[], kind: string): KubernetesObject[] {
  return found.filter((object) => object.kind === kind);
}

interface Variable {
  readonly name: string;
  readonly value?: string;
  readonly valueFrom?: { readonly secretKeyRef: { readonly name: string; readonly optional?: boolean } };
}

const WEBHOOKS = {
  NOTIFY_WEBHOOK_URL: "https://hooks.example.org/stackroom",
  NOTIFY_WEBHOOK_SECRET: `whsec_${btoa("0".repeat(32))}`,
};

/** What Secrets of settings hold, by the names that the combinations give them. */
const SETTING_SECRETS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  keys: { S3_ACCESS_KEY: "key", S3_SECRET_KEY: "secret" },
  further: { OTEL_EXPORTER_OTLP_HEADERS: "authorization=word" },
  webhooks: WEBHOOKS,
};

/** Something valid for a variable whose value is in a Secret. */
const SECRET_VALUES: Readonly<Record<string, string>> = {
  API_SECRET_KEY: "0".repeat(64),
  REDIS_URL: "rediss://:word@redis.example.org",
};

Deno.test("chart: values.schema.json describes every value of values.yaml, and no other", async () => {
  interface Schema {
    readonly properties?: Readonly<Record<string, Schema>>;
  }
  const compare = (path: string, schema: Schema | undefined, value: unknown) => {
    assert.ok(schema, `${path} has no schema`);
    if (!schema.properties || typeof value !== "object" || value === null) return;
    for (const [name, inner] of Object.entries(value)) compare(`${path}.${name}`, schema.properties[name], inner);
    const missing = Object.keys(schema.properties).filter((name) => !(name in value) && name !== "global");
    assert.deepEqual(missing, [], path);
  };
  compare("values", JSON.parse(await Deno.readTextFile(`${CHART}/values.schema.json`)), values);
});

Deno.test("chart: every setting that a template names is one that the program reads", async () => {
  const helpers = await Deno.readTextFile(`${CHART}/templates/_helpers.tpl`);
  const names = [...helpers.matchAll(/^([A-Z][A-Z0-9_]+):/gm)].map(([, name]) => name);
  assert.ok(names.length > 10);
  for (const name of names) assert.ok(factsOf(name), name);
});

for (const combination of Object.keys(CHART_VALUES)) {
  Deno.test(`chart: ${combination}: settings are complete, roots read-only, and rights those of the role`, {
    ignore: HELM === null,
  }, async () => {
    const found = await objects(CHART_VALUES[combination]);
    const deployments = ofKind(found, "Deployment");
    assert.ok(deployments.length > 0);
    for (const { metadata, spec } of deployments) checkDeployment(metadata.name, spec.template.spec);
    const services = ofKind(found, "Service").map(({ metadata }) => metadata.name);
    assert.deepEqual(services, deployments.map(({ metadata }) => metadata.name));
    for (const { rules = [] } of ofKind(found, "Role")) {
      for (const { verbs } of rules) assert.ok(verbs.every((verb) => verb !== "*" && verb !== "delete"));
    }
  });
}

Deno.test(
  "chart: the gateway counts as many proxies as the web role, which sends it as many addresses, and results one more",
  { ignore: HELM === null },
  async () => {
    for (const [trustedHops, counted] of [[null, "0 0 1"], [1, "1 1 2"], [2, "2 2 3"]] as const) {
      const deployments = ofKind(await objects({ ...CHART_VALUES["all roles"], trustedHops }), "Deployment");
      const hopsOf = (role: Role) => {
        const { spec } = deployments.find(({ metadata }) => metadata.name.endsWith(`-${role}`))!;
        const env: readonly Variable[] = spec.template.spec.containers[0].env;
        return env.find(({ name }) => name === "TRUSTED_HOPS")?.value;
      };
      assert.equal((["gateway", "web", "results"] as const).map(hopsOf).join(" "), counted);
    }
  },
);

Deno.test(
  "chart: what probes the pods for Prometheus may reach each of them, and the results role no one else but web",
  { ignore: HELM === null },
  async () => {
    const namespaces = (from: readonly { readonly namespaceSelector?: { readonly matchLabels: object } }[] = []) =>
      from.flatMap(({ namespaceSelector }) => Object.values(namespaceSelector?.matchLabels ?? {}));
    for (const isProbed of [true, false]) {
      const values = { ...CHART_VALUES.everything, metrics: {}, serviceMonitor: { enabled: isProbed } };
      const policies = ofKind(await objects(values), "NetworkPolicy");
      assert.equal(policies.length, 3);
      for (const { metadata, spec } of policies) {
        const admitted = (spec.ingress as { from?: [] }[]).flatMap(({ from }) => namespaces(from)).sort();
        const expected = metadata.name.endsWith("-results") ? [] : ["ingress"];
        assert.deepEqual(admitted, isProbed ? [...expected, "monitoring"] : expected, metadata.name);
        assert.ok(spec.ingress.every(({ from }: { from?: [] }) => from), `${metadata.name} is open to any address`);
      }
    }
  },
);

Deno.test("chart: metrics are on a port of each pod that no Service has, and Prometheus alone may reach it", {
  ignore: HELM === null,
}, async () => {
  const all = await objects(CHART_VALUES.everything);
  for (const { spec } of ofKind(all, "Deployment")) {
    const [{ ports, env }] = spec.template.spec.containers;
    const own = ports.find(({ name }: { name: string }) => name === "metrics").containerPort;
    const valueOf = (variable: string) => (env as Variable[]).find(({ name }) => name === variable)?.value;
    assert.deepEqual([valueOf("METRICS_HOST"), valueOf("METRICS_PORT")], ["0.0.0.0", String(own)]);
  }
  for (const { spec } of ofKind(all, "Service")) {
    assert.deepEqual(spec.ports.map(({ targetPort }: { targetPort: string }) => targetPort), ["http"]);
  }
  for (const { spec } of ofKind(all, "NetworkPolicy")) {
    const rules = spec.ingress as { from?: unknown; ports: { port: string }[] }[];
    const metrics = rules.filter(({ ports }) => ports.some(({ port }) => port === "metrics"));
    assert.deepEqual(metrics.map(({ from, ports }) => [from !== undefined, ports.length]), [[true, 1]]);
  }
  const monitors = ofKind(all, "ServiceMonitor").flatMap(({ spec }) => spec.endpoints as Record<string, string>[]);
  assert.deepEqual(monitors.find(({ targetPort }) => targetPort === "metrics")?.path, "/metrics");
});

Deno.test(
  "chart: the web role and the gateway get the receivers of notifications and may reach them, and results neither",
  { ignore: HELM === null },
  async () => {
    for (const combination of ["webhooks alone", "everything", "all roles"]) {
      const all = await objects(CHART_VALUES[combination]);
      const isNotified = (name: string) => combination !== "all roles" && !name.endsWith("-results");
      for (const { metadata, spec } of ofKind(all, "Deployment")) {
        const secrets: { secretRef: { name: string } }[] = spec.template.spec.containers[0].envFrom ?? [];
        const isGiven = secrets.some(({ secretRef }) => secretRef.name.startsWith("webhooks"));
        assert.equal(isGiven, isNotified(metadata.name), `${combination}: ${metadata.name}`);
      }
      for (const { metadata, spec } of ofKind(all, "NetworkPolicy")) {
        const rules = spec.egress as { to?: { ipBlock?: { cidr: string } }[]; ports: { port: number }[] }[];
        const [rule] = rules.filter(({ ports }) => ports.some(({ port }) => port === 587));
        assert.equal(rule !== undefined, isNotified(metadata.name), `${combination}: ${metadata.name}`);
        if (rule && combination === "everything") assert.equal(rule.to?.[0].ipBlock?.cidr, "198.51.100.0/24");
        assert.equal(rules.some(({ ports }) => ports.some(({ port }) => port === 4318)), combination === "everything");
      }
    }
  },
);

// deno-lint-ignore no-explicit-any -- a pod's specification
function checkDeployment(name: string, pod: any): void {
  const [container] = pod.containers;
  const role = name.split("-").at(-1) as Role;
  assert.equal(pod.securityContext.runAsNonRoot, true);
  assert.equal(container.securityContext.readOnlyRootFilesystem, true);
  assert.deepEqual(container.securityContext.capabilities.drop, ["ALL"]);
  assert.equal(pod.automountServiceAccountToken === true, role === "web" && pod.serviceAccountName !== undefined);
  const env: Record<string, string> = { EMBEDDED: "off", KUBERNETES_SERVICE_HOST: "10.0.0.1" };
  for (const { name: variable, value, valueFrom } of container.env as Variable[]) {
    const facts = factsOf(variable);
    assert.ok(facts, `${name}: ${variable}`);
    assert.ok(!facts.roles || facts.roles.includes(role), `${name} does not read ${variable}`);
    if (!valueFrom?.secretKeyRef.optional) env[variable] = value ?? SECRET_VALUES[variable];
  }
  for (const { secretRef } of container.envFrom ?? []) {
    assert.ok(SETTING_SECRETS[secretRef.name], secretRef.name);
    Object.assign(env, SETTING_SECRETS[secretRef.name]);
  }
  const mounted: string[] = container.volumeMounts.map(({ mountPath }: { mountPath: string }) => mountPath);
  if (pod.automountServiceAccountToken) mounted.push("/var/run/secrets/kubernetes.io/serviceaccount");
  const files = {
    exists: (path: string) => mounted.some((folder) => path.startsWith(`${folder}/`)),
    read: (path: string) =>
      path.endsWith("ca.crt") ? "-----BEGIN CERTIFICATE-----" : path.endsWith("/mail-password") ? "word" : null,
  };
  const { roles, warnings } = readConfig(env, files);
  assert.deepEqual([...roles], [role]);
  assert.deepEqual(warnings.filter((line) => !line.startsWith("HOST")), []);
}

Deno.test(
  "chart: helm has no complaint, renders the values of docs/deployment.md, and rejects what values.schema.json does",
  { ignore: HELM === null },
  async () => {
    const { success, stdout } = await new Deno.Command(HELM!, {
      args: ["lint", "--strict", CHART, "--set", "secrets.redis=r"],
    }).output();
    assert.ok(success, new TextDecoder().decode(stdout));
    const [, documented] = /^ +```yaml\n(.*?)^ +```$/ms.exec(await Deno.readTextFile("docs/deployment.md"))!;
    assert.match(await template(CHART, parse(documented)), /HCP_DOMAIN/);
    const [, receivers] = /^```yaml\n(.*?)^```$/ms.exec(await Deno.readTextFile("docs/notifications.md"))!;
    assert.match(await template(CHART, { ...CHART_VALUES["all roles"], ...parse(receivers) }), /NOTIFY_MAIL_TO/);
    await assert.rejects(template(CHART, { ...CHART_VALUES.everything, image: { digest: "sha256:1" } }), /digest/);
    await assert.rejects(template(CHART, { gateway: { replicas: 2 } }), /secrets\.redis is required/);
  },
);

Deno.test("chart: a ServiceMonitor of metrics that no pod serves is refused", { ignore: HELM === null }, async () => {
  await assert.rejects(
    () => template(CHART, { ...CHART_VALUES["all roles"], metrics: { serviceMonitor: { enabled: true } } }),
    /needs metrics\.enabled/,
  );
});
