import { AcceptedIdentities } from "@/lib/auth/accepted_identities.ts";
import { GuessLimits } from "@/lib/auth/guess_limits.ts";

/** What a process remembers of credentials that were shown to it, whatever the role. */
export interface CredentialMemory {
  readonly accepted: AcceptedIdentities;
  readonly guesses: GuessLimits;
}

export function credentialMemory(): CredentialMemory {
  return { accepted: new AcceptedIdentities(Date.now), guesses: new GuessLimits(Date.now) };
}
