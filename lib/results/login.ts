import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3 } from "@/lib/s3/client.ts";
import { S3Failure } from "@/lib/s3/errors.ts";
import { type ResultsStore, storeCaller } from "./results_store.ts";
import { UNCACHED } from "./uncached.ts";

/** How a user name and a password become S3 keys: `hcp` derives them as HCP does, `none` takes them as they are. */
export type KeyDerivation = "hcp" | "none";

/** Answers that only a store which accepted the signature gives. */
const ACCEPTED_CODES = new Set(["NoSuchKey", "NotFound", "404", "AccessDenied", "InvalidRange"]);
const REFUSED_CODES = new Set(["InvalidAccessKeyId", "SignatureDoesNotMatch"]);

/** A user name without the `tenant/` in front, where that is the tenant the results belong to; names ignore case. */
export function withoutTenant(username: string, tenant: string | null): string {
  const prefix = `${tenant}/`;
  const repeats = tenant !== null && username.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  return repeats ? username.slice(prefix.length) : username;
}

/** The S3 keys of a login; null when they could stand in no signature, so that no store knows them. */
export function loginKeys(derivation: KeyDerivation, username: string, password: string): S3Keys | null {
  if (derivation === "hcp") {
    return {
      accessKey: Buffer.from(username, "utf8").toString("base64"),
      secretKey: createHash("md5").update(password, "utf8").digest("hex"),
    };
  }
  // An access key stands in the Authorization header, between separators of its own.
  return /^[\x21-\x2b\x2d-\x7e]+$/.test(username) ? { accessKey: username, secretKey: password } : null;
}

/**
 * Whether the store knows these keys. It is asked for a key that need not exist: what counts is that it accepts the
 * signature. It is not told when the client leaves, since an attempt that was sent is one.
 *
 * @param namespace the namespace under which is asked
 * @throws HttpError 502 or 504 when the store's answer is no judgement
 */
export async function storeKnows(store: ResultsStore, namespace: string, user: string, keys: S3Keys): Promise<boolean> {
  try {
    const response = await callS3(store.s3, storeCaller(store, user, keys), {
      method: "GET",
      bucket: store.bucket,
      key: `${namespace}/`,
      headers: new Headers({ Range: "bytes=0-0" }),
      resource: "login",
    });
    await response.body?.cancel();
    return true;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const code = error instanceof S3Failure ? error.code ?? String(error.storeStatus) : "";
    if (ACCEPTED_CODES.has(code)) return true;
    if (REFUSED_CODES.has(code)) return false;
    throw error.status === 504
      ? new HttpError(504, "the results store took too long to answer", { headers: UNCACHED, cause: error })
      : new HttpError(502, "the results store could not check the login", { headers: UNCACHED, cause: error });
  }
}
