import { randomBytes } from "node:crypto";
import { AuditTrail } from "@/lib/audit/audit_trail.ts";
import { CHAIN_START } from "@/lib/audit/chain.ts";
import { AUDIT_FOLDER } from "@/lib/audit/chain_files.ts";
import { ChainFolder } from "@/lib/audit/chain_folder.ts";
import { ChainReader } from "@/lib/audit/chain_reader.ts";
import { LoginRecords } from "@/lib/audit/login_records.ts";
import type { AuditSource } from "@/lib/audit/trail_page.ts";
import type { Config } from "@/lib/config/mod.ts";
import { DataFolderError } from "@/lib/std/data_folder_error.ts";
import { errorReason } from "@/lib/std/error_reason.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";

/** The audit trail of a process. */
interface Audit {
  readonly recorder: AuditTrail;
  readonly logins: LoginRecords;
  /** Null where this process cannot read what it has recorded. */
  readonly reader: AuditSource | null;
  close(): Promise<void>;
}

/**
 * Opens the audit trail; null where there is no place to keep it, which is said at the start.
 *
 * @param warn receives lines for the operator
 * @throws {DataFolderError} where its folder cannot be used
 */
export function openAudit(config: Config, folder: DataFolder | null, warn: (line: string) => void): Audit | null {
  const path = folder && `${folder.path}/${AUDIT_FOLDER}`;
  const chain = path && openChain(path, config.embedded.auditDays, warn);
  if (!chain) {
    warn("No audit trail is kept: there is no data folder, and no AUDIT_ setting names another place (docs/audit.md)");
    return null;
  }
  const recorder = new AuditTrail({
    trail: chain.trail ?? randomBytes(4).toString("hex"),
    end: chain.end ?? CHAIN_START,
    durable: [chain],
    forwarders: [],
    isRequired: false,
    now: Date.now,
    warn,
  });
  const logins = new LoginRecords(recorder);
  return {
    recorder,
    logins,
    reader: path ? new ChainReader(path) : null,
    async close() {
      logins.flush();
      await recorder.close();
    },
  };
}

function openChain(path: string, retentionDays: number | null, warn: (line: string) => void): ChainFolder {
  try {
    return ChainFolder.open(path, { retentionDays, now: Date.now, warn });
  } catch (error) {
    throw new DataFolderError(`The folder ${path} of the audit trail cannot be used (${errorReason(error)})`);
  }
}
