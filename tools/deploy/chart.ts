import { onPath } from "@/tools/temporary_tool.ts";

/** The path of Helm, from the variable HELM or the PATH; null where this machine has none. */
export const HELM = Deno.env.get("HELM") ?? onPath("helm");

/** The version for which objects are rendered; a Helm that was built from its module has an old one. */
const KUBERNETES = "1.30.0";

const REDIS = { secrets: { redis: "redis" } };
const RESULTS = {
  settings: { RESULTS_S3_ENDPOINT: "https://archive.store.example.org", RESULTS_S3_BUCKET: "results" },
};
const GATEWAY = { settings: { HCP_DOMAIN: "store.example.org" } };
const ONE = { replicas: 1 };

/** The main combinations of the chart's values, by what they are for. */
export const CHART_VALUES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "all roles": { ...REDIS, gateway: GATEWAY, results: RESULTS },
  "one replica of each role, without Redis": {
    gateway: { ...GATEWAY, ...ONE },
    web: ONE,
    results: { ...RESULTS, ...ONE },
    networkPolicy: { enabled: false },
    podDisruptionBudget: { enabled: false },
  },
  "the storage alone": {
    ...REDIS,
    campaigns: { enabled: false },
    gateway: {
      settings: { STORAGE_BACKEND: "generic", S3_ENDPOINT_URL: "https://s3.example.org" },
      usersSecret: "users",
      settingsSecret: "keys",
    },
  },
  "campaigns alone, listed, in two namespaces": {
    ...REDIS,
    gateway: { enabled: false },
    results: RESULTS,
    campaigns: { namespaces: ["batch-default", "batch-other"] },
    rbac: { watch: false, writeRecords: false },
    admissionPolicy: { enabled: false },
  },
  "webhooks alone": {
    ...REDIS,
    gateway: GATEWAY,
    results: RESULTS,
    notifications: { secret: "webhooks" },
  },
  everything: {
    secrets: { api: "api", session: "session", redis: "redis" },
    settingsSecret: "further",
    filesSecret: "files",
    notifications: {
      secret: "webhooks",
      settings: {
        NOTIFY_SMTP_URL: "smtp://mail.example.org",
        NOTIFY_SMTP_USER: "stackroom",
        NOTIFY_SMTP_PASSWORD_FILE: "/etc/stackroom/files/mail-password",
        NOTIFY_MAIL_FROM: "stackroom@example.org",
        NOTIFY_MAIL_TO: "ops@example.org",
      },
    },
    gateway: { ...GATEWAY, autoscaling: { enabled: true } },
    web: { autoscaling: { enabled: true } },
    results: { ...RESULTS, autoscaling: { enabled: true } },
    ca: { configMap: "authorities" },
    ingress: { enabled: true, className: "nginx", tlsSecret: "tls", annotations: { a: "b" } },
    networkPolicy: {
      ingressFrom: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "ingress" } } }],
      store: { to: [{ ipBlock: { cidr: "192.0.2.0/24" } }] },
      notifications: { to: [{ ipBlock: { cidr: "198.51.100.0/24" } }] },
      furtherEgress: [{
        to: [{ namespaceSelector: { matchLabels: { "kubernetes.io/metadata.name": "tracing" } } }],
        ports: [{ port: 4318, protocol: "TCP" }],
      }],
    },
    metrics: { enabled: true, serviceMonitor: { enabled: true, labels: { release: "prometheus" } } },
    serviceMonitor: { enabled: true, labels: { release: "prometheus" } },
    image: { digest: `sha256:${"0".repeat(64)}`, pullSecrets: ["registry"] },
    serviceAccount: { annotations: { a: "b" } },
  },
};

/**
 * The objects of a chart with these values, as YAML.
 *
 * @throws {Error} with what Helm says
 */
export async function template(chart: string, values: Readonly<Record<string, unknown>>): Promise<string> {
  const child = new Deno.Command(HELM!, {
    args: ["template", "stackroom", chart, "--namespace", "stackroom", "--kube-version", KUBERNETES, "--values", "-"],
    stdin: "piped",
    stdout: "piped",
    stderr: "piped",
  }).spawn();
  const output = child.output();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(values)));
  await writer.close();
  const { success, stdout, stderr } = await output;
  if (!success) throw new Error(new TextDecoder().decode(stderr));
  return new TextDecoder().decode(stdout);
}
