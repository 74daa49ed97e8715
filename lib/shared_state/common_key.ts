import type { KeyObject } from "node:crypto";
import { derivedKey } from "@/lib/std/derived_key.ts";

/** Returns the secret that all replicas have in common, or null while it cannot be read. It may be replaced. */
export type CommonSecret = () => KeyObject | null;

/** Thrown while there is no secret to derive a key from. */
class SecretError extends Error {
  override readonly name = "SecretError";
}

/**
 * A key for one purpose, derived from a secret.
 *
 * @returns a function that throws while the secret cannot be read
 */
export function commonKey(secret: CommonSecret, purpose: string): () => KeyObject {
  let from: KeyObject | null = null;
  let key: KeyObject | null = null;
  return () => {
    const current = secret();
    if (current === null) throw new SecretError("the secret cannot be read");
    if (key === null || from !== current) {
      from = current;
      key = derivedKey(current.export(), purpose);
    }
    return key;
  };
}
