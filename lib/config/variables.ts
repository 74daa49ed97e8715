import { z } from "zod";

import { CONVENTIONS } from "@/lib/campaigns/projection/conventions.ts";
import { DEFAULT_MAX_REQUESTS, DEFAULT_MAX_TENANT_REQUESTS } from "@/lib/http/limit_concurrency.ts";
import {
  DEFAULT_HEAD_SECONDS,
  DEFAULT_IDLE_SECONDS,
  DEFAULT_MAX_CONNECTIONS,
  DEFAULT_MAX_CONNECTIONS_PER_ADDRESS,
} from "@/lib/process/connections.ts";
import { conventions } from "./conventions.ts";
import {
  base,
  choice,
  choices,
  decimal,
  domain,
  flag,
  host,
  integer,
  line,
  namespaces,
  origin,
  origins,
  originTemplate,
  path,
  presence,
  resultsBase,
  tenant,
} from "./values.ts";

/** The parts that a process may play. */
const ROLES = ["gateway", "web", "results"] as const;
export type Role = (typeof ROLES)[number];

/** Where a variable stands in the documentation. */
export const SECTIONS = ["Process", "Embedded parts", "Gateway", "Store", "Campaign web front", "Results"] as const;

/** What is known of a variable beside its kind and its default. */
export interface About {
  readonly section: (typeof SECTIONS)[number];
  /** The roles that read it; absent: every process. */
  readonly roles?: readonly Role[];
  /** Other names, the first one set counts; the variable's own name wins over all of them. */
  readonly aliases?: readonly string[];
  readonly meaning: string;
  /** What holds where it is unset and the schema has no fixed default. */
  readonly otherwise?: string;
  /** Its value never appears in a message. */
  readonly secret?: true;
  /** It says which store is used or how it is reached: an error beside an embedded store. */
  readonly store?: true;
}

/** Facts about every variable of {@linkcode environment}. */
export const about = z.registry<About>();

const ONE_YEAR_MINUTES = 525_600;
const ONE_YEAR_HOURS = 8_760;
const MAX_PORT = 65_535;
const MAX_IN_FLIGHT = 1_000_000;
const MAX_SEED = 4_294_967_295;

