import type { AuditRecord } from "@/lib/operations/audit/audit_record.ts";
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
import { auditPath, doorPath } from "@/lib/pages/storage/storage_paths.ts";
import { storageProblem } from "@/lib/pages/storage/storage_sentences.ts";
import { clip, entries, member } from "@/lib/std/untrusted.ts";
import {
  statusWithout,
  storagePage,
  type StoragePageDeps,
  type StorageView,
  type StorageVisit,
} from "./storage_page.tsx";

/** Records of a page. */
const PAGE_RECORDS = 100;
const MAX_MESSAGE = 300;

/** `/audit`: the audit trail of the account's tenant, for its administrators. */
export function auditPage(deps: StoragePageDeps) {
  return storagePage(deps, async (visit) => {
    const { account, accounts, query } = visit;
    const filter = auditFilterOf(query);
    const { status, body } = await trail(deps, visit, filter);
    return {
      title: AUDIT_LABELS.trail,
      status: status === 501 ? 404 : status === 422 || status === 403 ? status : statusWithout(status),
      body: (
        <StorageSection account={account} accounts={accounts} title={AUDIT_LABELS.trail}>
          {body}
        </StorageSection>
      ),
    } satisfies StorageView;
  });
}

/** A page of the gateway's audit trail, the newest first. */
interface TrailPage {
  readonly records: readonly AuditRecord[];
  /** Continues it; null at its end. */
  readonly next: string | null;
  /** How far back it was looked through, ISO 8601; null: to its end. */
  readonly searched_to: string | null;
  readonly sources: { readonly application: "process" | "none" };
}

async function trail({ now }: StoragePageDeps, visit: StorageVisit, filter: AuditFilter) {
  const { account, login, query, read } = visit;
  const hasTenants = login.tenant === null;
  const isFiltered = Object.keys(filledIn(filter)).length > 0;
  const form = (
    <details class="new-form" open={isFiltered}>
      <summary>{isFiltered ? AUDIT_LABELS.filtered : AUDIT_LABELS.filter}</summary>
      <AuditForm account={account} filter={filter} hasTenants={hasTenants} />
    </details>
  );
  const parameters = auditParameters(filter);
  if (typeof parameters === "string") {
    const text = AUDIT_SENTENCES.noTime(AUDIT_LABELS[parameters]);
    return {
      status: 422,
      body: (
        <>
          {form}
          <p class="banner bad" role="alert">{text}</p>
        </>
      ),
    };
  }
  const after = query.get("after");
  const asked = new URLSearchParams({ ...parameters, count: String(PAGE_RECORDS), ...after ? { after } : {} });
  const { status, json, found } = await read<TrailPage>(`/audit?${asked}`);
  if (found === null) {
    const text = problemOf(status, json, filter.tenant !== "");
    return {
      status,
      body: status === 422
        ? (
          <>
            {form}
            <p class="banner bad" role="alert">{text}</p>
          </>
        )
        : <p class="banner warn" role="alert">{text}</p>,
    };
  }
  const { records, next, searched_to, sources } = found;
  return {
    status,
    body: (
      <>
        <p class="remark">{AUDIT_SENTENCES.whatItIs}</p>
        {form}
        {sources.application === "none" && <p class="banner warn">{AUDIT_SENTENCES.noApplication}</p>}
        <p class="btns reports">
          {(["csv", "ndjson"] as const).map((format) => (
            <a key={format} class="btn" href={doorPath("/audit", account, { ...parameters, format })}>
              <Icon name="download" /> {AUDIT_LABELS.export} ({AUDIT_LABELS[format]})
            </a>
          ))}
        </p>
        {records.length > 0
          ? <AuditTable account={account} tenant={login.tenant?.toLowerCase() ?? null} records={records} now={now()} />
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
    ),
  };
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
