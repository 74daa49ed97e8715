import type { AuditLogin, AuditRecorder, LoginRecorder } from "@/lib/http/audit_event.ts";

/** How long failures of one name from one address are counted before they are recorded, ms. */
const WINDOW_MS = 60_000;
/** Pairs of name and address with separate counts in that time; further ones share a record. */
const MAX_COUNTED = 100;

/**
 * Records logins in the trail. The first failure of a name from an address is recorded at once, the others of the same
 * minute as one record with their `count`: guessing must not fill the trail. Counts of the last minute are lost by a kill.
 */
export class LoginRecords implements LoginRecorder {
  readonly #counts = new Map<string, { readonly login: AuditLogin; count: number }>();
  /** The records that each request of a client has led to. */
  readonly #seen = new WeakMap<object, Set<string>>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly recorder: AuditRecorder) {}

  accepted(login: AuditLogin): void {
    if (this.#isNew("login", login)) this.recorder.note(eventOf("login", login, {}));
  }

  failed(login: AuditLogin): void {
    if (!this.#isNew("login_failed", login)) return;
    const entry = this.#counts.get(keyOf(login));
    if (entry) {
      entry.count++;
    } else if (this.#counts.size < MAX_COUNTED) {
      this.#counts.set(keyOf(login), { login, count: 0 });
      this.recorder.note(eventOf("login_failed", login, { count: 1 }));
    } else {
      const others: AuditLogin = { ...login, actor: { name: "", tenant: null }, address: null };
      const shared = this.#counts.get(OTHERS) ?? { login: others, count: 0 };
      shared.count++;
      this.#counts.set(OTHERS, shared);
    }
    this.#timer ??= setTimeout(() => this.flush(), WINDOW_MS);
  }

  async loggedOut(login: AuditLogin): Promise<void> {
    if (this.#isNew("logout", login)) await this.recorder.record(eventOf("logout", login, {}));
  }

  /** Records what was counted so far. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    for (const [key, { login, count }] of this.#counts) {
      if (count === 0) continue;
      this.recorder.note({
        ...eventOf("login_failed", login, { count }),
        ...(key === OTHERS ? { actor: null, tenant: null } : {}),
        requestId: null,
      });
    }
    this.#counts.clear();
  }

  /** Whether this request has had no such record of this account yet: two roles of a process may report one login. */
  #isNew(action: string, { source, actor }: AuditLogin): boolean {
    const key = JSON.stringify([action, actor.tenant?.toLowerCase() ?? null, actor.name]);
    const seen = this.#seen.get(source) ?? new Set();
    this.#seen.set(source, seen);
    return seen.size < seen.add(key).size;
  }
}

/** Key of the shared record. */
const OTHERS = "";

function keyOf({ actor, address, role }: AuditLogin): string {
  return JSON.stringify([actor.tenant, actor.name, address, role]);
}

function eventOf(
  action: "login" | "login_failed" | "logout",
  { actor, address, requestId, role, status, details }: AuditLogin,
  further: { readonly count?: number },
) {
  return {
    action,
    tenant: actor.tenant,
    actor,
    address,
    requestId,
    role,
    target: { kind: "session", name: actor.name },
    result: action === "login_failed" ? "refused" : "succeeded",
    status,
    details: { ...details, ...further },
  } as const;
}