/** Every environment variable of every role. Unset variables and empty values are absent, values come trimmed. */
export const environment = z.object({
  ROLES: choices(ROLES).default([...ROLES]).register(about, {
    section: "Process",
    meaning: "The parts this process plays. Only the variables of these parts are required.",
  }),
  HOST: host().optional().register(about, {
    section: "Process",
    otherwise: "`127.0.0.1` with an embedded part, else `0.0.0.0`",
    meaning:
      "The address to listen on. `0.0.0.0` or `::` with an embedded part demands `CAMPAIGN_RESULTS_URL`: its host name is then answered too.",
  }),
  PORT: integer(0, MAX_PORT).default(8000).register(about, {
    section: "Process",
    meaning: "The port to listen on; 0 takes any free one.",
  }),
  MAX_REQUESTS: integer(1, MAX_IN_FLIGHT, "requests").default(DEFAULT_MAX_REQUESTS).register(about, {
    section: "Process",
    meaning:
      "How many requests each part works on at a time, streamed bodies included. Beyond that the answer is 503 with `Retry-After`, at once; health paths are not counted.",
  }),
  MAX_CONNECTIONS: integer(1, MAX_IN_FLIGHT, "connections").default(DEFAULT_MAX_CONNECTIONS).register(about, {
    section: "Process",
    meaning:
      "How many connections may be open at a time; further ones are closed at once. Each takes a file descriptor, and one more while a store or results service is asked for it: keep it below half of `ulimit -n`.",
  }),
  MAX_CONNECTIONS_PER_ADDRESS: integer(1, MAX_IN_FLIGHT, "connections").default(DEFAULT_MAX_CONNECTIONS_PER_ADDRESS)
    .register(about, {
      section: "Process",
      meaning:
        "How many of `MAX_CONNECTIONS` one address may have (IPv6: one /64), and how many requests it may send at a time on few connections, as HTTP/2 does; keep it below `MAX_TENANT_REQUESTS`, so that no client holds all places alone. It counts where clients connect directly: with `TRUSTED_HOPS` above 0 all may come from the proxy, which has to limit them.",
    }),
  HEAD_TIMEOUT: integer(1, 3600, "seconds").default(DEFAULT_HEAD_SECONDS).register(about, {
    section: "Process",
    meaning: "How long a new connection may take until the head of its first request is complete; then it is closed.",
  }),
  KEEP_ALIVE_TIMEOUT: integer(1, 3600, "seconds").default(DEFAULT_IDLE_SECONDS).register(about, {
    section: "Process",
    meaning:
      "How long a connection may wait for its next request. Set it above the time for which a proxy in front keeps its connections.",
  }),
  TRUSTED_HOPS: integer(0, 32).optional().register(about, {
    section: "Process",
    aliases: ["HTRFLOW_TRUSTED_HOPS"],
    otherwise: "`0`; `1` in a process that plays `results` without `web`, whose pass-through is in front of it",
    meaning:
      "How many proxies in front of this process are yours: the client's address, under which logins and unproven requests are counted, is that many places from the right in `X-Forwarded-For`; 0 ignores the header, a shorter list means the peer. Set `1` behind one ingress (`2` for `results` without `web`), and `0` for `results` that is reached directly.",
  }),
  DATA_DIR: path().default(".data").register(about, {
    section: "Process",
    meaning:
      "The folder of everything that is kept: the embedded store, generated keys, sessions that logged out. One process at a time may use it.",
  }),
  CA_FILE: path().optional().register(about, {
    section: "Process",
    otherwise: "those that the runtime trusts",
    meaning:
      "PEM file of certificate authorities, trusted towards every upstream beside those of the runtime (`DENO_TLS_CA_STORE`, `DENO_CERT`). A kubeconfig that names its cluster's authority trusts that alone.",
  }),
  EMBEDDED: choice(["on", "store", "cluster", "off"]).default("on").register(about, {
    section: "Embedded parts",
    meaning: "What the process brings with it: store and cluster (`on`), one of them, or nothing.",
  }),
  EMBEDDED_HOST: host().default("127.0.0.1").register(about, {
    section: "Embedded parts",
    meaning:
      "The address that the embedded servers listen on and that presigned URLs of the embedded store show. No wildcard.",
  }),
  SIMULATOR_SPEED: decimal(0.1, 1000).default(1).register(about, {
    section: "Embedded parts",
    meaning: "How fast the sample campaigns move: 1 is their own pace.",
  }),
  SIMULATOR_SEED: integer(0, MAX_SEED).default(1).register(about, {
    section: "Embedded parts",
    meaning: "Seed of everything random in the samples: the same seed gives the same campaigns and pages.",
  }),
  API_SECRET_KEY: line().optional().register(about, {
    section: "Gateway",
    roles: ["gateway"],
    secret: true,
    otherwise: "a random key in the data folder with an embedded store, else required",
    meaning:
      "Signs the bearer tokens. Every replica needs the same long random value; `change-me-in-production` counts as unset.",
  }),
  API_TOKEN_EXPIRE_MINUTES: integer(1, ONE_YEAR_MINUTES, "minutes").default(480).register(about, {
    section: "Gateway",
    roles: ["gateway"],
    meaning: "How long a bearer token is valid.",
  }),
  CORS_ORIGINS: origins().optional().register(about, {
    section: "Gateway",
    roles: ["gateway"],
    otherwise: "any origin without credentials; with an embedded part none but our own",
    meaning:
      "Origins whose pages may use the gateway from a browser, with credentials; `*` is any origin without them.",
  }),
  MAPI_ENABLED: flag().default(true).register(about, {
    section: "Gateway",
    roles: ["gateway"],
    meaning:
      "Whether the management routes under `/api/v1/mapi` exist. A generic backend has them only with `HCP_DOMAIN` or `HCP_HOST`.",
  }),
  STORE_AUTH_TYPE: choice(["native", "ad"], { hcp: "native" }).default("native").register(about, {
    section: "Gateway",
    roles: ["gateway"],
    aliases: ["HCP_AUTH_TYPE"],
    meaning:
      "How the gateway shows the caller's credentials to the management API. The older value `hcp` means `native`.",
  }),
  HCP_TIMEOUT: integer(1, 3600, "seconds").default(60).register(about, {
    section: "Gateway",
    roles: ["gateway"],
    meaning: "How long the management API may take to answer.",
  }),
  MAX_TENANT_REQUESTS: integer(1, MAX_IN_FLIGHT, "requests").default(DEFAULT_MAX_TENANT_REQUESTS).register(about, {
    section: "Gateway",
    roles: ["gateway"],
    meaning: "How many of `MAX_REQUESTS` one tenant may have at a time in the gateway; beyond that 503 likewise.",
  }),
  S3_REGION: line().default("us-east-1").register(about, {
    section: "Gateway",
    roles: ["gateway", "results"],
    meaning: "The region in S3 signatures.",
  }),
  STORAGE_BACKEND: choice(["hcp", "minio", "generic"]).default("hcp").register(about, {
    section: "Store",
    roles: ["gateway", "results"],
    store: true,
    meaning:
      "`hcp`: a store with management API, every call with the caller's own credentials. `minio` and `generic`: any S3 store.",
  }),
  HCP_DOMAIN: domain().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    otherwise: "required with `hcp`, unless `HCP_HOST` and `S3_ENDPOINT_URL` are set",
    meaning: "Hosts are `<tenant>.<domain>`, and `admin.<domain>` for the system level.",
  }),
  HCP_HOST: host().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    otherwise: "none",
    meaning: "The one host of the management API where there is no domain.",
  }),
  HCP_PORT: integer(1, MAX_PORT).default(9090).register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    meaning: "The port of the management API.",
  }),
  HCP_VERIFY_SSL: flag().default(true).register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    meaning:
      "Whether certificates of the management API, and of S3 with `hcp`, are checked. `false` is logged at the start.",
  }),
  S3_ENDPOINT_URL: origin().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    otherwise: "required with `minio` and `generic`",
    meaning: "The S3 endpoint where no host follows from `HCP_DOMAIN` and the caller's tenant.",
  }),
  S3_PUBLIC_ENDPOINT_URL: originTemplate().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    otherwise: "the endpoint that the gateway uses",
    meaning: "The S3 endpoint that presigned URLs and `/credentials` show; `{tenant}` is filled in.",
  }),
  S3_VERIFY_SSL: flag().default(true).register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    meaning: "Whether the S3 certificate of a `minio` or `generic` store is checked. `false` is logged at the start.",
  }),
  S3_ADDRESSING_STYLE: choice(["auto", "path", "virtual"]).default("auto").register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    meaning: "Whether a bucket of a `minio` or `generic` store stands in the path or in the host name; `auto` is path.",
  }),
  S3_ACCESS_KEY: line().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    secret: true,
    otherwise: "user name and password are the caller's own access key and secret",
    meaning:
      "One access key of a `minio` or `generic` store that serves every caller. Needs `GATEWAY_USERS_FILE` or `S3_SHARED_WITHOUT_LOGIN`.",
  }),
  S3_SECRET_KEY: line().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    secret: true,
    otherwise: "as `S3_ACCESS_KEY`",
    meaning: "The secret of `S3_ACCESS_KEY`.",
  }),
  GATEWAY_USERS_FILE: path().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    otherwise: "none",
    meaning: "Who may use the shared keys: lines `name:scrypt-hash`, checked on every request.",
  }),
  S3_SHARED_WITHOUT_LOGIN: flag().default(false).register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    meaning: "`true` gives the shared keys' rights to everybody who reaches the gateway, whatever the login.",
  }),
  CAMPAIGN_RESULTS_URL: base().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_RESULTS_URL", "HTRFLOW_PUBLIC_RESULTS_BASE"],
    otherwise: "with an embedded part the request's own origin and `/results`, else required unless site-only",
    meaning: "The base of every result URL, as browsers reach it.",
  }),
  CAMPAIGN_RESULTS_PROXY: resultsBase().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_RESULTS_PROXY"],
    otherwise: "the results role of this process, else required unless site-only",
    meaning: "The base of the results service, which is asked whether a session is valid.",
  }),
  CAMPAIGN_INTERNAL_RESULTS_BASE: base().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_INTERNAL_RESULTS_BASE"],
    otherwise: "`CAMPAIGN_RESULTS_PROXY`",
    meaning: "Where progress files are read from.",
  }),
  CAMPAIGN_NAMESPACES: namespaces().optional().register(about, {
    section: "Campaign web front",
    roles: ["web", "results"],
    aliases: ["HTRFLOW_NAMESPACES", "HTRFLOW_RESULTS_NAMESPACE"],
    otherwise:
      `the pod's own namespace; outside a cluster or with an embedded one \`${CONVENTIONS.stackroom.defaultNamespace}\` (or what the conventions say)`,
    meaning:
      "The namespaces whose campaigns are listed and whose results are served. Logins are checked under the first.",
  }),
  CAMPAIGN_CONVENTIONS: conventions().optional().register(about, {
    section: "Campaign web front",
    roles: ["web", "results"],
    otherwise: "`stackroom`",
    meaning: "Labels and names in the cluster: a preset, or a JSON object of overrides (see below).",
  }),
  CAMPAIGN_WEB_STATIC: path().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_WEB_STATIC"],
    otherwise: "`/app/static` where it exists, else the project's own `static`",
    meaning: "The folder of the site's files. A folder that does not exist means: API only, pages answer 404.",
  }),
  CAMPAIGN_WEB_SITE_ONLY: presence().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_WEB_SITE_ONLY"],
    otherwise: "off",
    meaning: "Any value, even `0`, serves the site without a cluster: `/api/v1` of the web front answers 503.",
  }),
  CAMPAIGN_BATCH_VERSION: line().default("dev").register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_BATCH_VERSION"],
    meaning: "The release tag that `/api/v1/version` shows.",
  }),
  CAMPAIGN_CLUSTER_READS: choice(["auto", "watch", "list"]).default("auto").register(about, {
    section: "Campaign web front",
    roles: ["web"],
    meaning:
      "How the cluster is read: `watch` follows it, `list` asks it again for every answer (shared for 2 s), `auto` follows where the account may watch Jobs, pods and ConfigMaps, and lists otherwise.",
  }),
  KUBECONFIG: path().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    otherwise: "the pod's service account, else `~/.kube/config`; one of them is required unless site-only",
    meaning: "How the cluster is reached. Ignored, with a line at the start, beside an embedded cluster.",
  }),
  RESULTS_S3_ENDPOINT: origin().optional().register(about, {
    section: "Results",
    roles: ["results"],
    store: true,
    otherwise: "required without an embedded store",
    meaning: "The S3 endpoint that holds the results.",
  }),
  RESULTS_S3_BUCKET: line().optional().register(about, {
    section: "Results",
    roles: ["results"],
    store: true,
    otherwise: "required without an embedded store",
    meaning: "The bucket that holds the results.",
  }),
  RESULTS_S3_VERIFY_TLS: flag().default(true).register(about, {
    section: "Results",
    roles: ["results"],
    store: true,
    meaning: "Whether that endpoint's certificate is checked. `false` is logged at the start.",
  }),
  RESULTS_KEY_DERIVATION: choice(["hcp", "none"]).optional().register(about, {
    section: "Results",
    roles: ["results"],
    aliases: ["HTRFLOW_KEY_DERIVATION"],
    store: true,
    otherwise: "`hcp`, or `none` where `STORAGE_BACKEND` is `minio` or `generic`",
    meaning: "How a login becomes S3 keys: base64 of the name and MD5 of the password (`hcp`), or as typed (`none`).",
  }),
  RESULTS_TENANT: tenant().optional().register(about, {
    section: "Results",
    roles: ["results"],
    otherwise: "the first host label of `RESULTS_S3_ENDPOINT`, or the embedded store's own",
    meaning: "A `tenant/` before the user name that equals it is dropped at the login.",
  }),
  RESULTS_SESSION_KEY_FILE: path().optional().register(about, {
    section: "Results",
    roles: ["results"],
    aliases: ["HTRFLOW_SESSION_KEY_FILE"],
    otherwise: "a random key in the data folder with an embedded store, else `/secrets/session/key`",
    meaning: "File with the base64 of the 32 bytes that seal session cookies.",
  }),
  RESULTS_SESSION_HOURS: decimal(0.01, ONE_YEAR_HOURS, "hours").default(8).register(about, {
    section: "Results",
    roles: ["results"],
    aliases: ["HTRFLOW_SESSION_HOURS"],
    meaning: "How long a session lasts.",
  }),
});

/** The values of {@linkcode environment} as parsed. */
export type Settings = z.output<typeof environment>;
export type VariableName = keyof Settings;
