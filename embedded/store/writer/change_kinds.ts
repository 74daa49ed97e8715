import type { ChangeOrigin, ReportedChange } from "@/embedded/store/changes.ts";
import type { StoreErrorCode } from "@/embedded/store/store_error.ts";
import { accountChanges } from "./account_changes.ts";
import { bucketChanges } from "./bucket_changes.ts";
import { objectChanges } from "./object_changes.ts";
import { uploadChanges } from "./upload_changes.ts";
import { usageChanges } from "./usage_changes.ts";

/** Every kind of change of the index. Its input and its result are those of the function. */
export const CHANGES = { ...accountChanges, ...bucketChanges, ...objectChanges, ...uploadChanges, ...usageChanges };

export type ChangeKind = keyof typeof CHANGES;

export type Input<K extends ChangeKind> = Parameters<typeof CHANGES[K]>[1];

export type Result<K extends ChangeKind> = ReturnType<typeof CHANGES[K]>;

/** A change with its input and its requester; no `origin` for the store's own work. */
export type Change = { [K in ChangeKind]: { kind: K; input: Input<K>; origin?: ChangeOrigin } }[ChangeKind];

/**
 * The outcome of a change: its result with its audit records, an error by the store's rules, or a fault (damaged file).
 */
export type Outcome =
  | { ok: true; result: Result<ChangeKind>; reports: readonly ReportedChange[] }
  | { ok: false; error: StoreErrorCode }
  | { ok: false; fault: string };
