import type { Caller, Verdict } from "@/lib/auth/store_credentials.ts";
import { callS3, type S3 } from "./client.ts";
import { S3Failure } from "./errors.ts";

/** How a store says that it cannot list buckets, which others may do who do not need that either. */
const UNAVAILABLE_STATUSES: ReadonlySet<number> = new Set([405, 501]);

/**
 * Asks the store whether it accepts the caller's signature, by a GET that needs no bucket: an answer to HEAD would have
 * no code. The caller may be refused the list of buckets; only the signature counts. A store that has no such list
 * cannot be asked, and is not.
 *
 * @throws HttpError 401 when it does not accept it; as {@link callS3} does when it does not say
 */
export async function proveCredentials(s3: S3, caller: Caller): Promise<void> {
  let last: Verdict | undefined;
  const heard = (verdict: Verdict) => {
    last = verdict;
    caller.heard?.(verdict);
  };
  try {
    const response = await callS3(s3, { ...caller, heard }, { method: "GET", resource: "credentials" });
    await response.body?.cancel();
  } catch (error) {
    const cannotBeAsked = error instanceof S3Failure && UNAVAILABLE_STATUSES.has(error.storeStatus);
    if (last !== "accepted" && !cannotBeAsked) throw error;
  }
}
