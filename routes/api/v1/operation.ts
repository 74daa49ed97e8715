import type { Admission, Protocol } from "@/lib/auth/admission.ts";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { bearerToken, type Claims, type VerifyToken } from "@/lib/auth/token.ts";
import type { AuditRecorder } from "@/lib/http/audit_event.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { type Authenticate, operationsFor } from "@/lib/http/operation.ts";

/** What turns a bearer token into a caller of the store. */
interface TokenCheck {
  readonly verify: VerifyToken;
  readonly admission: Admission;
  /** Records changes; null: nothing does. */
  readonly recorder: AuditRecorder | null;
  /** ms since 1970 */
  readonly now: () => number;
}

/** Creates operations behind the bearer token. */
export type GatewayOperation = ReturnType<typeof operationsFor<Caller>>;

/** Operations by one protocol whose caller is known by the bearer token alone; cookies are not looked at. */
export function gatewayOperations(check: TokenCheck, protocol: Protocol): GatewayOperation {
  const admit = (context: RequestContext, claims: Claims) => {
    context.caller = { username: claims.sub, tenant: claims.tenant };
    return check.admission.admit(context, claims, protocol);
  };
  const authenticate: Authenticate<Caller> = (context) => {
    const claims = check.verify(bearerToken(context.header("Authorization")), check.now() / 1000);
    return claims instanceof Promise ? claims.then((claims) => admit(context, claims)) : admit(context, claims);
  };
  return operationsFor<Caller>(authenticate, "bearer", check.recorder);
}
