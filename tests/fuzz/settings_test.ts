import assert from "node:assert/strict";
import { KubeConfig } from "@kubernetes/client-node";
import fc from "fast-check";
import { parseUsersFile } from "@/lib/auth/users_file.ts";
import { ConfigError, readConfig } from "@/lib/config/mod.ts";
import { clusterEntry } from "@/lib/kubernetes/cluster_address.ts";
import { kubeconfigAccess } from "@/lib/kubernetes/kubeconfig_access.ts";
import { campaignNews, readRemembered, rememberedText } from "@/lib/operations/notifications/campaign_news.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { EVENT, notificationEvent } from "@/lib/operations/notifications/event.ts";
import { mailText } from "@/lib/operations/notifications/mail.ts";
import { GENERIC, RESULTS, WEB } from "@/tests/lib/config/settings.ts";
import { assertNothingInherited, fuzz, near, resolvedOr, resultOr } from "./hostile.ts";

const readEvent = (text: string) => EVENT.safeParse(parsedJson(text)).data ?? null;

const KUBECONFIGS = [
  `apiVersion: v1
kind: Config
current-context: here
contexts: [{name: here, context: {cluster: c, user: u, namespace: n}}]
clusters: [{name: c, cluster: {server: "https://kubernetes.example:6443", certificate-authority: ca.pem}}]
users:
- name: u
  user: {token: secret-token-1, exec: {command: aws, args: [get-token], apiVersion: client.authentication.k8s.io/v1}}
`,
  `{"clusters":[{"name":"c","cluster":{"server":"http://127.0.0.1:1","proxy-url":"http://p"}}],"users":[{"name":"u","user":` +
  `{"username":"a","password":"b"}}],"contexts":[{"name":"x","context":{"cluster":"c","user":"u"}}],"current-context":"x"}`,
];
const KUBE_WORDS = [
  ...["null", "server:", "&a", "*a", "<<:", "- ", "{", "name: here", "../../etc/passwd", "exec:", "http://u:p@h"],
];

fuzz("kubeconfigs", {
  inputs: near(KUBECONFIGS, KUBE_WORDS),
  async check(text) {
    const { files, commands } = kubeconfigAccess({ text }, () => null);
    assert.ok([...files, ...commands].every((one) => typeof one === "string" && one !== ""));
    // What is wrong with one is whatever the client says; it is caught where it is read, and never shown.
    const entry = resultOr(() => {
      const config = new KubeConfig();
      config.loadFromString(text);
      return clusterEntry(config, undefined);
    }, (error) => error instanceof Error);
    if (entry === null) return;
    assert.ok(URL.canParse(entry.server));
    if (/exec|auth-provider|tokenFile|-authority|client-|proxy|pfx/.test(text)) return;
    const credentials = await resolvedOr(() => entry.credentials(), (error) => error instanceof Error);
    for (const [name, value] of Object.entries(credentials?.headers ?? {})) {
      resultOr(() => new Headers({ [name]: value }), (error) => error instanceof TypeError);
    }
  },
  growth: {
    seeds: KUBECONFIGS,
    words: [...KUBE_WORDS, "- name: §\n", "[", "§: 1\n"],
    read: (text) => kubeconfigAccess({ text }, () => null),
  },
});

const HASH = "scrypt$16384$8$1$c2FsdHNhbHRzYWx0$" + "aGFzaA==".repeat(4);
const USERS = [`curator:${HASH}\n# a comment\n\r\narchive/a:b:${HASH}`, `a:${HASH.replace("16384", "16385")}`];

fuzz("users files", {
  inputs: near(USERS, ["$", ":", "scrypt$", "16777216", "\n"]),
  check(text) {
    const users = resultOr(
      () => parseUsersFile(text),
      (error) => error instanceof Error && /^line \d+: expected/.test(error.message),
    );
    for (const [name, { N, r, p, salt, hash }] of users ?? []) {
      assert.ok(name !== "" && 128 * N * r <= 64 * 1024 * 1024 && p > 0 && p < 100, name);
      assert.ok(salt.length >= 8 && hash.length >= 16);
    }
  },
  growth: { seeds: USERS, read: (text) => resultOr(() => parseUsersFile(text), (error) => error instanceof Error) },
});

const SECRET = `whsec_${btoa("x".repeat(32))}`;
const NOTIFY = {
  NOTIFY_WEBHOOK_URL: "https://hooks.example.org/a,https://b.example/c%2Cd",
  NOTIFY_WEBHOOK_SECRET: `${SECRET} ${SECRET}`,
  NOTIFY_EVENTS: "campaign.ended,disk.full",
  NOTIFY_SMTP_URL: "smtp://mail.example.org:587",
  NOTIFY_SMTP_USER: "stackroom",
  NOTIFY_SMTP_PASSWORD: "secret-1",
  NOTIFY_MAIL_FROM: "stackroom@example.org",
  NOTIFY_MAIL_TO: "a@example.org,b@example.org",
};
const ENVIRONMENTS: Record<string, string>[] = [
  {},
  { ...GENERIC, ...NOTIFY },
  { ...WEB, PUBLIC_URL: "https://site.example", TRUSTED_HOPS: "2", CAMPAIGN_NAMESPACES: "a,b" },
  { ...RESULTS, RESULTS_S3_REGION: "us-east-1", REDIS_URL: "rediss://u:p@redis.example:6379/1" },
];
const SETTING_WORDS = [
  ...["://", "@", ",", "\r\n", "file:", "javascript:", "http://u:p@h/", ":99999", "[::1]", "*", "localhost"],
];

