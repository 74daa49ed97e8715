import { UpstreamError } from "@/lib/http/upstream.ts";
import type { S3 } from "./client.ts";
import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { EMPTY_PAYLOAD, hostOf, signHeaders } from "./signer.ts";

const PROBE_TIMEOUT_MS = 5000;

/**
 * Whether a generic store answers: with configured keys it must list their buckets, without them any HTTP answer will
 * do; `unconfigured` when there is no endpoint.
 */
export async function s3Reachable(
  s3: S3,
  keys: S3Keys | null,
  tenant: string | null = null,
): Promise<"reachable" | "unreachable" | "unconfigured"> {
  const address = await s3.addresses.s3(tenant);
  if (!address) return "unconfigured";
  const headers: Record<string, string> = {};
  const request = { method: "GET", host: hostOf(address.endpoint), path: "/", query: [] };
  if (keys) signHeaders(request, headers, EMPTY_PAYLOAD, keys, s3.region, s3.now());
  try {
    const response = await s3.upstream({
      method: "GET",
      origin: address.endpoint,
      target: "/",
      headers,
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    await response.body?.cancel();
    return response.ok || !keys ? "reachable" : "unreachable";
  } catch (error) {
    if (error instanceof UpstreamError) return "unreachable";
    throw error;
  }
}
