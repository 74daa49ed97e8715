import { createHmac, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import { withoutTrailingSlash } from "./text.ts";

/** Tenants whose addresses are cached. */
const MAX_KNOWN_TENANTS = 1000;

/** Where one tenant's S3 endpoint is: an origin without a trailing slash, such as `https://archive.store.example.org`. */
export interface S3Address {
  /** The origin that this process connects to. */
  readonly endpoint: string;
  /** The origin that presigned URLs and `/credentials` show, where it differs from the endpoint this process uses. */
  readonly publicEndpoint: string;
  /** Whether buckets are host names below the endpoint instead of the first part of the path. */
  readonly virtualHosts?: boolean;
  /** Whether it rejects every request without a look at the keys, so that its responses say nothing about them. */
  readonly ignoresKeys?: boolean;
}

/**
 * Where the store's two protocols are reached for a tenant (`null`: the system level).
 *
 * There are two implementations: addresses derived from the store's domain, and addresses given by the embedded store.
 * Only the composition of the process knows which of them is in use.
 */
export interface StoreAddresses {
  /** The S3 endpoint of a tenant; null where the store has none (the system level of a store that is found by domain). */
  s3(tenant: string | null): Promise<S3Address | null>;
  /** The origin of the management API (MAPI) that serves a tenant, without the path `/mapi`. */
  mapi(tenant: string | null): Promise<string>;
  /**
   * The header `X-Stackroom-Request`, which identifies the client's request behind a request to the store of this process,
   * for its records. Absent for any other store.
   */
  mark?(request: MarkedRequest): string;
}

/** The settings from which a real store's addresses follow (gateway-independent names of `HCP_*` and `S3_*`). */
export interface DomainSettings {
  /** `HCP_DOMAIN`: hosts are `<tenant>.<domain>` and, for the system level, `admin.<domain>`. */
  readonly domain: string | null;
  /** `HCP_HOST`: the one MAPI host of a store without a domain. */
  readonly host: string | null;
  /** `HCP_PORT`: MAPI's port. */
  readonly mapiPort: number;
  /** `S3_ENDPOINT_URL`: used where no host can be derived. */
  readonly s3Endpoint: string | null;
  /** `S3_PUBLIC_ENDPOINT_URL`: what shared links show; `{tenant}` is filled in. */
  readonly s3PublicEndpoint: string | null;
  /** `S3_ADDRESSING_STYLE`: whether buckets are host names below the endpoint. */
  readonly virtualHosts?: boolean;
}

/** Addresses of a real store: a host name per tenant under one domain, or one static host. */
export function derivedAddresses(settings: DomainSettings): StoreAddresses {
  const { domain, host, mapiPort, s3Endpoint, s3PublicEndpoint } = settings;
  const s3Address = (tenant: string | null): S3Address | null => {
    const endpoint = domain && tenant ? `https://${tenant}.${domain}` : s3Endpoint;
    if (!endpoint) return null;
    const shown = s3PublicEndpoint?.replaceAll("{tenant}", tenant ?? "") ?? endpoint;
    return {
      endpoint: withoutTrailingSlash(endpoint),
      publicEndpoint: withoutTrailingSlash(shown),
      virtualHosts: settings.virtualHosts,
    };
  };
  const known = new LRUCache<string, Promise<S3Address | null>>({ max: MAX_KNOWN_TENANTS });
  return {
    s3(tenant) {
      // No tenant has an empty name.
      const key = tenant ?? "";
      let address = known.get(key);
      if (!address) known.set(key, address = Promise.resolve(s3Address(tenant)));
      return address;
    },
    mapi(tenant) {
      const name = domain ? `${tenant ?? "admin"}.${domain}` : host;
      return Promise.resolve(`https://${name}:${mapiPort}`);
    },
  };
}

/** The addresses of one level of a store. */
interface LevelAddresses {
  readonly s3: S3Address;
  readonly mapi: string;
  /** Whether they stay: those of an unknown tenant are looked up again. */
  readonly isKnown?: boolean;
}

/** Addresses that a store of this process gives on call; those of the last tenants are cached. */
export function addressesOnCall(
  call: (tenant: string | null) => Promise<LevelAddresses>,
  mark: NonNullable<StoreAddresses["mark"]>,
): StoreAddresses {
  const known = new LRUCache<string, LevelAddresses>({ max: MAX_KNOWN_TENANTS });
  const level = async (tenant: string | null) => {
    const found = tenant === null ? undefined : known.get(tenant);
    const addresses = found ?? await call(tenant);
    if (!found && addresses.isKnown && tenant !== null) known.set(tenant, addresses);
    return addresses;
  };
  return { s3: async (tenant) => (await level(tenant)).s3, mapi: async (tenant) => (await level(tenant)).mapi, mark };
}

/** The header in which a gateway names the client's request to the store of its process. */
export const REQUEST_MARK_HEADER = "x-stackroom-request";

/** The request of a client that a gateway is working on. */
export interface MarkedRequest {
  /** Letters, digits, dots, underscores and hyphens. */
  readonly id: string;
  /** The client's IP address; null where it is unknown. */
  readonly address: string | null;
  /** Whether a background task sends it that this request started. The store reports its changes, object by object. */
  readonly isByTask?: boolean;
}

/** Writes and reads marks under a key that only the two sides know. */
export interface RequestMarks {
  write(request: MarkedRequest): string;
  /** Null for a mark that was not written with the key. */
  read(mark: string | null): MarkedRequest | null;
}

/** The origin of a request to the store. */
export interface SentFor {
  /** The client's request; absent for the program's own. */
  readonly request?: MarkedRequest;
  /** Whether the credentials are not verified yet: then reads are marked as well, since a failed login is recorded. */
  readonly isUnproven?: boolean;
}

/** Adds a mark to the headers of a request that the store records. */
export function markRequest(
  { mark }: { readonly mark?: RequestMarks["write"] },
  { request, isUnproven }: SentFor,
  method: string,
  headers: Record<string, string>,
): void {
  if (!mark || !request) return;
  const isRead = method === "GET" || method === "HEAD";
  if (!isRead || isUnproven) headers[REQUEST_MARK_HEADER] = mark(request);
}

/** Stands for an unknown address. */
const UNKNOWN = "-";
const MARK = /^(request|task) ([A-Za-z0-9._-]{1,128}) (-|[0-9A-Fa-f.:]{2,45}) ([0-9a-f]{64})$/;

/** Marks are `<sender> <id> <address> <HMAC-SHA256>`: readable by anyone, written only with the key. */
export function requestMarks(key: Uint8Array): RequestMarks {
  const signature = (text: string) => createHmac("sha256", key).update(`stackroom ${text}`).digest("hex");
  return {
    write({ id, address, isByTask }) {
      const text = `${isByTask ? "task" : "request"} ${id} ${address ?? UNKNOWN}`;
      return `${text} ${signature(text)}`;
    },
    read(mark) {
      const [, sender, id, address, stated] = MARK.exec(mark ?? "") ?? [];
      if (stated === undefined) return null;
      const [sent, own] = [stated, signature(`${sender} ${id} ${address}`)].map((text) =>
        new TextEncoder().encode(text)
      );
      if (!timingSafeEqual(sent, own)) return null;
      return { id, address: address === UNKNOWN ? null : address, isByTask: sender === "task" };
    },
  };
}
