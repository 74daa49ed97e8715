import { Buffer } from "node:buffer";
import { createSecretKey, type KeyObject } from "node:crypto";

import { fileIdentity } from "@/lib/std/files.ts";

/**
 * Returns the keys of session cookies: the first one seals, and each of them opens. None while they cannot be read. The
 * list is the same object until the keys are replaced.
 */
export type SessionKeys = () => readonly KeyObject[];

/** Thrown at the start. The message is one line that names the file and nothing of its content. */
export class SessionKeyError extends Error {
  override readonly name = "SessionKeyError";
}

/** Bytes of an AES-256 key. */
const SESSION_KEY_BYTES = 32;
/** While a key is replaced there is another one beside it. */
const MAX_KEYS = 2;
const NO_KEYS: readonly KeyObject[] = [];

/** Fixed keys, the one that seals first. @throws SessionKeyError unless each has 32 bytes */
export function givenSessionKeys(...keys: readonly Uint8Array[]): SessionKeys {
  if (keys.some(({ length }) => length !== SESSION_KEY_BYTES)) {
    throw new SessionKeyError("The session key must have 32 bytes.");
  }
  const given = keys.map((key) => createSecretKey(key));
  return () => given;
}

/**
 * The keys in a file, as {@linkcode parseSessionKeys} reads them. Each call checks whether the file was replaced and reads
 * it again then, so new keys take effect at once. While the file cannot be read there are no keys.
 *
 * @throws SessionKeyError when there is no key at the start
 */
export function sessionKeyFile(path: string): SessionKeys {
  let seen: string | null = null;
  let keys = NO_KEYS;
  const current = () => {
    try {
      // Checked before the read: the next call notices a replacement in between.
      const file = fileIdentity(Deno.statSync(path));
      if (file === seen) return keys;
      keys = NO_KEYS;
      keys = parseSessionKeys(Deno.readTextFileSync(path))?.map((key) => createSecretKey(key)) ?? NO_KEYS;
      seen = file;
    } catch {
      keys = NO_KEYS;
      seen = null;
    }
    return keys;
  };
  if (current().length === 0) {
    throw new SessionKeyError(
      `RESULTS_SESSION_KEY_FILE: ${path} cannot be read, or is not the base64 of 32 bytes: write the output of "openssl rand -base64 32" there`,
    );
  }
  return current;
}

/** One or two keys, each the base64 of 32 bytes, on a line each or with blanks between; null for anything else. */
export function parseSessionKeys(text: string): readonly Uint8Array[] | null {
  const keys = text.trim().split(/\s+/);
  const areKeys = keys.length <= MAX_KEYS && keys.every((key) => /^[A-Za-z0-9+/]{43}=$/.test(key));
  return areKeys ? keys.map((key) => Buffer.from(key, "base64")) : null;
}
