import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { S3Keys } from "@/lib/auth/store_credentials.ts";
import { HttpError } from "@/lib/http/errors.ts";
import { callS3ForHeaders } from "@/lib/s3/client.ts";
import { S3Failure } from "@/lib/s3/errors.ts";
import type { StoreKind } from "@/lib/s3/store_kind.ts";
import { type ResultsStore, storeCaller } from "./results_store.ts";
import { resultsError } from "./results_error.ts";

/** How S3 keys are derived from a user name and a password: `hcp` as HCP does, `none` uses them unchanged. */
export type KeyDerivation = "hcp" | "none";

/** Error codes that a store sends only after it accepted the signature. */
const ACCEPTED_CODES = new Set(["NoSuchKey", "NotFound", "404", "AccessDenied", "InvalidRange"]);
const REFUSED_CODES = new Set(["InvalidAccessKeyId", "SignatureDoesNotMatch"]);

/** A user name without the prefix `tenant/` of the results' own tenant; compared without case. */
export function withoutTenant(username: string, tenant: string | null): string {
  const prefix = `${tenant}/`;
  const repeats = tenant !== null && username.slice(0, prefix.length).toLowerCase() === prefix.toLowerCase();
  return repeats ? username.slice(prefix.length) : username;
}

/** The S3 keys of a login; null when no signature could contain them, so that no store knows them. */
export function loginKeys(derivation: KeyDerivation, username: string, password: string): S3Keys | null {
  if (derivation === "hcp") {
    return {
      accessKey: Buffer.from(username, "utf8").toString("base64"),
      secretKey: createHash("md5").update(password, "utf8").digest("hex"),
    };
  }
  // An access key is part of the Authorization header, between separators.
  return /^[\x21-\x2b\x2d-\x7e]+$/.test(username) ? { accessKey: username, secretKey: password } : null;
}

/** Whether a derivation suits a kind of store; true for stores of which that is not known. */
export function fitsStore(derivation: KeyDerivation, kind: StoreKind): boolean {
  return kind === "unknown" || (derivation === "hcp") === (kind === "hcp");
}

/**
 * Whether the store accepts these keys. The request names an object that need not exist: only the signature matters. It
 * says nothing of what the account may read: a store may deny an absent object to an account that reads every result.
 * It is not cancelled when the client disconnects, because a sent attempt counts as one.
 *
 * @param namespace the prefix of the requested object
 * @throws HttpError 502 or 504 when the response does not decide it
 */
export async function storeAcceptsKeys(
  store: ResultsStore,
  namespace: string,
  user: string,
  keys: S3Keys,
): Promise<boolean> {
  try {
    await callS3ForHeaders(store.s3, storeCaller(store, user, keys), {
      operation: "GetObject",
      method: "GET",
      bucket: store.bucket,
      key: `${namespace}/`,
      headers: new Headers({ Range: "bytes=0-0" }),
      resource: "login",
    });
    return true;
  } catch (error) {
    if (!(error instanceof HttpError)) throw error;
    const code = error instanceof S3Failure ? error.code ?? String(error.storeStatus) : "";
    if (ACCEPTED_CODES.has(code)) return true;
    if (REFUSED_CODES.has(code)) return false;
    throw error.status === 504
      ? resultsError(504, "the results store took too long to answer", { cause: error })
      : resultsError(502, "the results store could not check the login", { cause: error });
  }
}
