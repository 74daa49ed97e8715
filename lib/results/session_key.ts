import { Buffer } from "node:buffer";
import { createSecretKey, type KeyObject } from "node:crypto";

import { fileIdentity } from "@/lib/std/file_identity.ts";

/** Returns the key that seals session cookies, or null while it cannot be read. */
export type SessionKey = () => KeyObject | null;

/** Thrown at the start. The message is one line that names the file and nothing of its content. */
export class SessionKeyError extends Error {
  override readonly name = "SessionKeyError";
}

/** Bytes of an AES-256 key. */
const SESSION_KEY_BYTES = 32;

/** A fixed key. @throws SessionKeyError unless it has 32 bytes */
export function givenSessionKey(bytes: Uint8Array): SessionKey {
  if (bytes.length !== SESSION_KEY_BYTES) throw new SessionKeyError("The session key must have 32 bytes.");
  const key = createSecretKey(bytes);
  return () => key;
}

/**
 * The key in a file: base64 of 32 bytes. Each call checks whether the file was replaced and reads it again then, so a new
 * key takes effect at once and ends all sessions. While the file cannot be read there is no key.
 *
 * @throws SessionKeyError when there is no key at the start
 */
export function sessionKeyFile(path: string): SessionKey {
  let seen: string | null = null;
  let key: KeyObject | null = null;
  const current = () => {
    try {
      // Checked before the read: the next call notices a replacement in between.
      const file = fileIdentity(Deno.statSync(path));
      if (file === seen) return key;
      key = null;
      key = parseKey(Deno.readTextFileSync(path));
      seen = file;
    } catch {
      key = null;
      seen = null;
    }
    return key;
  };
  if (current() === null) {
    throw new SessionKeyError(
      `RESULTS_SESSION_KEY_FILE: ${path} cannot be read, or is not the base64 of 32 bytes: write the output of "openssl rand -base64 32" there`,
    );
  }
  return current;
}

function parseKey(text: string): KeyObject | null {
  const encoded = text.trim();
  return /^[A-Za-z0-9+/]{43}=$/.test(encoded) ? createSecretKey(Buffer.from(encoded, "base64")) : null;
}
