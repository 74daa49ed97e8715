import { createHash } from "node:crypto";
import { UpstreamError } from "@/lib/http/upstream/upstream_error.ts";
import type { UpstreamClient } from "@/lib/http/upstream/upstream_request.ts";
import type { Channel, Outcome } from "./channel.ts";
import { webhookSignature } from "./webhook_secret.ts";

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
  /** Of which each signs, so that one can be replaced by the other. */
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
