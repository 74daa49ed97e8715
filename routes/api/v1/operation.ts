import type { Caller, Identify } from "@/lib/auth/store_credentials.ts";
import { bearerToken, type VerifyToken } from "@/lib/auth/token.ts";
import { enterTenant, type InFlight } from "@/lib/http/in_flight.ts";
import { type Authenticate, operationsFor } from "@/lib/http/operation.ts";

/** What turns a bearer token into a store identity. */
export interface Door {
  readonly verify: VerifyToken;
  readonly identify: Identify;
  /** What each tenant has under way. */
  readonly tenants: InFlight;
  /** ms since 1970 */
  readonly now: () => number;
}

/** The maker of operations behind the bearer token. */
export type GatewayOperation = ReturnType<typeof operationsFor<Caller>>;

/** Operations whose caller is known by the bearer token alone; cookies are not looked at. */
export function gatewayOperations(door: Door): GatewayOperation {
  const authenticate: Authenticate<Caller> = async (exchange) => {
    const claims = door.verify(bearerToken(exchange.header("Authorization")), door.now() / 1000);
    exchange.caller = { username: claims.sub, tenant: claims.tenant };
    enterTenant(door.tenants, exchange, claims.tenant);
    return { ...await door.identify(claims), signal: exchange.request.signal };
  };
  return operationsFor<Caller>(authenticate, "bearer");
}
