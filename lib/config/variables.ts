import { z } from "zod";

import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { DEFAULT_MAX_REQUESTS } from "@/lib/http/request_context.ts";
import { EVENT_TYPES } from "@/lib/operations/notifications/event.ts";
import { DEFAULT_IDLE_SECONDS, DEFAULT_MAX_CONNECTIONS } from "@/lib/process/connections.ts";
import {
  base,
  certificates,
  choice,
  choices,
  conventions,
  decimal,
  domain,
  flag,
  host,
  integer,
  line,
  mailAddress,
  mailAddresses,
  namespaces,
  origin,
  origins,
  originTemplate,
  path,
  presence,
  redisAddress,
  resultsBase,
  sessionKeys,
  smtpAddress,
  tenant,
  textSource,
  webhookAddresses,
  webhookSecrets,
} from "./setting_values.ts";

/** The parts that a process may play. */
const ROLES = ["gateway", "web", "results"] as const;
export type Role = (typeof ROLES)[number];

/** The facts about a variable beside its kind and its default. */
export interface About {
  /** Where it stands in the documentation. */
  readonly section: string;
  /** The roles that read it; absent: every process. */
  readonly roles?: readonly Role[];
  /** Other names, the first one set counts; the variable's own name wins over all of them. */
  readonly aliases?: readonly string[];
  readonly meaning: string;
  /** The variable that may hold the text itself, where this one is the path of its file. */
  readonly content?: string;
  /** Its value never appears in a message. */
  readonly secret?: true;
  /** It says which store is used or how it is reached: an error beside an embedded store. */
  readonly store?: true;
}

/** Facts about every variable, by its schema. */
export const about = z.registry<About>();

/** The default in words, where there is no fixed one, by the schema of the variable. */
export const otherwise = z.registry<{ readonly text: string }>();

type Further = Partial<Omit<About, "section" | "meaning">>;

/** Returns a function that describes a variable of one section. Its facts override the common ones. */
function section(name: string, common: Further = {}) {
  return function described<S extends z.ZodType>(schema: S, meaning: string, further: Further = {}): S {
    about.add(schema, { section: name, ...common, meaning, ...further });
    return schema;
  };
}

/** A variable that may be unset. @param text what holds then */
function optional<S extends z.ZodType>(schema: S, text: string) {
  const unset = schema.optional();
  otherwise.add(unset, { text });
  return unset;
}

const process = section("Process");
const embedded = section("Embedded parts");
const gateway = section("Gateway", { roles: ["gateway"] });
const store = section("Store", { roles: ["gateway"], store: true });
const web = section("Campaign web front", { roles: ["web"] });
const results = section("Results", { roles: ["results"] });
const notifications = section("Notifications");
const audit = section("Audit trail");

const ONE_YEAR_MINUTES = 525_600;
const ONE_YEAR_HOURS = 8_760;
const MAX_PORT = 65_535;
const MAX_IN_FLIGHT = 1_000_000;
const MAX_STORED_TASKS = 10_000;
const MAX_FIXITY_RATE = 100_000_000_000;
const MAX_SEED = 4_294_967_295;
const MAX_AUDIT_DAYS = 36_500;

