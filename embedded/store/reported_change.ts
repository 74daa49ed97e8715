import type { AuditAction, AuditTargetKind } from "@/lib/std/audit_words.ts";

/** Who requested a change, as far as the audit trail is concerned. */
export interface ChangeOrigin {
  /** The account's name; null for a request without credentials. */
  readonly actor: string | null;
  /** Whether the account is one of the system level. */
  readonly isSystem: boolean;
  /** The IP address of the client; null where it is unknown. */
  readonly address: string | null;
  readonly requestId: string | null;
  /** Whether the gateway of this process sent it, which records it itself. */
  readonly isByGateway: boolean;
}

/** What the audit trail gets of a change: never a secret, and nothing of a body. */
export interface ReportedChange {
  readonly action: AuditAction;
  /** The tenant that it happened to; null: none. */
  readonly tenant: string | null;
  /** Null: the store itself, or a request without credentials. Without a tenant: an account of the system level. */
  readonly actor: { readonly name: string; readonly tenant: string | null } | null;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly target: {
    readonly kind: AuditTargetKind;
    readonly bucket?: string;
    readonly key?: string;
    readonly version_id?: string;
    /** Of an account, a group, a tenant or a class. */
    readonly name?: string;
  };
  readonly details: AuditDetails;
}

/** Flat members beside the target. */
export type AuditDetails = Readonly<Record<string, string | number | boolean>>;

/** A login that was refused. */
export interface FailedLogin {
  /** Null: the system level. */
  readonly tenant: string | null;
  /** Empty for one that no account can have. */
  readonly name: string;
  readonly address: string | null;
  readonly requestId: string | null;
  readonly protocol: "s3" | "mapi";
}

/** What the store tells the audit trail of the process. */
export interface StoreReports {
  /**
   * Resolves once the records of a change are on the disk. Without any: once there is room for further ones.
   *
   * @throws where the change must not be confirmed without them
   */
  changed(changes: readonly ReportedChange[]): Promise<void>;
  loginFailed(login: FailedLogin): void;
}
