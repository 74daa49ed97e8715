import { UpstreamError } from "@/lib/http/upstream/upstream_error.ts";
import type { Mapi } from "./client.ts";

const PROBE_TIMEOUT_MS = 5000;

/** Whether the management API answers at all, without credentials: any HTTP answer will do. */
export async function mapiReachable(mapi: Pick<Mapi, "addresses" | "upstream">): Promise<boolean> {
  try {
    const response = await mapi.upstream.send({
      method: "HEAD",
      origin: await mapi.addresses.mapi(null),
      target: "/mapi/tenants",
      headers: new Headers(),
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    await response.body?.cancel();
    return true;
  } catch (error) {
    if (error instanceof UpstreamError) return false;
    throw error;
  }
}
