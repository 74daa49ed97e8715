import type { Admission, Protocol } from "@/lib/auth/admission.ts";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import { bearerToken, type Claims, type VerifyToken } from "@/lib/auth/token.ts";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { type Authenticate, operationsFor } from "@/lib/http/operation.ts";

/** What turns a bearer token into a caller of the store. */
interface Door {
  readonly verify: VerifyToken;
  readonly admission: Admission;
  /** ms since 1970 */
  readonly now: () => number;
}

/** The maker of operations behind the bearer token. */
export type GatewayOperation = ReturnType<typeof operationsFor<Caller>>;

/** Operations by one protocol whose caller is known by the bearer token alone; cookies are not looked at. */
export function gatewayOperations(door: Door, protocol: Protocol): GatewayOperation {
  const admit = (context: RequestContext, claims: Claims) => {
    context.caller = { username: claims.sub, tenant: claims.tenant };
    return door.admission.admit(context, claims, protocol);
  };
  const authenticate: Authenticate<Caller> = (context) => {
    const claims = door.verify(bearerToken(context.header("Authorization")), door.now() / 1000);
    return claims instanceof Promise ? claims.then((claims) => admit(context, claims)) : admit(context, claims);
  };
  return operationsFor<Caller>(authenticate, "bearer");
}
