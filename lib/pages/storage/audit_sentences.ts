import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/storage_audit.ts";
import * as sv from "@/locales/sv/storage_audit.ts";

export { AUDIT_ACTIONS, AUDIT_RESULTS } from "@/lib/std/audit_words.ts";

export const AUDIT_LABELS = inLanguage({ en: en.LABELS, sv: sv.LABELS });
export const AUDIT_SENTENCES = inLanguage({ en: en.SENTENCES, sv: sv.SENTENCES });
export const AUDIT_RESULT_WORDS = inLanguage({ en: en.RESULTS, sv: sv.RESULTS });
const ACTIONS: Readonly<Record<string, string>> = inLanguage({ en: en.ACTIONS, sv: sv.ACTIONS });
const KINDS = inLanguage({ en: en.KINDS, sv: sv.KINDS });

/** An action in words; one that this page does not know by its own name. */
export function actionWords(action: string): string {
  return Object.hasOwn(ACTIONS, action) ? ACTIONS[action] : action;
}

/** A kind of target that has no name; "" for one that has. */
export function kindWords(kind: string): string {
  return Object.hasOwn(KINDS, kind) ? KINDS[kind] : "";
}

const FILTER_FIELDS = ["start", "end", "actor", "action", "bucket", "prefix", "result", "request", "tenant"] as const;

/**
 * The filters of an audit trail, as an address has them; "" for one that is not set. `start` and `end`: from this instant
 * on, and before that one, in UTC unless there is an offset; `tenant`: for accounts of the system level.
 */
export type AuditFilter = Readonly<Record<typeof FILTER_FIELDS[number], string>>;

/** The filters that an address names. */
export function auditFilterOf(query: URLSearchParams): AuditFilter {
  return Object.fromEntries(FILTER_FIELDS.map((name) => [name, query.get(name)?.trim() ?? ""])) as AuditFilter;
}

/** An address without its empty filters. */
export function filledIn(filter: AuditFilter): Partial<AuditFilter> {
  return Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== ""));
}

/**
 * A filter as parameters of the gateway's operation, or the name of one that is no time. A time without an offset, as a
 * form sends it, is one in UTC.
 */
export function auditParameters(filter: AuditFilter): Record<string, string> | "start" | "end" {
  const parameters: Record<string, string> = {};
  for (const name of FILTER_FIELDS) {
    const value = filter[name];
    if (value === "") continue;
    if (name === "start" || name === "end") {
      const instant = instantOf(value);
      if (instant === null) return name;
      parameters[name] = instant;
    } else parameters[name === "request" ? "request_id" : name] = value;
  }
  return parameters;
}

const LOCAL = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?)?$/;
const WITH_OFFSET = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2})$/;

/** A typed time as ISO 8601 in UTC; null for what is none. */
function instantOf(text: string): string | null {
  if (!LOCAL.test(text) && !WITH_OFFSET.test(text)) return null;
  const ms = Date.parse(WITH_OFFSET.test(text) ? text : text.includes("T") ? `${text}Z` : `${text}T00:00Z`);
  return Number.isNaN(ms) ? null : new Date(ms).toISOString();
}

/** A time for the field of a form, which takes none with an offset: in UTC; "" for what is no time. */
export function fieldTime(text: string): string {
  return instantOf(text)?.slice(0, 16) ?? "";
}
