import type { KeyObject } from "node:crypto";
import { derivedKey } from "@/lib/std/sealed_text.ts";

/**
 * Returns the secrets that all replicas have in common, of which the first one seals and signs; none while they cannot
 * be read. They may be replaced; the list is the same object until then.
 */
export type CommonSecrets = () => readonly KeyObject[];

/** Thrown while there is no secret to derive a key from. */
class SecretError extends Error {
  override readonly name = "SecretError";
}

/**
 * The keys for one purpose, derived from secrets in the same order.
 *
 * @returns a function that throws while the secrets cannot be read
 */
export function commonKeys(secrets: CommonSecrets, purpose: string): () => readonly KeyObject[] {
  let from: readonly KeyObject[] = [];
  let keys: readonly KeyObject[] = [];
  return () => {
    const current = secrets();
    if (current.length === 0) throw new SecretError("the secret cannot be read");
    if (from !== current) {
      from = current;
      keys = current.map((secret) => derivedKey(secret.export(), purpose));
    }
    return keys;
  };
}
