import { Buffer } from "node:buffer";
import { createHash, createHmac } from "node:crypto";
import { type UpstreamClient, UpstreamError } from "@/lib/http/upstream.ts";
import type { Channel, Outcome } from "./notifier.ts";

/** Until the receiver has responded, ms; its body is not read. */
export const WEBHOOK_TIMEOUT_MS = 20_000;
/** Responses after which another attempt may succeed, besides those of 500 and above. */
const TRY_AGAIN = new Set([408, 425, 429]);
/** Longest time that a receiver may ask for, ms. */
const MAX_RETRY_AFTER_MS = 86_400_000;

const PROBLEMS = {
  unreachable: "it cannot be reached",
  timeout: "it did not respond in time",
  aborted: "the attempt was ended",
  broken: "the connection broke",
} as const;

interface WebhookOptions {
  readonly url: string;
  /** Each of them signs, so that one can be replaced by the other. */
  readonly secrets: readonly Uint8Array[];
  readonly client: UpstreamClient;
  /** ms since 1970 */
  readonly now: () => number;
}

/**
 * Sends each event as JSON by POST to an address, signed as the Standard Webhooks specification says. Redirects are not
 * followed.
 */
export function webhook({ url, secrets, client, now }: WebhookOptions): Channel {
  const { origin, pathname, search, host } = new URL(url);
  return {
    name: `webhook-${createHash("sha256").update(url).digest("hex").slice(0, 16)}`,
    kind: "webhook",
    // A path or a query of a receiver may be a secret.
    shown: `webhook at ${host}`,
    windowMs: 0,
    batch: 1,
    async send([event], signal) {
      const body = JSON.stringify(event);
      const timestamp = Math.floor(now() / 1000);
      try {
        const response = await client.send({
          method: "POST",
          origin,
          target: pathname + search,
          headers: {
            "content-type": "application/json",
            "user-agent": "Stackroom",
            "webhook-id": event.id,
            "webhook-timestamp": String(timestamp),
            "webhook-signature": webhookSignature(secrets, event.id, timestamp, body),
          },
          body,
          signal,
          timeoutMs: WEBHOOK_TIMEOUT_MS,
        });
        // A body that is not read would hold the connection.
        await response.body?.cancel().catch(() => {});
        return outcomeOf(response, now());
      } catch (error) {
        const problem = error instanceof UpstreamError ? error.problem : "broken";
        return { result: "failed", reason: PROBLEMS[problem] };
      }
    },
  };
}

function outcomeOf({ status, headers }: Response, now: number): Outcome {
  if (status >= 200 && status < 300) return { result: "sent" };
  const reason = `it responded with ${status}`;
  if (status < 500 && !TRY_AGAIN.has(status)) return { result: "refused", reason };
  return { result: "failed", reason, afterMs: retryAfterMs(headers.get("retry-after"), now) };
}

/** Retry-After is a number of seconds or a date (RFC 9110 §10.2.3). */
function retryAfterMs(value: string | null, now: number): number {
  const text = value?.trim() ?? "";
  const ms = /^\d{1,10}$/.test(text) ? Number(text) * 1000 : Date.parse(text) - now;
  return Number.isNaN(ms) ? 0 : Math.min(Math.max(ms, 0), MAX_RETRY_AFTER_MS);
}

const SECRET_PREFIX = "whsec_";
/** Bytes of a secret (Standard Webhooks, "Signature scheme"). */
const MIN_SECRET_BYTES = 24;
const MAX_SECRET_BYTES = 64;
/** Base64 of so many bytes, with its padding. */
const MAX_SECRET_CHARACTERS = Math.ceil(MAX_SECRET_BYTES / 3) * 4;
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
  if (!word.startsWith(SECRET_PREFIX)) return null;
  const text = word.slice(SECRET_PREFIX.length);
  if (text.length > MAX_SECRET_CHARACTERS) return null;
  const bytes = Buffer.from(text, "base64");
  const isCanonical = bytes.toString("base64").replace(/=+$/, "") === text.replace(/=+$/, "");
  return isCanonical && bytes.length >= MIN_SECRET_BYTES && bytes.length <= MAX_SECRET_BYTES ? bytes : null;
}
