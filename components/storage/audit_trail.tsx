import type { AuditRecord } from "@/lib/operations/audit/audit_trail.ts";
import { Chip } from "@/components/chip.tsx";
import { formatFull, formatMoment } from "@/lib/pages/moments.ts";
import {
  actionWords,
  AUDIT_ACTIONS,
  AUDIT_LABELS,
  AUDIT_RESULT_WORDS,
  AUDIT_RESULTS,
  type AuditFilter,
  fieldTime,
  kindWords,
} from "@/lib/pages/storage/audit_sentences.ts";
import { AUDIT_PATH, auditPath, folderPath, objectPath } from "@/lib/pages/storage/storage_paths.ts";
import { NameInput } from "./bucket_form.tsx";
import { KeyName } from "./key_name.tsx";

interface AuditFormProps {
  readonly account: string;
  readonly filter: AuditFilter;
  /** Whether the account may read the records of several tenants. */
  readonly hasTenants: boolean;
}

const MAX_TEXT = 1024;

/** The filters of the audit trail. They are part of the address, so it works without scripts and can be bookmarked. */
export function AuditForm({ account, filter, hasTenants }: AuditFormProps) {
  const text = (name: "actor" | "bucket" | "prefix" | "request" | "tenant") => (
    <label>
      {AUDIT_LABELS[name]}
      <NameInput name={name} value={filter[name]} maxLength={MAX_TEXT} />
    </label>
  );
  const time = (name: "start" | "end") => (
    <label>
      {AUDIT_LABELS[name]}
      <input type="datetime-local" name={name} value={fieldTime(filter[name])} />
    </label>
  );
  return (
    <form class="trail-filter" action={AUDIT_PATH}>
      <input type="hidden" name="account" value={account} />
      {time("start")}
      {time("end")}
      {text("actor")}
      <label>
        {AUDIT_LABELS.action}
        <select name="action">
          <option value="">{AUDIT_LABELS.anything}</option>
          {AUDIT_ACTIONS.map((action) => (
            <option key={action} value={action} selected={action === filter.action}>{actionWords(action)}</option>
          ))}
        </select>
      </label>
      <label>
        {AUDIT_LABELS.result}
        <select name="result">
          <option value="">{AUDIT_LABELS.any}</option>
          {AUDIT_RESULTS.map((result) => (
            <option key={result} value={result} selected={result === filter.result}>
              {AUDIT_RESULT_WORDS[result]}
            </option>
          ))}
        </select>
      </label>
      {text("bucket")}
      {text("prefix")}
      {text("request")}
      {hasTenants && text("tenant")}
      <p class="btns">
        <button class="btn primary" type="submit">{AUDIT_LABELS.apply}</button>
        <a class="btn" href={auditPath({ account })}>{AUDIT_LABELS.all}</a>
      </p>
    </form>
  );
}

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

const TONES: Readonly<Record<AuditRecord["result"], "done" | "warn">> = {
  succeeded: "done",
  refused: "warn",
  failed: "warn",
};

interface RowProps extends Omit<AuditTableProps, "records"> {
  readonly record: AuditRecord;
}

function Row({ account, tenant, record, now }: RowProps) {
  const { time, actor, address, action, result } = record;
  const who = actor && (actor.tenant === null ? actor.name : `${actor.tenant}/${actor.name}`);
  const style = { zone: "UTC", now };
  const seconds = time.slice("2026-11-27T10:00".length, "2026-11-27T10:00:00".length);
  return (
    <tr>
      <td class="time">
        <time dateTime={time} title={formatFull(time, "UTC")}>{formatMoment(time, style)}{seconds}</time>{" "}
        <span class="cell-name">UTC</span>
      </td>
      <th scope="row" class="who-did">
        {who === null ? AUDIT_LABELS.nobody : <KeyName name={who} />}
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
  const { kind, bucket, key, prefix, version_id: version, name } = target;
  const isGone = result === "succeeded" && (action === "object_delete" || action === "bucket_delete");
  const word = kindWords(kind);
  if (bucket === undefined) {
    const shown = name ?? (kind === "tenant" ? tenant : null);
    return shown === null ? <>{word || AUDIT_LABELS.unknown}</> : <KeyName name={shown} />;
  }
  const path = key ?? prefix ?? "";
  const text = <KeyName name={path === "" ? bucket : `${bucket}/${path}`} />;
  const href = key === undefined
    ? folderPath({ account, bucket, prefix: path.slice(0, path.lastIndexOf("/") + 1) })
    : objectPath({ account, bucket, key, version });
  // The bucket of objects that were deleted together is still there.
  const isLinked = isOwn && (!isGone || kind === "objects");
  return (
    <>
      {isLinked ? <a href={href}>{text}</a> : text}
      {word !== "" && ` (${word})`}
    </>
  );
}

/** Further facts about a record, folded. */
function Details({ account, record }: { readonly account: string; readonly record: AuditRecord }) {
  const { details, request_id: requestId, status, target: { version_id }, source } = record;
  const facts: (readonly [string, AuditRecord["details"][string]])[] = [
    ...version_id === undefined ? [] : [[AUDIT_LABELS.version, version_id] as const],
    ...Object.entries(details),
    ...status === null ? [] : [[AUDIT_LABELS.status, status] as const],
    ...source === "store" ? [[AUDIT_LABELS.source, AUDIT_LABELS.ofStore] as const] : [],
  ];
  if (facts.length === 0 && requestId === null) return null;
  return (
    <details>
      <summary>{AUDIT_LABELS.details}</summary>
      <dl>
        {facts.map(([name, value]) => (
          <div key={name}>
            <dt>
              <bdi>{name}</bdi>
            </dt>
            {[value].flat().map((one, n) => (
              <dd key={n} class="vid">
                <KeyName name={String(one)} />
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
