import { GuessLimits } from "@/lib/auth/credential_memory.ts";
import { AcceptedIdentities } from "@/lib/auth/admission.ts";
import type { Config, TextSource } from "@/lib/config/mod.ts";
import type { Service } from "@/lib/operations/metrics/request_metrics.ts";
import { type UpstreamClient, upstreamClient, type UpstreamOptions } from "@/lib/http/upstream.ts";

/** The memory of a process for credentials that were shown to it, whatever the role. */
export interface CredentialMemory {
  readonly accepted: AcceptedIdentities;
  readonly guesses: GuessLimits;
}

/** @param share receives the verdicts that other replicas must know */
export function credentialMemory(share?: (verdict: unknown) => void): CredentialMemory {
  return { accepted: new AcceptedIdentities(Date.now), guesses: new GuessLimits(Date.now, share) };
}

/** The text that a setting gives. @throws where its file cannot be read */
export function textOf(source: TextSource): string {
  return "text" in source ? source.text : Deno.readTextFileSync(source.path);
}

/** The further authorities of all upstreams, as PEM text; undefined without any. */
export function caCertificates(config: Config): string[] | undefined {
  return config.ca === null ? undefined : [textOf(config.ca)];
}

/** Counts and traces the requests to an upstream. */
type Observed = Pick<UpstreamOptions, "measure" | "trace">;

/** Returns it for a service; what is not turned on is left out. */
export type ObserveUpstream = (service: Service) => Observed;

/**
 * A client for an upstream of a role.
 *
 * @param timeoutMs until the response headers
 * @param observed what counts and traces its requests
 */
export function upstream(config: Config, verifyTls: boolean, timeoutMs: number, observed: Observed): UpstreamClient {
  return upstreamClient({ caCerts: caCertificates(config), verifyTls, timeoutMs, ...observed });
}
