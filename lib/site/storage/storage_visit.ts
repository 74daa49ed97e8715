import type { RequestContext } from "@/lib/http/request_context.ts";
import type { StorageDeps } from "./logins.ts";
import { accountName, type StorageLogin } from "@/lib/auth/storage_cookie.ts";

/** Thrown where the store no longer accepts a login. */
export class LoginEnded extends Error {
  override readonly name = "LoginEnded";
}

/** The gateway's response to a page. */
interface GatewayRead<Json> {
  readonly status: number;
  readonly json: unknown;
  /** The JSON of status 200; null for any other. */
  readonly found: Json | null;
}

/** A request for a page of the storage by one login. */
export class StorageVisit {
  readonly context: RequestContext;
  readonly query: URLSearchParams;
  readonly login: StorageLogin;
  /** All logins of the browser, the newest first. */
  readonly logins: readonly StorageLogin[];
  /** The login's name in addresses. */
  readonly account: string;
  /** The names of all logins of the browser, in an order that stays. */
  readonly accounts: readonly string[];
  /** Whether the page links to the audit trail. */
  hasTrail = false;
  readonly #deps: StorageDeps;

  constructor(deps: StorageDeps, context: RequestContext, login: StorageLogin, logins: readonly StorageLogin[]) {
    this.#deps = deps;
    this.context = context;
    this.query = new URLSearchParams(context.target.query);
    this.login = login;
    this.logins = logins;
    this.account = accountName(login);
    this.accounts = logins.map(accountName).sort();
  }

  /** Reads JSON of the gateway for the login, as {@linkcode send}. */
  async read<Json>(path: string): Promise<GatewayRead<Json>> {
    return await this.send("GET", path);
  }

  /**
   * Sends JSON to the gateway as the login, and reads the JSON of the response.
   *
   * @param path below `/api/v1`, with its query
   * @throws LoginEnded, and as {@linkcode StorageGateway.sendJson}
   */
  async send<Json>(method: "GET" | "POST" | "DELETE", path: string, body?: unknown): Promise<GatewayRead<Json>> {
    const { status, json } = await this.#deps.gateway.sendJson<Json>(method, path, body, this.login, this.context);
    if (status === 401) throw new LoginEnded();
    return { status, json, found: status === 200 ? json : null };
  }

  /**
   * Data for the page that this visit is for.
   *
   * @param status of a page without what it should show; 200 when absent
   */
  async page<Data>(data: Data, status?: number) {
    // A login that the store did not accept would be counted as a guess by its management API.
    this.hasTrail = status === undefined && await this.#deps.facts.mayReadTrail(this.login, this.context);
    return { data, status };
  }
}

/** The status of a page without what the gateway's response of this status should have held; undefined: 200. */
export function statusWithout(status: number): number | undefined {
  return status === 404 || status === 429 || status >= 500 ? status : undefined;
}