/** Every environment variable of every role. Unset variables and empty values are absent, values come trimmed. */
export const environment = z.object({
  ROLES: process(
    choices(ROLES).default([...ROLES]),
    "Parts that this process plays.",
  ),
  HOST: process(
    optional(host(), "`127.0.0.1` with an embedded part, else `0.0.0.0`"),
    "Address to listen on. `0.0.0.0` or `::` with an embedded part requires `CAMPAIGN_RESULTS_URL`, whose host name is then accepted.",
  ),
  PORT: process(integer(0, MAX_PORT).default(8000), "Port to listen on; 0: any free one."),
  METRICS_PORT: process(
    optional(integer(0, MAX_PORT), "no metrics"),
    "Port of `/metrics` for Prometheus ([metrics.md](metrics.md)), plain HTTP; 0: any free one.",
  ),
  METRICS_HOST: process(
    host().default("127.0.0.1"),
    "Address of `METRICS_PORT`, without a login: elsewhere than on loopback let only Prometheus reach it.",
  ),
  TLS_CERT_FILE: process(
    optional(path(), "plain HTTP"),
    "PEM file with the certificate chain; serves HTTPS (HTTP/1.1) with `TLS_KEY_FILE`. A replaced file is used within 10 s.",
  ),
  TLS_KEY_FILE: process(
    optional(path(), "plain HTTP"),
    "PEM file with the private key. Replace the key first, then the certificate.",
  ),
  MAX_REQUESTS: process(
    integer(1, MAX_IN_FLIGHT, "requests").default(DEFAULT_MAX_REQUESTS),
    "Requests at a time in each role, bodies included; half of them for one tenant. Further ones get 503 with `Retry-After`.",
  ),
  MAX_CONNECTIONS: process(
    integer(1, MAX_IN_FLIGHT, "connections").default(DEFAULT_MAX_CONNECTIONS),
    "Open connections; further ones are closed. Set it below half of `ulimit -n` (a quarter with TLS). One address has at most three eighths of `MAX_REQUESTS`, unless `TRUSTED_HOPS` is above 0.",
  ),
  KEEP_ALIVE_TIMEOUT: process(
    integer(1, 3600, "seconds").default(DEFAULT_IDLE_SECONDS),
    "Idle time of a connection. Set it above the keep-alive time of a proxy in front.",
  ),
  STOP_DELAY: process(
    integer(0, 3600, "seconds").default(0),
    "Time to go on serving after SIGTERM with failing probes. Set it above the time in which proxies notice ([operations.md](operations.md#start-and-stop)).",
  ),
  TRUSTED_HOPS: process(
    optional(
      integer(0, 32),
      "`0`; `1` in a process that plays `results` without `web`, whose pass-through is in front of it",
    ),
    "Number of your own proxies in front; the client's address is that entry of `X-Forwarded-For` from the right. 0 ignores forwarded headers ([operations.md](operations.md#proxies-in-front)).",
    { aliases: ["HTRFLOW_TRUSTED_HOPS"] },
  ),
  DATA_DIR: process(
    path().default(".data"),
    "Folder for all data. One process at a time may use it.",
  ),
  REDIS_URL: process(
    optional(redisAddress(), "none: each process knows its own"),
    "Redis or Valkey for replicas: revoked sessions, wrong passwords, background tasks. They must have the same `API_SECRET_KEY` and session key. The web role uses it with `GATEWAY_URL`. `redis://` to another machine is logged.",
    { roles: ["gateway", "web", "results"], secret: true },
  ),
  CA_FILE: process(
    optional(textSource(certificates()), "those that the runtime trusts"),
    "PEM file of further certificate authorities for all upstreams. A kubeconfig's own authority is the only one for its cluster.",
    { content: "CA_CERTIFICATES" },
  ),
  EMBEDDED: embedded(
    choice(["on", "store", "cluster", "off"]).default("on"),
    "What runs in the process: store and cluster (`on`), one of them, or neither.",
  ),
  EMBEDDED_HOST: embedded(
    host().default("127.0.0.1"),
    "Address of the embedded servers, also in presigned URLs. No wildcard.",
  ),
  EMBEDDED_SAMPLES: embedded(
    flag().default(true),
    "Create sample accounts, objects and campaigns. `off` is for real use ([one-machine.md](one-machine.md)) and needs `EMBEDDED=store`.",
  ),
  EMBEDDED_ADMIN_PASSWORD_FILE: embedded(
    optional(path(), "required for the first start without samples"),
    "Without samples: file with the password (12 to 64 characters) of the system's `admin`, read at the first start.",
  ),
  EMBEDDED_TENANT: embedded(
    optional(tenant(), "none: the administrator creates tenants"),
    "Without samples: tenant to create at the start.",
  ),
  EMBEDDED_TENANT_PASSWORD_FILE: embedded(
    optional(path(), "required where `EMBEDDED_TENANT` is missing in the store"),
    "Without samples: file with the password of that tenant's `admin`, read when it is created.",
  ),
  SIMULATOR_SPEED: embedded(decimal(0.1, 1000).default(1), "Speed of the sample campaigns."),
  SIMULATOR_SEED: embedded(
    integer(0, MAX_SEED).default(1),
    "Seed of the samples. The same seed gives the same campaigns.",
  ),
  API_SECRET_KEY: gateway(
    optional(line(), "a random key in the data folder with an embedded store, else required"),
    "Key that signs bearer tokens: long, random, the same for all replicas. `change-me-in-production` counts as unset.",
    { secret: true },
  ),
  API_SECRET_KEY_PREVIOUS: gateway(
    optional(line(), "none"),
    "Second accepted key, while the key is replaced ([operations.md](operations.md#replacing-keys)).",
    { secret: true },
  ),
  API_TOKEN_FORMAT: gateway(
    choice(["signed", "encrypted"]).default("signed"),
    "Whether clients can read their token, with the password (`signed`, HS256), or not (`encrypted`, AES-256-GCM). Both are accepted.",
  ),
  API_TOKEN_EXPIRE_MINUTES: gateway(
    integer(1, ONE_YEAR_MINUTES, "minutes").default(480),
    "Validity of a bearer token.",
  ),
  CORS_ORIGINS: gateway(
    optional(origins(), "any origin without credentials; with an embedded part only our own"),
    "Origins that may call with credentials; `*`: any origin without credentials.",
  ),
  MAPI_ENABLED: gateway(
    flag().default(true),
    "Serve `/api/v1/mapi`. A generic backend needs `HCP_DOMAIN` or `HCP_HOST` for it.",
  ),
  STORE_AUTH_TYPE: gateway(
    choice(["native", "ad"], { hcp: "native" }).default("native"),
    "How credentials are sent to the management API. `hcp` means `native`.",
    { aliases: ["HCP_AUTH_TYPE"] },
  ),
  HCP_TIMEOUT: gateway(integer(1, 3600, "seconds").default(60), "Time for the management API to respond."),
  MAX_TASKS_PER_USER: gateway(
    integer(1, MAX_STORED_TASKS, "tasks").default(10),
    "Unfinished tasks and unexpired archives of one user. Further ones get 429.",
  ),
  MAX_TASKS: gateway(
    integer(1, MAX_STORED_TASKS, "tasks").default(200),
    "The same for all users and replicas; a quarter, at least 20, for one tenant.",
  ),
  FIXITY_RATE: gateway(
    integer(0, MAX_FIXITY_RATE, "bytes per second").default(50_000_000),
    "Read rate of all fixity checks of this process ([fixity.md](fixity.md)); 0: unlimited.",
  ),
  FIXITY_SCHEDULES_FILE: gateway(
    optional(textSource(), "no schedules"),
    "File of scheduled fixity checks, with passwords ([fixity.md](fixity.md#schedules)).",
    { content: "FIXITY_SCHEDULES" },
  ),
  S3_REGION: gateway(line().default("us-east-1"), "Region in S3 signatures.", { roles: ["gateway", "results"] }),
  STORAGE_BACKEND: store(
    choice(["hcp", "minio", "generic"]).default("hcp"),
    "`hcp`: a store with a management API. `minio`, `generic`: any S3 store.",
    { roles: ["gateway", "results"] },
  ),
  HCP_DOMAIN: store(
    optional(domain(), "required with `hcp`, unless `HCP_HOST` and `S3_ENDPOINT_URL` are set"),
    "Hosts are `<tenant>.<domain>`, and `admin.<domain>` for the system level.",
  ),
  HCP_HOST: store(optional(host(), "none"), "Host of the management API without `HCP_DOMAIN`."),
  HCP_PORT: store(integer(1, MAX_PORT).default(9090), "Port of the management API."),
  HCP_VERIFY_SSL: store(
    flag().default(true),
    "Check certificates of the management API, and of S3 with `hcp`. `false` is logged.",
  ),
  S3_ENDPOINT_URL: store(
    optional(origin(), "required with `minio` and `generic`"),
    "S3 endpoint, if it does not follow from `HCP_DOMAIN`.",
  ),
  S3_PUBLIC_ENDPOINT_URL: store(
    optional(originTemplate(), "the endpoint that the gateway uses"),
    "S3 endpoint in presigned URLs and `/credentials`; `{tenant}` is the caller's. Also with an embedded store without samples.",
  ),
  S3_VERIFY_SSL: store(
    flag().default(true),
    "Check the S3 certificate of a `minio` or `generic` store. `false` is logged.",
  ),
  S3_ADDRESSING_STYLE: store(
    choice(["auto", "path", "virtual"]).default("auto"),
    "Bucket in the path or in the host name (`minio`, `generic`). `auto` means path.",
  ),
  S3_ACCESS_KEY: store(
    optional(line(), "user name and password are the caller's own access key and secret"),
    "One access key for all callers (`minio`, `generic`). Requires `GATEWAY_USERS_FILE`, `GATEWAY_USERS` or `S3_SHARED_WITHOUT_LOGIN`.",
    { secret: true },
  ),
  S3_SECRET_KEY: store(optional(line(), "as `S3_ACCESS_KEY`"), "Secret of `S3_ACCESS_KEY`.", { secret: true }),
  GATEWAY_USERS_FILE: store(
    optional(textSource(), "none"),
    "File with the users of the shared key: lines `name:scrypt-hash` (`deno task user`), checked on every request.",
    { content: "GATEWAY_USERS" },
  ),
  S3_SHARED_WITHOUT_LOGIN: store(
    flag().default(false),
    "`true` gives the shared key's rights to every caller.",
  ),
  S3_ALLOW_TRUNCATED_UPLOADS: store(
    flag().default(false),
    "`true` sends uploads in one PUT even if the store may keep a truncated one, instead of in parts ([api.md](api.md#uploads-that-break-off)).",
  ),
  CAMPAIGN_RESULTS_URL: web(
    optional(base(), "with an embedded part `/results` on the request's origin, else required unless site-only"),
    "Base of result URLs, as browsers reach it.",
    { aliases: ["HTRFLOW_RESULTS_URL", "HTRFLOW_PUBLIC_RESULTS_BASE"] },
  ),
  CAMPAIGN_RESULTS_PROXY: web(
    optional(resultsBase(), "the results role of this process, else required unless site-only"),
    "Base of the results service.",
    { aliases: ["HTRFLOW_RESULTS_PROXY"] },
  ),
  CAMPAIGN_INTERNAL_RESULTS_BASE: web(
    optional(base(), "`CAMPAIGN_RESULTS_PROXY`"),
    "Base for reading progress files.",
    { aliases: ["HTRFLOW_INTERNAL_RESULTS_BASE"] },
  ),
  CAMPAIGN_NAMESPACES: web(
    optional(
      namespaces(),
      `the pod's own namespace; outside a cluster or with an embedded one \`${CONVENTIONS.stackroom.defaultNamespace}\` (or the conventions' \`defaultNamespace\`)`,
    ),
    "Namespaces whose campaigns and results are served. Logins are checked against the first.",
    { roles: ["web", "results"], aliases: ["HTRFLOW_NAMESPACES", "HTRFLOW_RESULTS_NAMESPACE"] },
  ),
  CAMPAIGN_CONVENTIONS: web(
    optional(conventions(), "`stackroom`"),
    "Labels and names in the cluster (see [Conventions](#conventions)).",
    { roles: ["web", "results"] },
  ),
  GATEWAY_URL: web(
    optional(base(), "the gateway role of this process; without one there are no storage pages"),
    "Base of the gateway for the storage pages, without `/api/v1`. Needs a session key.",
  ),
  CAMPAIGN_WEB_STATIC: web(
    optional(path(), "`/app/static` where it exists, else the project's own `static`"),
    "Folder of the site's files. Without it only the API is served.",
    { aliases: ["HTRFLOW_WEB_STATIC"] },
  ),
  CAMPAIGN_WEB_SITE_ONLY: web(
    optional(presence(), "off"),
    "Any value, even `0`, serves the site without a cluster; its `/api/v1` is then 503.",
    { aliases: ["HTRFLOW_WEB_SITE_ONLY"] },
  ),
  CAMPAIGN_BATCH_VERSION: web(line().default("dev"), "Release tag in `/api/v1/version`.", {
    aliases: ["HTRFLOW_BATCH_VERSION"],
  }),
  KUBECONFIG: web(
    optional(
      textSource(),
      "the pod's service account, else `~/.kube/config`; one of them is required unless site-only",
    ),
    "Kubeconfig of the cluster. Ignored beside an embedded cluster.",
    { content: "KUBECONFIG_CONTENT" },
  ),
  RESULTS_S3_ENDPOINT: results(
    optional(origin(), "required without an embedded store"),
    "S3 endpoint of the results.",
    { store: true },
  ),
  RESULTS_S3_BUCKET: results(
    optional(line(), "required without an embedded store"),
    "Bucket of the results.",
    { store: true },
  ),
  RESULTS_S3_VERIFY_TLS: results(
    flag().default(true),
    "Check the certificate of `RESULTS_S3_ENDPOINT`. `false` is logged.",
    { store: true },
  ),
  RESULTS_KEY_DERIVATION: results(
    optional(choice(["hcp", "none"]), "`hcp`, or `none` where `STORAGE_BACKEND` is `minio` or `generic`"),
    "S3 keys of a login: base64 of the name and MD5 of the password (`hcp`), or both as they are.",
    { aliases: ["HTRFLOW_KEY_DERIVATION"], store: true },
  ),
  RESULTS_TENANT: results(
    optional(tenant(), "the first host label of `RESULTS_S3_ENDPOINT`, or the embedded store's own"),
    "Tenant of the results. A login as `tenant/user` with it is a login as `user`.",
    { roles: ["web", "results"] },
  ),
  RESULTS_SESSION_KEY_FILE: results(
    optional(
      textSource(sessionKeys()),
      "a random key in the data folder with an embedded store, else `/secrets/session/key`",
    ),
    "File with the key that seals session cookies: 32 bytes as base64. A second line may hold another accepted key ([operations.md](operations.md#replacing-keys)).",
    {
      roles: ["web", "results"],
      aliases: ["HTRFLOW_SESSION_KEY_FILE"],
      content: "RESULTS_SESSION_KEY",
    },
  ),
  RESULTS_SESSION_HOURS: results(decimal(0.01, ONE_YEAR_HOURS, "hours").default(8), "Length of a session.", {
    roles: ["web", "results"],
    aliases: ["HTRFLOW_SESSION_HOURS"],
  }),
  NOTIFY_EVENTS: notifications(
    choices(EVENT_TYPES).default(EVENT_TYPES.filter((type) => type !== "fixity.clean")),
    "Events to notify about ([notifications.md](notifications.md)).",
  ),
  NOTIFY_WEBHOOK_URL: notifications(
    optional(webhookAddresses(), "no webhook"),
    "Receivers of each event by POST; write a comma as `%2C`. `http://` to another machine is logged.",
    { secret: true },
  ),
  NOTIFY_WEBHOOK_SECRET_FILE: notifications(
    optional(textSource(webhookSecrets()), "required with `NOTIFY_WEBHOOK_URL`"),
    "File with the signing secret: `whsec_` and the base64 of 24 to 64 bytes. Two lines both sign.",
    { content: "NOTIFY_WEBHOOK_SECRET" },
  ),
  NOTIFY_SMTP_URL: notifications(
    optional(smtpAddress(), "no mail"),
    "Mail server: `smtps://` is TLS (port 465), `smtp://` STARTTLS (port 587).",
  ),
  NOTIFY_SMTP_REQUIRE_TLS: notifications(
    optional(flag(), "`true`; `false` where the server is on loopback"),
    "Require STARTTLS of an `smtp://` server. `false` for another machine is logged.",
  ),
  NOTIFY_SMTP_USER: notifications(optional(line(), "no login"), "User at the mail server."),
  NOTIFY_SMTP_PASSWORD_FILE: notifications(
    optional(textSource(line()), "required with `NOTIFY_SMTP_USER`"),
    "File with the password of `NOTIFY_SMTP_USER`.",
    { content: "NOTIFY_SMTP_PASSWORD" },
  ),
  NOTIFY_MAIL_FROM: notifications(optional(mailAddress(), "required with `NOTIFY_SMTP_URL`"), "Sender of mails."),
  NOTIFY_MAIL_TO: notifications(optional(mailAddresses(), "required with `NOTIFY_SMTP_URL`"), "Receivers of mails."),
  AUDIT_RETENTION_DAYS: audit(
    optional(integer(1, MAX_AUDIT_DAYS, "days"), "1 beside samples, whose campaigns write all the time, else for ever"),
    "Age at which days of the [audit trail](audit.md) are removed.",
  ),
  AUDIT_DIR: audit(
    optional(path(), "`audit` in the data folder; without an embedded part, none"),
    "Folder of the audit trail, for one process.",
  ),
  AUDIT_REQUIRED: audit(
    flag().default(false),
    "`true` refuses changes with 507 while they cannot be recorded; otherwise lost records are counted.",
  ),
  AUDIT_FILE: audit(
    optional(path(), "none"),
    "File that records are appended to as JSON lines; `-` is standard output. Rotate it by renaming.",
  ),
});

/** The values of {@linkcode environment} as parsed. */
export type Settings = z.output<typeof environment>;
export type VariableName = keyof Settings;
