import { Chip } from "@/components/chip.tsx";
import { formatFull, formatMoment } from "@/lib/presentation/moments.ts";
import type { AuditRecord, AuditResult } from "@/lib/presentation/storage/audit_record.ts";
import {
  actionWords,
  AUDIT_LABELS,
  AUDIT_RESULT_WORDS,
  kindWords,
} from "@/lib/presentation/storage/audit_sentences.ts";
import { auditPath, folderPath, objectPath } from "@/lib/presentation/storage/storage_paths.ts";
import { KeyName } from "./key_name.tsx";

interface AuditTableProps {
  readonly account: string;
  /** The tenant whose buckets the account can open; null: none. */
  readonly tenant: string | null;
  readonly records: readonly AuditRecord[];
  /** ms since 1970 */
  readonly now: number;
}

/** Records of the audit trail, the newest first; on a phone each is a block. Times are in UTC, as in exports. */
export function AuditTable({ account, tenant, records, now }: AuditTableProps) {
  return (
    <section class="records trail" aria-label={AUDIT_LABELS.records}>
      <table>
        <thead>
          <tr>
            <th scope="col" class="time">{AUDIT_LABELS.time}</th>
            <th scope="col" class="who-did">{AUDIT_LABELS.who}</th>
            <th scope="col" class="action">{AUDIT_LABELS.action}</th>
            <th scope="col">{AUDIT_LABELS.target}</th>
            <th scope="col" class="outcome-cell">{AUDIT_LABELS.result}</th>
          </tr>
        </thead>
        <tbody>
          {records.map((record) => <Row key={record.id} account={account} tenant={tenant} record={record} now={now} />)}
        </tbody>
      </table>
    </section>
  );
}

const TONES: Readonly<Record<AuditResult, "done" | "warn">> = { succeeded: "done", refused: "warn", failed: "warn" };

interface RowProps extends Omit<AuditTableProps, "records"> {
  readonly record: AuditRecord;
}

function Row({ account, tenant, record, now }: RowProps) {
  const { time, actor, address, action, result } = record;
  const style = { zone: "UTC", now };
  const seconds = time.slice("2026-11-27T10:00".length, "2026-11-27T10:00:00".length);
  return (
    <tr>
      <td class="time">
        <time dateTime={time} title={formatFull(time, "UTC")}>{formatMoment(time, style)}{seconds}</time>{" "}
        <span class="cell-name">UTC</span>
      </td>
      <th scope="row" class="who-did">
        {actor === null ? AUDIT_LABELS.nobody : <KeyName name={actor} />}
        {address !== null && (
          <p class="sub">
            <bdi>{address}</bdi>
          </p>
        )}
      </th>
      <td class="action">
        <bdi>{actionWords(action)}</bdi>
      </td>
      <td class="target">
        <Target account={account} isOwn={tenant !== null && tenant === record.tenant} record={record} />
        <Details account={account} record={record} />
      </td>
      <td class="outcome-cell">
        <Chip text={AUDIT_RESULT_WORDS[result]} tone={TONES[result]} />
      </td>
    </tr>
  );
}

interface TargetProps {
  readonly account: string;
  /** Whether the account can open what its own tenant has. */
  readonly isOwn: boolean;
  readonly record: AuditRecord;
}

function Target({ account, isOwn, record: { action, result, target, tenant } }: TargetProps) {
  const { kind, bucket, key, prefix, version, name } = target;
  const isGone = result === "succeeded" && (action === "object_delete" || action === "bucket_delete");
  const word = kindWords(kind);
  if (bucket === null) {
    const shown = name ?? (kind === "tenant" ? tenant : null);
    return shown === null ? <>{word || AUDIT_LABELS.unknown}</> : <KeyName name={shown} />;
  }
  const path = key ?? prefix ?? "";
  const text = <KeyName name={path === "" ? bucket : `${bucket}/${path}`} />;
  const href = key === null
    ? folderPath({ account, bucket, prefix: path.slice(0, path.lastIndexOf("/") + 1) })
    : objectPath({ account, bucket, key, version: version ?? undefined });
  // Of objects that were deleted together the bucket is still there.
  const isLinked = isOwn && (!isGone || kind === "objects");
  return (
    <>
      {isLinked ? <a href={href}>{text}</a> : text}
      {word !== "" && ` (${word})`}
    </>
  );
}

/** What is known of a record beside its row, folded. */
function Details({ account, record }: { readonly account: string; readonly record: AuditRecord }) {
  const { details, requestId, status, target, isOfStore } = record;
  const facts: (readonly [string, readonly string[]])[] = [
    ...target.version === null ? [] : [[AUDIT_LABELS.version, [target.version]] as const],
    ...details,
    ...status === null ? [] : [[AUDIT_LABELS.status, [String(status)]] as const],
    ...isOfStore ? [[AUDIT_LABELS.source, [AUDIT_LABELS.ofStore]] as const] : [],
  ];
  if (facts.length === 0 && requestId === null) return null;
  return (
    <details>
      <summary>{AUDIT_LABELS.details}</summary>
      <dl>
        {facts.map(([name, values]) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            {values.map((value, n) => (
              <dd key={n} class="vid">
                <KeyName name={value} />
              </dd>
            ))}
          </div>
        ))}
        {requestId !== null && (
          <div>
            <dt>{AUDIT_LABELS.request}</dt>
            <dd class="vid">
              <a href={auditPath({ account, request: requestId })}>{requestId}</a>
            </dd>
          </div>
        )}
      </dl>
    </details>
  );
}
