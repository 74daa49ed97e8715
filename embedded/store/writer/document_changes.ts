import type { Input } from "@/embedded/store/changes.ts";
import { AUDIT_END, mergedDocument } from "@/embedded/store/documents.ts";
import { folded } from "@/embedded/store/names.ts";
import { maskOf } from "@/embedded/store/permission_masks.ts";
import { S3_ACCESS, s3AccessOf } from "@/embedded/store/permissions.ts";
import { StoreError } from "@/embedded/store/store_error.ts";
import type { Statements } from "@/embedded/store/statements.ts";
import { mergeRecord } from "./records.ts";

/**
 * Creates a document, or merges members into one, and updates the columns that it decides.
 *
 * @throws {StoreError} NotFound or NoSuchBucket when tenant or bucket are gone, NameTaken for an existing one that was
 *   to be created, NotFound for an absent one that was to be modified
 */
export function setDocument(index: Statements, input: Input<"setDocument">): null {
  const { tenant, bucket, kind, name, mode, document } = input;
  if (!index.row("SELECT 1 FROM tenants WHERE id = ?", tenant)) throw new StoreError("NotFound");
  if (bucket !== 0 && !index.row("SELECT 1 FROM buckets WHERE id = ? AND tenant = ?", bucket, tenant)) {
    throw new StoreError("NoSuchBucket");
  }
  const at = [tenant, bucket, kind, folded(name)] as const;
  const present = index.row(`SELECT document FROM documents WHERE ${BY_NAME}`, ...at);
  if (present && mode === "create") throw new StoreError("NameTaken");
  if (!present && mode === "modify") throw new StoreError("NotFound");
  // Merged here, so that two changes at once do not undo each other.
  const merged = mergedDocument(present ? JSON.parse(String(present[0])) : {}, document);
  index.run("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?)", ...at, JSON.stringify(merged));
  if (kind === "permissions") {
    const [table, id] = bucket === 0 ? ["tenants", tenant] : ["buckets", bucket];
    index.run(`UPDATE ${table} SET permission_mask = ? WHERE id = ?`, maskOf(merged), id);
  }
  if (kind === "protocols/http") {
    index.run("UPDATE buckets SET s3_access = ? WHERE id = ?", S3_ACCESS.indexOf(s3AccessOf(merged)), bucket);
  }
  return null;
}

/** Stores how far the audit trail of the application has got. */
export function noteAuditEnd(index: Statements, { end }: Input<"noteAuditEnd">): null {
  const { tenant, bucket, kind } = AUDIT_END;
  index.run("INSERT OR REPLACE INTO documents VALUES (?, ?, ?, '', ?)", tenant, bucket, kind, JSON.stringify(end));
  return null;
}

/**
 * Removes a named document.
 *
 * @throws {StoreError} NotFound
 */
export function deleteDocument(
  index: Statements,
  { tenant, bucket, kind, name }: Input<"deleteDocument">,
): null {
  const { changes } = index.run(`DELETE FROM documents WHERE ${BY_NAME}`, tenant, bucket, kind, folded(name));
  if (changes === 0) throw new StoreError("NotFound");
  if (kind === "contentClasses") removeContentClass(index, tenant, folded(name));
  return null;
}

/**
 * Changes members of a tenant's record.
 *
 * @throws {StoreError} NotFound
 */
export function modifyTenant(index: Statements, { tenant, record }: Input<"modifyTenant">): null {
  mergeRecord(index, "tenants", tenant, record);
  return null;
}

/** Takes a class that is gone out of what namespaces index by. */
function removeContentClass(index: Statements, tenant: number, foldedName: string): void {
  const kind = "customMetadataIndexingSettings";
  const select = "SELECT bucket, document FROM documents WHERE tenant = ? AND kind = ?";
  for (const [bucket, text] of index.rows(select, tenant, kind)) {
    const document: { contentClasses?: string[] } = JSON.parse(String(text));
    if (!document.contentClasses?.some((name) => folded(name) === foldedName)) continue;
    const contentClasses = document.contentClasses.filter((name) => folded(name) !== foldedName);
    const changed = JSON.stringify({ ...document, contentClasses });
    const update = "UPDATE documents SET document = ? WHERE tenant = ? AND bucket = ? AND kind = ?";
    index.run(update, changed, tenant, bucket, kind);
  }
}

const BY_NAME = "tenant = ? AND bucket = ? AND kind = ? AND folded = ?";
