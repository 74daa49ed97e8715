import { randomBytes } from "node:crypto";
import {
  AUDIT_FOLDER,
  AuditTrail,
  CHAIN_START,
  type DurableSink,
  type EndNote,
  OUTSIDE_END_FILE,
  outsideEnd,
} from "@/lib/operations/audit/audit_trail.ts";
import { ChainFolder } from "@/lib/operations/audit/chain_folder.ts";
import { ChainReader } from "@/lib/operations/audit/chain_reader.ts";
import { fileSink, standardOutput } from "@/lib/operations/audit/file_sink.ts";
import { LoginRecords } from "@/lib/operations/audit/login_records.ts";
import type { Config } from "@/lib/config/mod.ts";
import type { DataFolder } from "@/lib/process/data_folder.ts";
import { Buffer } from "node:buffer";
import type { RequestLog } from "@/lib/http/app.ts";
import { exists, textIfExists, writeDurablyAsync } from "@/lib/std/files.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";
import { ConfigError } from "@/lib/std/start_errors.ts";
import { errorReason } from "@/lib/std/text.ts";
import type { EmbeddedStore } from "./sample_store.ts";

/** How often the log gets the end of the trail, ms. */
const LOG_END_MS = 3_600_000;

/** The audit trail of a process. */
export type Audit = NonNullable<Awaited<ReturnType<typeof openAudit>>>;

/**
 * Opens the audit trail; null where there is no place to keep it, which is said at the start.
 *
 * @param starting a store whose clients' changes are recorded; null: the end of the trail is noted in a file of the data
 *   folder
 * @param warn receives lines for the operator
 * @param log gets the end of the trail once an hour
 * @throws {ConfigError} where its folder or its file cannot be used
 */
export async function openAudit(
  config: Config,
  folder: Pick<DataFolder, "path"> | null,
  starting: Promise<Pick<EmbeddedStore, "auditEnd" | "reportTo">> | null,
  warn: (line: string) => void,
  log: RequestLog,
) {
  const { audit } = config;
  const store = await starting;
  const path = audit.folder ?? (folder && `${folder.path}/${AUDIT_FOLDER}`);
  const file = audit.file === null ? null : audit.file === "-" ? standardOutput : openFile(audit.file);
  const outside = folder && endNote(folder.path, store && store.auditEnd, audit.folder ?? AUDIT_FOLDER);
  const chain = path === null ? null : await openChain(path, audit, outside, warn);
  if (chain === null && file === null) {
    warn("No audit trail is kept: there is no data folder, and no AUDIT_ setting names another place (docs/audit.md)");
    return null;
  }
  const recorder = new AuditTrail({
    trail: chain?.trail ?? randomBytes(4).toString("hex"),
    end: chain?.end ?? CHAIN_START,
    chain,
    file,
    isRequired: audit.isRequired,
    now: Date.now,
    warn,
  });
  const logins = new LoginRecords(recorder);
  store?.reportTo({
    async changed(changes) {
      if (changes.length === 0) recorder.requireRoom();
      await Promise.all(
        changes.map((change) => recorder.record({ ...change, role: "store", result: "succeeded", status: 200 })),
      );
    },
    loginFailed({ tenant, name, protocol, ...from }) {
      const actor = { name, tenant };
      logins.failed({ ...from, source: {}, actor, role: "store", status: 403, details: { protocol } });
    },
  });
  const hourly = chain && setInterval(() => {
    const { number, hash } = chain.end;
    log.write({ level: "info", message: `The audit trail ends with record ${chain.trail}.${number}, hash ${hash}` });
  }, LOG_END_MS);
  if (hourly !== null) Deno.unrefTimer(hourly);
  return {
    recorder,
    logins,
    /** Null where this process cannot read what it has recorded. */
    reader: path === null ? null : new ChainReader(path),
    /** Writes and sends what waits, for so many ms at most. */
    async close(ms: number) {
      if (hourly !== null) clearInterval(hourly);
      logins.flush();
      await recorder.close(ms);
    },
  };
}

async function openChain(
  path: string,
  { retentionDays }: Config["audit"],
  outside: EndNote | null,
  warn: (line: string) => void,
): Promise<ChainFolder> {
  try {
    return await ChainFolder.open(path, { retentionDays, now: Date.now, warn, outside });
  } catch (error) {
    throw new ConfigError("AUDIT_DIR", `the folder ${path} of the audit trail cannot be used (${errorReason(error)})`);
  }
}

/** @param place where the trail is: another place has another trail */
function endNote(dataFolder: string, store: EmbeddedStore["auditEnd"] | null, place: string): EndNote {
  const path = `${dataFolder}/${OUTSIDE_END_FILE}`;
  return {
    async read() {
      const noted = outsideEnd(store ? await store.read() : parsedJson(textIfExists(path) ?? ""));
      return noted?.place === place ? noted : null;
    },
    async write(end) {
      const noted = { ...end, place };
      if (store) await store.write(noted);
      else await writeDurablyAsync(path, Buffer.from(JSON.stringify(noted)));
    },
  };
}

function openFile(path: string): DurableSink {
  try {
    // A device or a pipe has no end to append to.
    if (exists(path) && !Deno.statSync(path).isFile) throw new Error("it is no regular file");
    Deno.openSync(path, { create: true, append: true, mode: 0o600 }).close();
    return fileSink(path);
  } catch (error) {
    throw new ConfigError("AUDIT_FILE", `the file ${path} of the audit trail cannot be used (${errorReason(error)})`);
  }
}
