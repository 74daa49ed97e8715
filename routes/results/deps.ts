import type { LoginRecorder } from "@/lib/http/audit_event.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import type { KeyDerivation } from "@/lib/results/results_login.ts";
import type { ResultsStore } from "@/lib/results/file_response.ts";
import type { RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import type { SessionKeys } from "@/lib/auth/session_key.ts";
import type { AcceptedIdentities, GuessLimits } from "@/lib/auth/credential_memory.ts";
import type { RequestLog } from "@/lib/http/access_log.ts";

/** What the results role needs. */
export interface ResultsDeps {
  readonly store: ResultsStore;
  /** Served namespaces, one at least; logins are checked under the first. */
  readonly namespaces: readonly string[];
  readonly keyDerivation: KeyDerivation;
  /** The tenant whose `tenant/` in front of a user name is dropped; null: none. */
  readonly loginTenant: string | null;
  readonly sessionKeys: SessionKeys;
  readonly sessionHours: number;
  /** Sessions that ended before their time. */
  readonly revoked: RevokedSessions;
  /** The session cookie's name before any prefix, and what its content is bound to. */
  readonly cookieStem: string;
  /** How many proxies in front of this role are ours; the pass-through is one. */
  readonly trustedHops: number;
  /** Shared with the gateway where it is in the same process. */
  readonly guesses: GuessLimits;
  readonly accepted: AcceptedIdentities;
  /** Records logins and logouts; null or absent: nothing does. */
  readonly logins?: LoginRecorder | null;
  readonly log: RequestLog;
  /** ms since 1970 */
  readonly now: () => number;
}

/** A path of the role: its name in the log, the methods it knows, its handler. */
export interface ResultsRoute {
  readonly operation: string;
  readonly methods: readonly string[];
  readonly handler: (context: RequestContext) => Response | Promise<Response>;
}
