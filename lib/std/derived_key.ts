import { Buffer } from "node:buffer";
import { createSecretKey, hkdfSync, type KeyObject } from "node:crypto";

/** A key for one purpose, 32 bytes, derived from a secret (HKDF with SHA-256, RFC 5869). */
export function derivedKey(secret: Uint8Array, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", secret, new Uint8Array(), `stackroom ${purpose}`, 32)));
}
