import { z } from "zod";

import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { DEFAULT_MAX_REQUESTS } from "@/lib/http/limit_concurrency.ts";
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

/** Returns what describes the variables of one section. What they have in common, a variable's own facts may replace. */
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
    "The parts this process plays. Only the variables of these parts are required.",
  ),
  HOST: process(
    optional(host(), "`127.0.0.1` with an embedded part, else `0.0.0.0`"),
    "The address to listen on. `0.0.0.0` or `::` with an embedded part requires `CAMPAIGN_RESULTS_URL`, whose host name is then accepted too.",
  ),
  PORT: process(integer(0, MAX_PORT).default(8000), "The port to listen on. 0 takes any free one."),
  METRICS_PORT: process(
    optional(integer(0, MAX_PORT), "no metrics"),
    "The port that serves `/metrics` for Prometheus ([metrics.md](metrics.md)), in plain HTTP. 0 takes any free one.",
  ),
  METRICS_HOST: process(
    host().default("127.0.0.1"),
    "The address that `METRICS_PORT` is on. It has no login: where it is not this machine's own, let nothing but Prometheus reach it.",
  ),
  TLS_CERT_FILE: process(
    optional(path(), "plain HTTP"),
    "A PEM file with the server's certificate chain: this process then serves HTTPS (HTTP/1.1). A replaced file is used for new connections within 10 s. Needs `TLS_KEY_FILE`.",
  ),
  TLS_KEY_FILE: process(
    optional(path(), "plain HTTP"),
    "The PEM file with the private key of `TLS_CERT_FILE`. Replace the key first, then the certificate.",
  ),
  MAX_REQUESTS: process(
    integer(1, MAX_IN_FLIGHT, "requests").default(DEFAULT_MAX_REQUESTS),
    "How many requests each role handles at a time, streamed bodies included; one tenant of the gateway has half of them. Further ones get 503 with `Retry-After` at once. Health paths do not count.",
  ),
  MAX_CONNECTIONS: process(
    integer(1, MAX_IN_FLIGHT, "connections").default(DEFAULT_MAX_CONNECTIONS),
    "How many connections may be open at a time. Further ones are closed at once. Each takes a file descriptor (three with `TLS_CERT_FILE`), and one more while it waits for a store or results service: set it below half of `ulimit -n` (a quarter). Where clients connect directly, one address (IPv6: one /64) has at most three eighths as many connections, and requests on shared ones, as `MAX_REQUESTS` allows requests; with `TRUSTED_HOPS` above 0 the proxy has to limit its clients.",
  ),
  KEEP_ALIVE_TIMEOUT: process(
    integer(1, 3600, "seconds").default(DEFAULT_IDLE_SECONDS),
    "How long a connection may wait for its next request. Set it above the keep-alive time of a proxy in front.",
  ),
  STOP_DELAY: process(
    integer(0, 3600, "seconds").default(0),
    "How long the process goes on serving after SIGTERM, while its probes are 503 and each connection is closed behind its next response. Proxies turn to other replicas meanwhile: set it above the time in which they notice.",
  ),
  TRUSTED_HOPS: process(
    optional(
      integer(0, 32),
      "`0`; `1` in a process that plays `results` without `web`, whose pass-through is in front of it",
    ),
    "How many proxies in front of this process are yours. The client's address is the entry of `X-Forwarded-For` at that position from the right; logins and unverified requests are counted by this. 0 ignores it, `X-Forwarded-Proto` and `-Host`; if the list is shorter, the peer counts. Set `1` behind one ingress (`2` for `results` without `web`), and `0` for `results` that is reached directly.",
    { aliases: ["HTRFLOW_TRUSTED_HOPS"] },
  ),
  DATA_DIR: process(
    path().default(".data"),
    "The folder for all data: the embedded store and cluster, generated keys, revoked sessions. One process at a time may use it.",
  ),
  REDIS_URL: process(
    optional(redisAddress(), "none: each process knows its own"),
    "The Redis or Valkey server through which the replicas of these roles share what they must agree about: revoked sessions and storage logins, refused logins and background tasks. The web role uses it with `GATEWAY_URL`. Processes that share must have the same `API_SECRET_KEY` and session key. `redis://` to another machine is logged at the start.",
    { roles: ["gateway", "web", "results"], secret: true },
  ),
  CA_FILE: process(
    optional(textSource(certificates()), "those that the runtime trusts"),
    "A PEM file of certificate authorities that every upstream may use, besides those of the runtime (`DENO_TLS_CA_STORE`, `DENO_CERT`). If a kubeconfig names its cluster's authority, only that one is trusted for the cluster.",
    { content: "CA_CERTIFICATES" },
  ),
  EMBEDDED: embedded(
    choice(["on", "store", "cluster", "off"]).default("on"),
    "What runs embedded in the process: store and cluster (`on`), one of them, or nothing (`off`).",
  ),
  EMBEDDED_HOST: embedded(
    host().default("127.0.0.1"),
    "The address that the embedded servers listen on. Presigned URLs of the embedded store contain it. No wildcard.",
  ),
  EMBEDDED_SAMPLES: embedded(
    flag().default(true),
    "Whether a new data folder gets sample accounts, objects and campaigns. `off` is for a store in real use ([one-machine.md](one-machine.md)); it needs `EMBEDDED=store`.",
  ),
  EMBEDDED_ADMIN_PASSWORD_FILE: embedded(
    optional(path(), "required for the first start without samples"),
    "Without samples: a file with the password (12 to 64 characters) of `admin`, the administrator of the system level. It is read when the account is created, at the first start.",
  ),
  EMBEDDED_TENANT: embedded(
    optional(tenant(), "none: the administrator creates tenants"),
    "Without samples: the name of a tenant that the start creates where it is missing.",
  ),
  EMBEDDED_TENANT_PASSWORD_FILE: embedded(
    optional(path(), "required where `EMBEDDED_TENANT` is missing in the store"),
    "Without samples: a file with the password of `admin` in that tenant. It is read when the tenant is created.",
  ),
  SIMULATOR_SPEED: embedded(decimal(0.1, 1000).default(1), "The speed of the sample campaigns; 1 is normal."),
  SIMULATOR_SEED: embedded(
    integer(0, MAX_SEED).default(1),
    "The seed of everything random in the samples. The same seed gives the same campaigns.",
  ),
  API_SECRET_KEY: gateway(
    optional(line(), "a random key in the data folder with an embedded store, else required"),
    "The key that signs bearer tokens: a long random value, the same for every replica. `change-me-in-production` counts as unset.",
    { secret: true },
  ),
  API_SECRET_KEY_PREVIOUS: gateway(
    optional(line(), "none"),
    "A second key whose bearer tokens are accepted too, while the key is being replaced ([operations.md](operations.md#replacing-keys)).",
    { secret: true },
  ),
  API_TOKEN_FORMAT: gateway(
    choice(["signed", "encrypted"]).default("signed"),
    "`signed` (HS256): clients can read the claims of their tokens, the password among them. `encrypted` (AES-256-GCM): they cannot. Tokens of both formats are accepted.",
  ),
  API_TOKEN_EXPIRE_MINUTES: gateway(
    integer(1, ONE_YEAR_MINUTES, "minutes").default(480),
    "How long a bearer token is valid.",
  ),
  CORS_ORIGINS: gateway(
    optional(origins(), "any origin without credentials; with an embedded part only our own"),
    "Origins whose pages may call the gateway with credentials. `*` allows any origin without credentials.",
  ),
  MAPI_ENABLED: gateway(
    flag().default(true),
    "Whether the management routes under `/api/v1/mapi` exist. A generic backend has them only with `HCP_DOMAIN` or `HCP_HOST`.",
  ),
  STORE_AUTH_TYPE: gateway(
    choice(["native", "ad"], { hcp: "native" }).default("native"),
    "How the gateway sends the caller's credentials to the management API. The older value `hcp` means `native`.",
    { aliases: ["HCP_AUTH_TYPE"] },
  ),
  HCP_TIMEOUT: gateway(integer(1, 3600, "seconds").default(60), "How long the management API may take to respond."),
  MAX_TASKS_PER_USER: gateway(
    integer(1, MAX_STORED_TASKS, "tasks").default(10),
    "How many unfinished background tasks and unexpired archives one user may have. Further ones get 429 with `Retry-After`.",
  ),
  MAX_TASKS: gateway(
    integer(1, MAX_STORED_TASKS, "tasks").default(200),
    "The same for all users together, of all replicas that share them. One tenant has a quarter of them, at least 20.",
  ),
  FIXITY_RATE: gateway(
    integer(0, MAX_FIXITY_RATE, "bytes per second").default(50_000_000),
    "How fast this process reads for fixity checks, all of them together ([fixity.md](fixity.md)). 0: as fast as it can.",
  ),
  FIXITY_SCHEDULES_FILE: gateway(
    optional(textSource(), "no schedules"),
    "A file of fixity checks that run at times of their own ([fixity.md](fixity.md#schedules)). It holds passwords.",
    { content: "FIXITY_SCHEDULES" },
  ),
  S3_REGION: gateway(line().default("us-east-1"), "The region in S3 signatures.", { roles: ["gateway", "results"] }),
  STORAGE_BACKEND: store(
    choice(["hcp", "minio", "generic"]).default("hcp"),
    "`hcp`: a store with a management API; every call uses the caller's own credentials. `minio` and `generic`: any S3 store.",
    { roles: ["gateway", "results"] },
  ),
  HCP_DOMAIN: store(
    optional(domain(), "required with `hcp`, unless `HCP_HOST` and `S3_ENDPOINT_URL` are set"),
    "Hosts are `<tenant>.<domain>`, and `admin.<domain>` for the system level.",
  ),
  HCP_HOST: store(optional(host(), "none"), "The host of the management API if there is no `HCP_DOMAIN`."),
  HCP_PORT: store(integer(1, MAX_PORT).default(9090), "The port of the management API."),
  HCP_VERIFY_SSL: store(
    flag().default(true),
    "Whether to check certificates of the management API, and of S3 with `hcp`. `false` is logged at the start.",
  ),
  S3_ENDPOINT_URL: store(
    optional(origin(), "required with `minio` and `generic`"),
    "The S3 endpoint if it does not follow from `HCP_DOMAIN` and the caller's tenant.",
  ),
  S3_PUBLIC_ENDPOINT_URL: store(
    optional(originTemplate(), "the endpoint that the gateway uses"),
    "The S3 endpoint in presigned URLs and in `/credentials`. `{tenant}` is replaced by the caller's tenant. Also with an embedded store without samples.",
  ),
  S3_VERIFY_SSL: store(
    flag().default(true),
    "Whether to check the S3 certificate of a `minio` or `generic` store. `false` is logged at the start.",
  ),
  S3_ADDRESSING_STYLE: store(
    choice(["auto", "path", "virtual"]).default("auto"),
    "Whether a bucket of a `minio` or `generic` store is in the path or in the host name. `auto` means path.",
  ),
  S3_ACCESS_KEY: store(
    optional(line(), "user name and password are the caller's own access key and secret"),
    "One access key of a `minio` or `generic` store for all callers. Requires `GATEWAY_USERS_FILE`, `GATEWAY_USERS` or `S3_SHARED_WITHOUT_LOGIN`.",
    { secret: true },
  ),
  S3_SECRET_KEY: store(optional(line(), "as `S3_ACCESS_KEY`"), "The secret of `S3_ACCESS_KEY`.", { secret: true }),
  GATEWAY_USERS_FILE: store(
    optional(textSource(), "none"),
    "The users of the shared keys: lines `name:scrypt-hash` (see `deno task user`), checked on every request.",
    { content: "GATEWAY_USERS" },
  ),
  S3_SHARED_WITHOUT_LOGIN: store(
    flag().default(false),
    "`true` gives the rights of the shared keys to every caller, whatever the login.",
  ),
  S3_ALLOW_TRUNCATED_UPLOADS: store(
    flag().default(false),
    "`true` sends each upload to a `minio` or `generic` store in one PUT, also where an upload that breaks off can become a truncated object. `false` sends it in parts there ([api.md](api.md#uploads-that-break-off)).",
  ),
  CAMPAIGN_RESULTS_URL: web(
    optional(base(), "with an embedded part `/results` on the request's origin, else required unless site-only"),
    "The base of all result URLs, as browsers reach it.",
    { aliases: ["HTRFLOW_RESULTS_URL", "HTRFLOW_PUBLIC_RESULTS_BASE"] },
  ),
  CAMPAIGN_RESULTS_PROXY: web(
    optional(resultsBase(), "the results role of this process, else required unless site-only"),
    "The base of the results service that checks sessions and serves results.",
    { aliases: ["HTRFLOW_RESULTS_PROXY"] },
  ),
  CAMPAIGN_INTERNAL_RESULTS_BASE: web(
    optional(base(), "`CAMPAIGN_RESULTS_PROXY`"),
    "The base from which progress files are read.",
    { aliases: ["HTRFLOW_INTERNAL_RESULTS_BASE"] },
  ),
  CAMPAIGN_NAMESPACES: web(
    optional(
      namespaces(),
      `the pod's own namespace; outside a cluster or with an embedded one \`${CONVENTIONS.stackroom.defaultNamespace}\` (or the conventions' \`defaultNamespace\`)`,
    ),
    "The namespaces whose campaigns are listed and whose results are served. Logins are checked against the first.",
    { roles: ["web", "results"], aliases: ["HTRFLOW_NAMESPACES", "HTRFLOW_RESULTS_NAMESPACE"] },
  ),
  CAMPAIGN_CONVENTIONS: web(
    optional(conventions(), "`stackroom`"),
    "The labels and names in the cluster: a preset, or a JSON object of overrides (see [Conventions](#conventions)).",
    { roles: ["web", "results"] },
  ),
  GATEWAY_URL: web(
    optional(base(), "the gateway role of this process; without one there are no storage pages"),
    "The base of the gateway that the storage pages work through, without `/api/v1`. Logins are sealed with the session key, so `RESULTS_SESSION_KEY_FILE` or `RESULTS_SESSION_KEY` is needed too.",
  ),
  CAMPAIGN_WEB_STATIC: web(
    optional(path(), "`/app/static` where it exists, else the project's own `static`"),
    "The folder of the site's files. If it does not exist, only the API is served and pages are 404.",
    { aliases: ["HTRFLOW_WEB_STATIC"] },
  ),
  CAMPAIGN_WEB_SITE_ONLY: web(
    optional(presence(), "off"),
    "Any value, even `0`, serves the site without a cluster. `/api/v1` of the web front then returns 503.",
    { aliases: ["HTRFLOW_WEB_SITE_ONLY"] },
  ),
  CAMPAIGN_BATCH_VERSION: web(line().default("dev"), "The release tag in `/api/v1/version`.", {
    aliases: ["HTRFLOW_BATCH_VERSION"],
  }),
  KUBECONFIG: web(
    optional(
      textSource(),
      "the pod's service account, else `~/.kube/config`; one of them is required unless site-only",
    ),
    "The kubeconfig of the cluster. Ignored, with a line at the start, beside an embedded cluster.",
    { content: "KUBECONFIG_CONTENT" },
  ),
  RESULTS_S3_ENDPOINT: results(
    optional(origin(), "required without an embedded store"),
    "The S3 endpoint that holds the results.",
    { store: true },
  ),
  RESULTS_S3_BUCKET: results(
    optional(line(), "required without an embedded store"),
    "The bucket that holds the results.",
    { store: true },
  ),
  RESULTS_S3_VERIFY_TLS: results(
    flag().default(true),
    "Whether to check the certificate of `RESULTS_S3_ENDPOINT`. `false` is logged at the start.",
    { store: true },
  ),
  RESULTS_KEY_DERIVATION: results(
    optional(choice(["hcp", "none"]), "`hcp`, or `none` where `STORAGE_BACKEND` is `minio` or `generic`"),
    "How a login becomes S3 keys. `hcp`: base64 of the name and MD5 of the password. `none`: name and password as they are.",
    { aliases: ["HTRFLOW_KEY_DERIVATION"], store: true },
  ),
  RESULTS_TENANT: results(
    optional(tenant(), "the first host label of `RESULTS_S3_ENDPOINT`, or the embedded store's own"),
    "The tenant of the results. A login as `tenant/user` with this tenant is a login as `user`.",
    { roles: ["web", "results"] },
  ),
  RESULTS_SESSION_KEY_FILE: results(
    optional(
      textSource(sessionKeys()),
      "a random key in the data folder with an embedded store, else `/secrets/session/key`",
    ),
    "A file with the key that seals session cookies: 32 bytes as base64. A second key, on a line of its own, opens them too, while the key is being replaced ([operations.md](operations.md#replacing-keys)).",
    {
      roles: ["web", "results"],
      aliases: ["HTRFLOW_SESSION_KEY_FILE"],
      content: "RESULTS_SESSION_KEY",
    },
  ),
  RESULTS_SESSION_HOURS: results(decimal(0.01, ONE_YEAR_HOURS, "hours").default(8), "How long a session lasts.", {
    roles: ["web", "results"],
    aliases: ["HTRFLOW_SESSION_HOURS"],
  }),
  NOTIFY_EVENTS: notifications(
    choices(EVENT_TYPES).default(EVENT_TYPES.filter((type) => type !== "fixity.clean")),
    "What notifications are sent about ([notifications.md](notifications.md)).",
  ),
  NOTIFY_WEBHOOK_URL: notifications(
    optional(webhookAddresses(), "no webhook"),
    "Where each event is sent by POST; a comma in an address is written `%2C`. `http://` to another machine is logged at the start.",
    { secret: true },
  ),
  NOTIFY_WEBHOOK_SECRET_FILE: notifications(
    optional(textSource(webhookSecrets()), "required with `NOTIFY_WEBHOOK_URL`"),
    "A file with the secret that signs what webhooks receive: `whsec_` and the base64 of 24 to 64 bytes. Two secrets, each on a line of its own, both sign while one is being replaced.",
    { content: "NOTIFY_WEBHOOK_SECRET" },
  ),
  NOTIFY_SMTP_URL: notifications(
    optional(smtpAddress(), "no mail"),
    "The server that takes mails. `smtps://` is TLS from the first byte on (port 465), `smtp://` is STARTTLS (port 587).",
  ),
  NOTIFY_SMTP_REQUIRE_TLS: notifications(
    optional(flag(), "`true`; `false` where the server is on loopback"),
    "Whether an `smtp://` server must offer STARTTLS. `false` is logged at the start where the server is another machine.",
  ),
  NOTIFY_SMTP_USER: notifications(optional(line(), "no login"), "The user at the mail server."),
  NOTIFY_SMTP_PASSWORD_FILE: notifications(
    optional(textSource(line()), "required with `NOTIFY_SMTP_USER`"),
    "A file with the password of `NOTIFY_SMTP_USER`.",
    { content: "NOTIFY_SMTP_PASSWORD" },
  ),
  NOTIFY_MAIL_FROM: notifications(optional(mailAddress(), "required with `NOTIFY_SMTP_URL`"), "The sender of mails."),
  NOTIFY_MAIL_TO: notifications(optional(mailAddresses(), "required with `NOTIFY_SMTP_URL`"), "Who mails are sent to."),
  AUDIT_RETENTION_DAYS: audit(
    optional(integer(1, MAX_AUDIT_DAYS, "days"), "1 beside samples, whose campaigns write all the time, else for ever"),
    "How long the [audit trail](audit.md) is retained. After a pause longer than that, removal starts with the second day that has records.",
  ),
  AUDIT_DIR: audit(
    optional(path(), "`audit` in the data folder; without an embedded part, none"),
    "The folder of the audit trail. One process at a time may use it.",
  ),
  AUDIT_REQUIRED: audit(
    flag().default(false),
    "`true` refuses changes with 507 while they cannot be recorded. Otherwise they go on, and lost records are counted.",
  ),
  AUDIT_FILE: audit(
    optional(path(), "none"),
    "A regular file that records are appended to as well, a line of JSON each; `-` is standard output. A file may be rotated by renaming it.",
  ),
});

/** The values of {@linkcode environment} as parsed. */
export type Settings = z.output<typeof environment>;
export type VariableName = keyof Settings;
