import { auditRecord, CHAIN_START, sealed, type SealedRecord } from "@/lib/operations/audit/audit_trail.ts";
import { type ChainFolder } from "@/lib/operations/audit/chain_folder.ts";
import { until } from "@/tests/until.ts";
import type { AuditEvent } from "@/lib/http/audit_event.ts";

/** Noon of the first day of the tests' trails, ms since 1970. */
export const NOON = Date.UTC(2026, 10, 20, 12);
export const DAY_MS = 86_400_000;

/** A change of an object, with what a test says about it. */
export function event(further: Partial<AuditEvent> = {}): AuditEvent {
  return {
    action: "object_write",
    tenant: "archive",
    actor: { name: "curator", tenant: "archive" },
    address: "192.0.2.7",
    requestId: "request-1",
    role: "gateway",
    target: { kind: "object", bucket: "letters", key: "1794/a.txt" },
    result: "succeeded",
    status: 200,
    ...further,
  };
}

/** Seals events as a trail does. */
export function sealer(trail: string, end = CHAIN_START): (event: AuditEvent, atMs?: number) => SealedRecord {
  let { number, hash } = end;
  return (event, atMs = NOON) => {
    const { record, text } = auditRecord(event, `${trail}.${++number}`, atMs);
    const { line, hash: own } = sealed(hash, text);
    hash = own;
    return { record, number, atMs, line, hash };
  };
}

/** Writes a trail: one record for each instant (ms since 1970), with keys `k1`, `k2` … */
export async function writeTrail(chain: ChainFolder, instants: readonly number[]): Promise<void> {
  const seal = sealer(chain.trail, chain.end);
  const records = instants.map((atMs, i) =>
    seal(event({ target: { kind: "object", bucket: "letters", key: `k${i + 1}` } }), atMs)
  );
  for (const record of records) await chain.append([record]);
  await chain.close();
}

/** Waits until a condition holds. */
export async function eventually(condition: () => boolean): Promise<void> {
  await until(String(condition), () => condition() || null);
}

/** Has each call that blocks the process throw until it is disposed: a disk that hangs would block it for ever. */
export function withoutBlockingCalls(): Disposable {
  const undo: (() => void)[] = [];
  for (const owner of [Deno, Deno.FsFile.prototype] as Record<string, unknown>[]) {
    for (const name of Object.getOwnPropertyNames(owner).filter((name) => name.endsWith("Sync"))) {
      const original = owner[name];
      owner[name] = () => {
        throw new Error(`${name} blocks the process`);
      };
      undo.push(() => owner[name] = original);
    }
  }
  return { [Symbol.dispose]: () => undo.forEach((restore) => restore()) };
}
