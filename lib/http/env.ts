import type { Context } from "hono";
import type { ConnectionInfo } from "./client_ip.ts";
import type { RawTarget } from "./raw_path.ts";

/** Who a request acts for, as far as the access log is concerned. */
export interface LoggedCaller {
  readonly username: string;
  readonly tenant: string | null;
}

/** The types behind every Hono app of the house. Pass `Deno.serve`'s info as the second argument of `app.fetch`. */
export interface HttpEnv {
  Bindings: ConnectionInfo;
  Variables: {
    requestId: string;
    target: RawTarget;
    /** The stable operation name, once the route is known. */
    operation?: string;
    /** What kind of change the operation is, where changes are accounted for. */
    audit?: string;
    caller?: LoggedCaller;
    /** What the request takes places of while it is under way; each gives its place back. */
    held?: (() => void)[];
  };
}

export type HttpContext = Context<HttpEnv>;
