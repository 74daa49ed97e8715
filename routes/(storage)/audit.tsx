import type { ComponentChildren } from "preact";
import type { AuditRecord } from "@/lib/operations/audit/audit_trail.ts";
import { Icon } from "@/components/icon.tsx";
import { AuditForm, AuditTable } from "@/components/storage/audit_trail.tsx";
import { StorageSection } from "@/components/storage/storage_frame.tsx";
import { invalidText } from "@/lib/pages/coded_check_sentences.ts";
import { formatFull } from "@/lib/pages/moments.ts";
import {
  AUDIT_LABELS,
  AUDIT_SENTENCES,
  type AuditFilter,
  auditFilterOf,
  auditParameters,
  filledIn,
} from "@/lib/pages/storage/audit_sentences.ts";
import { auditPath, storageApiPath } from "@/lib/pages/storage/storage_paths.ts";
import { storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { clip, entries, member } from "@/lib/std/untrusted.ts";
import { defineStorage, type StorageState } from "@/lib/site/state.ts";
import { statusWithout, type StorageVisit } from "@/lib/site/storage/storage_visit.ts";

/** Records of a page. */
const PAGE_RECORDS = 100;
const MAX_MESSAGE = 300;

/** A page of the gateway's audit trail, the newest first. */
interface TrailPage {
  readonly records: readonly AuditRecord[];
  /** Continues it; null at its end. */
  readonly next: string | null;
  /** How far back it was looked through, ISO 8601; null: to its end. */
  readonly searched_to: string | null;
  readonly sources: { readonly application: "process" | "none" };
}

/** `/audit`: the audit trail of the account's tenant, for its administrators. */
export const handler = defineStorage.handlers({
  async GET({ state }) {
    const { visit } = state;
    const filter = auditFilterOf(visit.query);
    state.title = AUDIT_LABELS.trail;
    const trail = await readTrail(visit, filter);
    const { status } = trail;
    const shown = status === 501 ? 404 : status === 422 || status === 403 ? status : statusWithout(status);
    return await visit.page({ filter, trail }, shown);
  },
});

/** The records that the address asks for, or the sentence in their place. */
async function readTrail(visit: StorageVisit, filter: AuditFilter) {
  const parameters = auditParameters(filter);
  if (typeof parameters === "string") {
    return { status: 422, problem: AUDIT_SENTENCES.noTime(AUDIT_LABELS[parameters]) };
  }
  const after = visit.query.get("after");
  const asked = new URLSearchParams({ ...parameters, count: String(PAGE_RECORDS), ...after ? { after } : {} });
  const { status, json, found } = await visit.read<TrailPage>(`/audit?${asked}`);
  if (found === null) return { status, problem: problemOf(status, json, filter.tenant !== "") };
  return { status, found, parameters, after };
}

export default defineStorage.page<typeof handler>(function Audit({ data: { filter, trail }, state }) {
  const { account, accounts, login } = state.visit;
  const isFiltered = Object.keys(filledIn(filter)).length > 0;
  const form = (
    <details class="new-form" open={isFiltered}>
      <summary>{isFiltered ? AUDIT_LABELS.filtered : AUDIT_LABELS.filter}</summary>
      <AuditForm account={account} filter={filter} hasTenants={login.tenant === null} />
    </details>
  );
  return (
    <StorageSection account={account} accounts={accounts} title={AUDIT_LABELS.trail}>
      {trail.found ? <Trail {...trail} filter={filter} form={form} state={state} /> : (
        <>
          {trail.status === 422 && form}
          <p class={`banner ${trail.status === 422 ? "bad" : "warn"}`} role="alert">{trail.problem}</p>
        </>
      )}
    </StorageSection>
  );
});

interface TrailProps {
  readonly found: TrailPage;
  readonly filter: AuditFilter;
  readonly parameters: Readonly<Record<string, string>>;
  readonly after: string | null;
  readonly form: ComponentChildren;
  readonly state: StorageState;
}

function Trail({ found, filter, parameters, after, form, state }: TrailProps) {
  const { records, next, searched_to, sources } = found;
  const { account, login } = state.visit;
  const isFiltered = Object.keys(filledIn(filter)).length > 0;
  return (
    <>
      <p class="remark">{AUDIT_SENTENCES.whatItIs}</p>
      {form}
      {sources.application === "none" && <p class="banner warn">{AUDIT_SENTENCES.noApplication}</p>}
      <p class="btns reports">
        {(["csv", "ndjson"] as const).map((format) => (
          <a key={format} class="btn" href={storageApiPath("/audit", account, { ...parameters, format })}>
            <Icon name="download" /> {AUDIT_LABELS.export} ({AUDIT_LABELS[format]})
          </a>
        ))}
      </p>
      {records.length > 0
        ? (
          <AuditTable
            account={account}
            tenant={login.tenant?.toLowerCase() ?? null}
            records={records}
            now={state.now()}
          />
        )
        : <p class="empty">{isFiltered || next !== null ? AUDIT_SENTENCES.none : AUDIT_SENTENCES.nothing}</p>}
      {next !== null && records.length < PAGE_RECORDS && searched_to !== null && (
        <p class="remark">{AUDIT_SENTENCES.searched(formatFull(searched_to, "UTC"))}</p>
      )}
      <p class="btns page-links">
        {after && <a class="btn" href={auditPath({ account, ...filledIn(filter) })}>{AUDIT_LABELS.newest}</a>}
        {next !== null && (
          <a class="btn" href={auditPath({ account, ...filledIn(filter), after: next })}>{AUDIT_LABELS.next}</a>
        )}
      </p>
    </>
  );
}

function problemOf(status: number, json: unknown, namesTenant: boolean): string {
  switch (status) {
    case 403:
      return namesTenant ? AUDIT_SENTENCES.otherTenant : AUDIT_SENTENCES.forbidden;
    case 404:
      return AUDIT_SENTENCES.missing;
    case 422: {
      const [first] = entries(member(json, "detail"));
      return AUDIT_SENTENCES.wrong(clip(invalidText(first), MAX_MESSAGE));
    }
    case 501:
      return AUDIT_SENTENCES.unsupported;
    default:
      return storageProblem(status, "buckets");
  }
}
