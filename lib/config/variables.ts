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
      "The address to listen on. `0.0.0.0` or `::` with an embedded part requires `CAMPAIGN_RESULTS_URL`, whose host name is then accepted too.",
  }),
  PORT: integer(0, MAX_PORT).default(8000).register(about, {
    section: "Process",
    meaning: "The port to listen on. 0 takes any free one.",
  }),
  MAX_REQUESTS: integer(1, MAX_IN_FLIGHT, "requests").default(DEFAULT_MAX_REQUESTS).register(about, {
    section: "Process",
    meaning:
      "How many requests each role handles at a time, streamed bodies included. Further ones get 503 with `Retry-After` at once. Health paths do not count.",
  }),
  MAX_CONNECTIONS: integer(1, MAX_IN_FLIGHT, "connections").default(DEFAULT_MAX_CONNECTIONS).register(about, {
    section: "Process",
    meaning:
      "How many connections may be open at a time. Further ones are closed at once. Each takes a file descriptor, and a second one while it waits for a store or results service: set it below half of `ulimit -n`.",
  }),
  MAX_CONNECTIONS_PER_ADDRESS: integer(1, MAX_IN_FLIGHT, "connections").default(DEFAULT_MAX_CONNECTIONS_PER_ADDRESS)
    .register(about, {
      section: "Process",
      meaning:
        "How many of `MAX_CONNECTIONS` one address may have (IPv6: one /64), and how many requests it may have at a time on shared connections (HTTP/2). Set it below `MAX_TENANT_REQUESTS`, so that no client takes all slots. It applies where clients connect directly: with `TRUSTED_HOPS` above 0 all connections may come from the proxy, which has to limit its clients.",
    }),
  HEAD_TIMEOUT: integer(1, 3600, "seconds").default(DEFAULT_HEAD_SECONDS).register(about, {
    section: "Process",
    meaning: "How long a new connection may take to send the head of its first request. Then it is closed.",
  }),
  KEEP_ALIVE_TIMEOUT: integer(1, 3600, "seconds").default(DEFAULT_IDLE_SECONDS).register(about, {
    section: "Process",
    meaning:
      "How long a connection may wait for its next request. Set it above the keep-alive time of a proxy in front.",
  }),
  TRUSTED_HOPS: integer(0, 32).optional().register(about, {
    section: "Process",
    aliases: ["HTRFLOW_TRUSTED_HOPS"],
    otherwise: "`0`; `1` in a process that plays `results` without `web`, whose pass-through is in front of it",
    meaning:
      "How many proxies in front of this process are yours. The client's address is the entry of `X-Forwarded-For` at that position from the right; logins and requests with unverified credentials are counted by it. 0 ignores the header; if the list is shorter, the peer's address counts. Set `1` behind one ingress (`2` for `results` without `web`), and `0` for `results` that is reached directly.",
  }),
  DATA_DIR: path().default(".data").register(about, {
    section: "Process",
    meaning:
      "The folder for all data: the embedded store and cluster, generated keys, revoked sessions. One process at a time may use it.",
  }),
  CA_FILE: path().optional().register(about, {
    section: "Process",
    otherwise: "those that the runtime trusts",
    meaning:
      "A PEM file of certificate authorities that every upstream may use, besides those of the runtime (`DENO_TLS_CA_STORE`, `DENO_CERT`). If a kubeconfig names its cluster's authority, only that one is trusted for the cluster.",
  }),
  EMBEDDED: choice(["on", "store", "cluster", "off"]).default("on").register(about, {
    section: "Embedded parts",
    meaning: "What runs embedded in the process: store and cluster (`on`), one of them, or nothing (`off`).",
  }),
  EMBEDDED_HOST: host().default("127.0.0.1").register(about, {
    section: "Embedded parts",
    meaning:
      "The address that the embedded servers listen on. Presigned URLs of the embedded store contain it. No wildcard.",
  }),
  SIMULATOR_SPEED: decimal(0.1, 1000).default(1).register(about, {
    section: "Embedded parts",
    meaning: "The speed of the sample campaigns; 1 is normal.",
  }),
  SIMULATOR_SEED: integer(0, MAX_SEED).default(1).register(about, {
    section: "Embedded parts",
    meaning: "The seed of everything random in the samples. The same seed gives the same campaigns and pages.",
  }),
  API_SECRET_KEY: line().optional().register(about, {
    section: "Gateway",
    roles: ["gateway"],
    secret: true,
    otherwise: "a random key in the data folder with an embedded store, else required",
    meaning:
      "The key that signs bearer tokens: a long random value, the same for every replica. `change-me-in-production` counts as unset.",
  }),
  API_TOKEN_EXPIRE_MINUTES: integer(1, ONE_YEAR_MINUTES, "minutes").default(480).register(about, {
    section: "Gateway",
    roles: ["gateway"],
    meaning: "How long a bearer token is valid.",
  }),
  CORS_ORIGINS: origins().optional().register(about, {
    section: "Gateway",
    roles: ["gateway"],
    otherwise: "any origin without credentials; with an embedded part only our own",
    meaning: "Origins whose pages may call the gateway with credentials. `*` allows any origin without credentials.",
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
      "How the gateway sends the caller's credentials to the management API. The older value `hcp` means `native`.",
  }),
  HCP_TIMEOUT: integer(1, 3600, "seconds").default(60).register(about, {
    section: "Gateway",
    roles: ["gateway"],
    meaning: "How long the management API may take to respond.",
  }),
  MAX_TENANT_REQUESTS: integer(1, MAX_IN_FLIGHT, "requests").default(DEFAULT_MAX_TENANT_REQUESTS).register(about, {
    section: "Gateway",
    roles: ["gateway"],
    meaning: "How many of `MAX_REQUESTS` one tenant may have at a time in the gateway. Further ones get 503 too.",
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
      "`hcp`: a store with a management API; every call uses the caller's own credentials. `minio` and `generic`: any S3 store.",
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
    meaning: "The host of the management API if there is no `HCP_DOMAIN`.",
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
      "Whether to check certificates of the management API, and of S3 with `hcp`. `false` is logged at the start.",
  }),
  S3_ENDPOINT_URL: origin().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    otherwise: "required with `minio` and `generic`",
    meaning: "The S3 endpoint if it does not follow from `HCP_DOMAIN` and the caller's tenant.",
  }),
  S3_PUBLIC_ENDPOINT_URL: originTemplate().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    otherwise: "the endpoint that the gateway uses",
    meaning: "The S3 endpoint in presigned URLs and in `/credentials`. `{tenant}` is replaced by the caller's tenant.",
  }),
  S3_VERIFY_SSL: flag().default(true).register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    meaning: "Whether to check the S3 certificate of a `minio` or `generic` store. `false` is logged at the start.",
  }),
  S3_ADDRESSING_STYLE: choice(["auto", "path", "virtual"]).default("auto").register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    meaning: "Whether a bucket of a `minio` or `generic` store is in the path or in the host name. `auto` means path.",
  }),
  S3_ACCESS_KEY: line().optional().register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    secret: true,
    otherwise: "user name and password are the caller's own access key and secret",
    meaning:
      "One access key of a `minio` or `generic` store for all callers. Requires `GATEWAY_USERS_FILE` or `S3_SHARED_WITHOUT_LOGIN`.",
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
    meaning: "The users of the shared keys: lines `name:scrypt-hash` (see `deno task user`), checked on every request.",
  }),
  S3_SHARED_WITHOUT_LOGIN: flag().default(false).register(about, {
    section: "Store",
    roles: ["gateway"],
    store: true,
    meaning: "`true` gives the rights of the shared keys to every caller, whatever the login.",
  }),
  CAMPAIGN_RESULTS_URL: base().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_RESULTS_URL", "HTRFLOW_PUBLIC_RESULTS_BASE"],
    otherwise: "with an embedded part `/results` on the request's origin, else required unless site-only",
    meaning: "The base of all result URLs, as browsers reach it.",
  }),
  CAMPAIGN_RESULTS_PROXY: resultsBase().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_RESULTS_PROXY"],
    otherwise: "the results role of this process, else required unless site-only",
    meaning: "The base of the results service that checks sessions and serves results.",
  }),
  CAMPAIGN_INTERNAL_RESULTS_BASE: base().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_INTERNAL_RESULTS_BASE"],
    otherwise: "`CAMPAIGN_RESULTS_PROXY`",
    meaning: "The base from which progress files are read.",
  }),
  CAMPAIGN_NAMESPACES: namespaces().optional().register(about, {
    section: "Campaign web front",
    roles: ["web", "results"],
    aliases: ["HTRFLOW_NAMESPACES", "HTRFLOW_RESULTS_NAMESPACE"],
    otherwise:
      `the pod's own namespace; outside a cluster or with an embedded one \`${CONVENTIONS.stackroom.defaultNamespace}\` (or the conventions' \`defaultNamespace\`)`,
    meaning:
      "The namespaces whose campaigns are listed and whose results are served. Logins are checked against the first.",
  }),
  CAMPAIGN_CONVENTIONS: conventions().optional().register(about, {
    section: "Campaign web front",
    roles: ["web", "results"],
    otherwise: "`stackroom`",
    meaning:
      "The labels and names in the cluster: a preset, or a JSON object of overrides (see [Conventions](#conventions)).",
  }),
  CAMPAIGN_WEB_STATIC: path().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_WEB_STATIC"],
    otherwise: "`/app/static` where it exists, else the project's own `static`",
    meaning: "The folder of the site's files. If it does not exist, only the API is served and pages are 404.",
  }),
  CAMPAIGN_WEB_SITE_ONLY: presence().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_WEB_SITE_ONLY"],
    otherwise: "off",
    meaning: "Any value, even `0`, serves the site without a cluster. `/api/v1` of the web front then returns 503.",
  }),
  CAMPAIGN_BATCH_VERSION: line().default("dev").register(about, {
    section: "Campaign web front",
    roles: ["web"],
    aliases: ["HTRFLOW_BATCH_VERSION"],
    meaning: "The release tag in `/api/v1/version`.",
  }),
  CAMPAIGN_CLUSTER_READS: choice(["auto", "watch", "list"]).default("auto").register(about, {
    section: "Campaign web front",
    roles: ["web"],
    meaning:
      "How to read the cluster. `watch` follows it. `list` reads it again for every response (shared for 2 s). `auto` watches if the account may watch Jobs, pods and ConfigMaps, and lists otherwise.",
  }),
  KUBECONFIG: path().optional().register(about, {
    section: "Campaign web front",
    roles: ["web"],
    otherwise: "the pod's service account, else `~/.kube/config`; one of them is required unless site-only",
    meaning: "The kubeconfig of the cluster. Ignored, with a line at the start, beside an embedded cluster.",
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
    meaning: "Whether to check the certificate of `RESULTS_S3_ENDPOINT`. `false` is logged at the start.",
  }),
  RESULTS_KEY_DERIVATION: choice(["hcp", "none"]).optional().register(about, {
    section: "Results",
    roles: ["results"],
    aliases: ["HTRFLOW_KEY_DERIVATION"],
    store: true,
    otherwise: "`hcp`, or `none` where `STORAGE_BACKEND` is `minio` or `generic`",
    meaning:
      "How a login becomes S3 keys. `hcp`: base64 of the name and MD5 of the password. `none`: name and password as they are.",
  }),
  RESULTS_TENANT: tenant().optional().register(about, {
    section: "Results",
    roles: ["results"],
    otherwise: "the first host label of `RESULTS_S3_ENDPOINT`, or the embedded store's own",
    meaning: "The tenant of the results. A login as `tenant/user` with this tenant is a login as `user`.",
  }),
  RESULTS_SESSION_KEY_FILE: path().optional().register(about, {
    section: "Results",
    roles: ["results"],
    aliases: ["HTRFLOW_SESSION_KEY_FILE"],
    otherwise: "a random key in the data folder with an embedded store, else `/secrets/session/key`",
    meaning: "A file with the key that seals session cookies: 32 bytes as base64.",
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