fuzz("settings", {
  inputs: fc.constantFrom(...ENVIRONMENTS).chain((environment) =>
    fc.record(
      Object.fromEntries(
        Object.entries({
          PORT: "8000",
          HOST: "::",
          ALLOWED_HOSTS: "a,b",
          CAMPAIGN_CONVENTIONS: '{"preset":"htrflow"}',
          ...environment,
        })
          .map(([name, value]) => [name, near([value, value], SETTING_WORDS)]),
      ),
      { requiredKeys: Object.keys(environment) },
    )
  ),
  check(environment) {
    const files = { exists: () => true, read: () => null };
    const config = resultOr(() => readConfig(environment, files), (error) => {
      if (!(error instanceof ConfigError)) return false;
      // deno-lint-ignore no-control-regex
      for (const line of error.message.split("\n")) assert.match(line, /^[A-Z0-9_]+: [^\0-\x1f]+$/);
      assert.ok(!error.message.includes("secret-1"), error.message);
      return true;
    });
    for (const address of config?.notifications?.webhooks?.urls ?? []) {
      assert.match(new URL(String(address)).protocol, /^https?:$/);
    }
    assertNothingInherited();
  },
  growth: {
    seeds: Object.values(NOTIFY),
    words: SETTING_WORDS,
    read: (text) =>
      Object.keys(NOTIFY).map((name) =>
        resultOr(
          () => readConfig({ ...GENERIC, ...NOTIFY, [name]: text }, { exists: () => true, read: () => null }),
          (error) => error instanceof ConfigError,
        )
      ),
  },
});

const HOSTILE = ["lund", "a\r\nBcc: x@y", "<b>&", "\u202eevil", "x".repeat(1000), "\ud800", "=?utf-8?b?eA==?="];

fuzz("notifications", {
  inputs: fc.record({
    name: near(HOSTILE),
    namespace: near(HOSTILE),
    pipeline: near(HOSTILE),
    finishedAt: fc.option(near(["2025-11-20T08:00:00Z", "+275760-09-13T00:00:00Z", "2025"])),
    createdAt: fc.option(near(["2025-11-20T08:00:00Z"])),
    link: fc.option(near(["https://site.example/a", "javascript:alert(1)"])),
    warmup: fc.record({ phase: fc.constantFrom("failed", "missing", "succeeded", "toString") }),
    isEnded: fc.boolean(),
    isInTrouble: fc.boolean(),
    stored: near(['{"at":5,"seen":{"a":"quiet"}}', "null"], ['"__proto__":"quiet",']),
  }),
  check({ stored, ...campaign }) {
    const state = { ...campaign, phase: "Failed", counts: { total: 3, done: 1, failed: 2 } };
    const before = readRemembered(stored);
    const { events, remembered } = campaignNews(
      before ?? { at: 0, seen: new Map() },
      [state],
      () => true,
      1_800_000_000_000,
    );
    assert.deepEqual(readRemembered(rememberedText(remembered)), remembered);
    for (const event of events) {
      for (const text of [event.subject, event.summary, ...Object.values(event.data)]) {
        if (typeof text === "string") assert.ok(!/[\p{Cc}\u2028\u2029]/u.test(text) && [...text].length <= 501, text);
      }
      const read = readEvent(JSON.stringify(event));
      if (event.link === null || URL.canParse(event.link)) assert.equal(read?.id ?? event.id, event.id);
    }
    if (events.length > 0) {
      const { subject } = mailText(events, "site.example");
      assert.ok(!/[\r\n]/.test(subject), "a subject is one line");
    }
  },
});

fuzz("events of a queue", {
  inputs: near([
    JSON.stringify(notificationEvent({
      type: "disk.low",
      identity: ["x"],
      at: 5,
      subject: "The disk is nearly full",
      summary: "a sentence",
      link: "https://site.example/",
      data: { free: 5, path: "/data" },
    })),
  ], ['"link":"javascript:alert(1)"', "\\r\\n", "\\u0000", "disk.full", '"__proto__":{}']),
  check(text) {
    const event = readEvent(text);
    if (event === null) return;
    assert.ok(!/\p{Cc}/u.test(event.subject + event.summary));
    if (event.link !== null) assert.match(event.link, /^https?:/);
    assert.deepEqual(readEvent(JSON.stringify(event)), event);
  },
  growth: { seeds: ['{"id":"evt_'], read: readEvent },
});
