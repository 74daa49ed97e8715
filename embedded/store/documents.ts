import { folded } from "./names.ts";
import type { Statements } from "./statements.ts";

/** The owner of a document of the management API: a tenant, or one of its namespaces. */
export interface DocumentScope {
  readonly tenant: number;
  /** The bucket's number; 0 for the tenant's own documents. */
  readonly bucket: number;
  /** The last part of its path, such as `contactInfo`. */
  readonly kind: string;
}

export type Document = Record<string, unknown>;

/** The document with the last position of the application's audit trail; it belongs to no tenant. */
export const AUDIT_END: DocumentScope = { tenant: 0, bucket: 0, kind: "auditEnd" };

/** Members that are records of their own. */
const RECORDS = ["ipSettings", "emailTemplate", "versioningSettings"];

/** A document merged with a change; members that a record in the change leaves out stay, too. */
export function mergedDocument(present: Readonly<Document>, change: Readonly<Document>): Document {
  const merged = { ...present, ...change };
  for (const name of RECORDS) if (name in merged) merged[name] = { ...Object(present[name]), ...Object(change[name]) };
  return merged;
}

/**
 * Reads the documents of the management API as they were set, without defaults. Names are looked up case-insensitively.
 */
export class Documents {
  constructor(private readonly index: Statements) {}

  /** A document; those without a name of their own have the name "". Null where none was set. */
  document({ tenant, bucket, kind }: DocumentScope, name = ""): Document | null {
    const row = this.index.row(
      "SELECT document FROM documents WHERE tenant = ? AND bucket = ? AND kind = ? AND folded = ?",
      tenant,
      bucket,
      kind,
      folded(name),
    );
    return row && JSON.parse(String(row[0]));
  }

  /** All documents of a kind in the order of their names. */
  documents({ tenant, bucket, kind }: DocumentScope): Document[] {
    return this.index.rows(
      "SELECT document FROM documents WHERE tenant = ? AND bucket = ? AND kind = ? ORDER BY folded",
      tenant,
      bucket,
      kind,
    ).map(([document]) => JSON.parse(String(document)));
  }
}
