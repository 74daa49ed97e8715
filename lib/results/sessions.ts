import { createHmac, type KeyObject } from "node:crypto";
import type { LRUCache } from "lru-cache";
import { HttpError } from "@/lib/http/errors.ts";
import { S3Failure } from "@/lib/s3/s3_errors.ts";
import { timedCache } from "@/lib/std/caches.ts";
import {
  browserScheme,
  clearedCookie,
  openSession,
  type Session,
  sessionDigest,
  type SessionKeys,
  sessionValues,
} from "@/lib/auth/session_token.ts";
import { storeAcceptsKeys } from "./results_login.ts";
import { resultsError } from "./results_service.ts";
import type { ResultsStore } from "./file_response.ts";
import type { RevocableSession, RevokedSessions } from "@/lib/auth/revoked_sessions.ts";

/** How long the store's confirmation of a session's keys is cached, ms. */
export const CONFIRMED_MS = 30_000;
/** Sessions whose confirmation is cached. */
const MAX_CONFIRMED = 10_000;

interface SessionsOptions {
  readonly store: ResultsStore;
  /** Served namespaces; keys are checked under the first. */
  readonly namespaces: readonly string[];
  readonly sessionKeys: SessionKeys;
  readonly cookieStem: string;
  readonly revoked: RevokedSessions;
  /** ms since 1970 */
  readonly now: () => number;
}

/** A session that a request was made with. */
interface CurrentSession extends Session, RevocableSession {}

type Sent = Pick<Request, "url" | "headers">;

/**
 * Finds the session of a request. A session ends with its lifetime, its logout or its account: its keys are checked with
 * the store, at most every {@link CONFIRMED_MS}, and a session whose keys the store rejects is revoked.
 */
export class Sessions {
  /** Digests of the sessions whose keys the store accepted within {@link CONFIRMED_MS}. */
  readonly #confirmed: LRUCache<string, true>;
  /** Pending checks, shared by all requests of a session. */
  readonly #pending = new Map<string, Promise<boolean>>();

  constructor(private readonly options: SessionsOptions) {
    this.#confirmed = timedCache("sessions", MAX_CONFIRMED, CONFIRMED_MS, options.now);
  }

  /**
   * The first valid session of the request.
   *
   * @throws HttpError 401 without one (and clears the cookie of an ended one), 502 or 504 when the store does not respond
   */
  async current(request: Sent): Promise<CurrentSession> {
    const { revoked, cookieStem } = this.options;
    const scheme = browserScheme(request);
    const opened = this.#opened(request);
    for (const session of opened) {
      if (revoked.has(session)) continue;
      if (!(await this.#isKnown(session))) this.end(session);
      // It may have logged out meanwhile.
      if (!revoked.has(session)) return session;
    }
    const headers = opened.length > 0 ? { "Set-Cookie": clearedCookie(scheme, cookieStem) } : undefined;
    throw resultsError(401, "not logged in", { headers });
  }

  /** Records that the store has just accepted the keys of this token's session. */
  confirm(token: string): void {
    this.#confirmed.set(sessionDigest(token), true);
  }

  /**
   * Revokes all sessions of a request; resolves when other processes can know of it, or after a second.
   *
   * @returns the accounts whose sessions this ended
   */
  async logOut(request: Sent): Promise<string[]> {
    const { revoked } = this.options;
    const opened = this.#opened(request);
    const ended = opened.filter((session) => !revoked.has(session));
    await revoked.add(opened);
    return ended.map(({ user }) => user);
  }

  /** Revokes a session whose keys the store rejected; with new keys the user logs in again. */
  end(session: CurrentSession): void {
    void this.options.revoked.add([session]);
  }

  /** The genuine sessions in a request's cookies, ended ones included. */
  #opened(request: Sent): CurrentSession[] {
    const { sessionKeys, cookieStem, now } = this.options;
    const tokens = sessionValues(request, cookieStem);
    const keys = tokens.length === 0 ? [] : sessionKeys();
    return tokens.flatMap((token) => {
      for (const key of keys) {
        const session = openSession(token, key, cookieStem, now());
        if (session === null) continue;
        return [{
          ...session,
          digest: sessionDigest(token),
          // Computed only where something was revoked: it costs more than opening the session.
          get account() {
            return accountOf(session, key);
          },
        }];
      }
      return [];
    });
  }

  async #isKnown(session: CurrentSession): Promise<boolean> {
    const { digest } = session;
    if (this.#confirmed.get(digest)) return true;
    let check = this.#pending.get(digest);
    if (!check) {
      check = this.#check(session).finally(() => this.#pending.delete(digest));
      this.#pending.set(digest, check);
    }
    const known = await check;
    if (known) this.#confirmed.set(digest, true);
    else this.#confirmed.delete(digest);
    return known;
  }

  async #check({ user, keys }: Session): Promise<boolean> {
    const { store, namespaces } = this.options;
    try {
      return await storeAcceptsKeys(store, namespaces[0], user, keys);
    } catch (error) {
      // Without the bucket a login fails, but an existing session need not end.
      if (error instanceof HttpError && error.cause instanceof S3Failure && error.cause.code === "NoSuchBucket") {
        return true;
      }
      throw error;
    }
  }
}

/** Equal for sessions with the same keys; reveals nothing about them without the session key. */
function accountOf({ keys }: Session, key: KeyObject): string {
  const text = JSON.stringify(["account", keys.accessKey, keys.secretKey]);
  return createHmac("sha256", key).update(text).digest("base64url");
}
