import { LRUCache } from "lru-cache";
import type { MarkedRequest } from "./request_mark.ts";
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
