import { AUDIT_ACTIONS, AUDIT_RESULTS } from "@/lib/presentation/storage/audit_record.ts";
import { type AuditFilter, fieldTime } from "@/lib/presentation/storage/audit_filter.ts";
import { actionWords, AUDIT_LABELS, AUDIT_RESULT_WORDS } from "@/lib/presentation/storage/audit_sentences.ts";
import { AUDIT_PATH, auditPath } from "@/lib/presentation/storage/storage_paths.ts";

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
      <input
        class="vid"
        name={name}
        value={filter[name]}
        maxLength={MAX_TEXT}
        autocapitalize="none"
        spellcheck={false}
      />
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
