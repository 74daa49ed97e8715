import type { AuditAction, AuditResult, AuditTargetKind } from "@/lib/std/audit_words.ts";

/** The part of this process that handles a request. */
export type HandlingRole = "gateway" | "web" | "results" | "store";

/** One of {@link AuditDetails}. */
export type AuditDetail = string | number | boolean | readonly string[];

/**
 * Members of a record beside its target: never a secret, a value of a setting, or anything of a body. What is undefined is
 * left out.
 */
export type AuditDetails = Readonly<Record<string, AuditDetail | undefined>>;

/** The subject of a record. */
export interface AuditTarget {
  readonly kind: AuditTargetKind;
  readonly bucket?: string;
  readonly key?: string;
  /** The common prefix of the keys of `objects`. */
  readonly prefix?: string;
  readonly version_id?: string;
  /** The name of an account, a group, a tenant or a class. */
  readonly name?: string;
}

/** Who did something. */
export interface AuditActor {
  readonly name: string;
  /** Null: the system level, or a store without tenants. */
  readonly tenant: string | null;
}

/** Something to be recorded. */
export interface AuditEvent {
  readonly action: AuditAction;
  /** The tenant that it happened to; null: none. */
  readonly tenant: string | null;
  /** Null: not known. */
  readonly actor: AuditActor | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly role: HandlingRole | null;
  readonly target: AuditTarget;
  readonly result: AuditResult;
  /** The HTTP status that the client gets; null where there is none. */
  readonly status: number | null;
  readonly details?: AuditDetails;
}

/** Where the events of a process go. */
export interface AuditRecorder {
  /** @throws HttpError 507 where changes are refused because they could not be recorded */
  requireRoom(): void;
  /**
   * Resolves once the event is recorded, or is known not to be.
   *
   * @throws HttpError 507 where a change that was not recorded must not be confirmed
   */
  record(event: AuditEvent): Promise<void>;
  /** Records what no response waits for. */
  note(event: AuditEvent): void;
}

/** A login, or an attempt at one. */
export interface AuditLogin {
  /** The request of the client, by which records of several roles are one; its id is the client's choice. */
  readonly source: object;
  readonly actor: AuditActor;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly role: HandlingRole;
  readonly status: number;
  /** The form or the protocol, and what it opens. */
  readonly details: AuditDetails;
}

/** Records logins. Several of one name by one request, at several sides, are one record; guesses are counted together. */
export interface LoginRecorder {
  accepted(login: AuditLogin): void;
  failed(login: AuditLogin): void;
  loggedOut(login: AuditLogin): Promise<void>;
}
