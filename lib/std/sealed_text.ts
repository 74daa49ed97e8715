import { Buffer } from "node:buffer";
import { createCipheriv, createDecipheriv, createSecretKey, hkdfSync, type KeyObject, randomBytes } from "node:crypto";

const CIPHER = "aes-256-gcm";
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

/**
 * Seals a text, so that only the key can read or change it: AES-256-GCM with a random nonce (NIST SP 800-38D), which
 * stands in front.
 *
 * @param key 32 bytes
 * @param associated associated data; the text opens only with the same
 */
export function sealText(text: string, key: KeyObject, associated: string): Buffer<ArrayBuffer> {
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(CIPHER, key, nonce);
  cipher.setAAD(Buffer.from(associated, "utf8"));
  return Buffer.concat([nonce, cipher.update(text, "utf8"), cipher.final(), cipher.getAuthTag()]);
}

/** A sealed text and which of the keys opened it; null where {@linkcode openText} is null for each. */
export function openWithOne(
  sealed: Uint8Array,
  keys: readonly KeyObject[],
  associated: string,
): { readonly text: string; readonly key: KeyObject } | null {
  for (const key of keys) {
    const text = openText(sealed, key, associated);
    if (text !== null) return { text, key };
  }
  return null;
}

/** A sealed text; null where it was sealed with another key or other associated data, was changed, or is not one. */
export function openText(sealed: Uint8Array, key: KeyObject, associated: string): string | null {
  if (sealed.length < NONCE_BYTES + TAG_BYTES) return null;
  try {
    const decipher = createDecipheriv(CIPHER, key, sealed.subarray(0, NONCE_BYTES));
    decipher.setAAD(Buffer.from(associated, "utf8"));
    decipher.setAuthTag(sealed.subarray(-TAG_BYTES));
    const opened = decipher.update(sealed.subarray(NONCE_BYTES, -TAG_BYTES));
    return Buffer.concat([opened, decipher.final()]).toString("utf8");
  } catch {
    return null;
  }
}

/** Keys for one purpose, derived from secrets that may be replaced while the process runs. */
export function derivedKeys(secrets: () => readonly KeyObject[], purpose: string): () => readonly KeyObject[] {
  let from: readonly KeyObject[] = [];
  let keys: readonly KeyObject[] = [];
  return () => {
    const current = secrets();
    if (current !== from) keys = current.map((secret) => derivedKey(secret.export(), purpose));
    from = current;
    return keys;
  };
}

/** A key for one purpose, 32 bytes, derived from a secret (HKDF with SHA-256, RFC 5869). */
export function derivedKey(secret: Uint8Array, purpose: string): KeyObject {
  return createSecretKey(Buffer.from(hkdfSync("sha256", secret, new Uint8Array(), `stackroom ${purpose}`, 32)));
}
