import { Buffer } from "node:buffer";
import { createHmac } from "node:crypto";

const PREFIX = "whsec_";
/** Bytes of a secret (Standard Webhooks, "Signature scheme"). */
const MIN_BYTES = 24;
const MAX_BYTES = 64;
/** Base64 of so many bytes, with its padding. */
const MAX_CHARACTERS = Math.ceil(MAX_BYTES / 3) * 4;
const MAX_SECRETS = 2;

/** One or two secrets, with white space between them; null for anything else. The first is the newer one. */
export function parseWebhookSecrets(text: string): Uint8Array[] | null {
  const words = text.trim().split(/\s+/);
  if (words.length > MAX_SECRETS) return null;
  const secrets = words.map(secretOf);
  return secrets.every((secret) => secret !== null) ? secrets : null;
}

/**
 * The `webhook-signature` of a message: HMAC-SHA256 of its id, its time and its body, one for each secret.
 *
 * @param timestamp seconds since 1970
 */
export function webhookSignature(secrets: readonly Uint8Array[], id: string, timestamp: number, body: string): string {
  const signed = `${id}.${timestamp}.${body}`;
  return secrets.map((secret) => `v1,${createHmac("sha256", secret).update(signed).digest("base64")}`).join(" ");
}

function secretOf(word: string): Uint8Array | null {
  if (!word.startsWith(PREFIX)) return null;
  const text = word.slice(PREFIX.length);
  if (text.length > MAX_CHARACTERS) return null;
  const bytes = Buffer.from(text, "base64");
  const isCanonical = bytes.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "");
  return isCanonical && bytes.length >= MIN_BYTES && bytes.length <= MAX_BYTES ? bytes : null;
}
