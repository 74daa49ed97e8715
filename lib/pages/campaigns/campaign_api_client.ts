import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { SENTENCES, unreachableSentence } from "@/lib/pages/page_sentences.ts";
import { isObject } from "@/lib/std/untrusted.ts";

export interface CampaignList {
  readonly jobs: readonly JobSummary[];
  /** Rows that could not be read. */
  readonly skipped: number;
  /** All campaigns whose Job is gone, also those that were not requested. */
  readonly reapedTotal: number;
  /** How old the list is, in seconds, where the cluster could not be followed of late; else null. */
  readonly ageSeconds: number | null;
}

/** The result of a read; `login`: there is no session, `gone`: there is no such campaign. */
export type Answer<T> =
  | { readonly kind: "ok"; readonly value: T }
  | { readonly kind: "login" }
  | { readonly kind: "gone" }
  | { readonly kind: "unreachable"; readonly sentence: string };

export interface CampaignApi {
  /** @param reaped newest campaigns without a Job that are wanted */
  list(reaped: number, signal: AbortSignal): Promise<Answer<CampaignList>>;
  detail(
    campaign: Pick<JobSummary, "namespace" | "name">,
    page: { readonly offset: number; readonly limit: number },
    signal: AbortSignal,
  ): Promise<Answer<JobDetail>>;
}

/** Request timeout, ms. */
const TIMEOUT_MS = 30_000;

/** Client of the read API. Checks only the members that a card needs: a bad row must not hide the others. */
export function campaignApi(base: string, request: typeof fetch): CampaignApi {
  /** @param read returns null for a body that is none of the operation, such as the page of a proxy */
  async function get<T>(
    path: string,
    signal: AbortSignal,
    read: (response: Response, body: unknown) => T | null,
  ): Promise<Answer<T>> {
    try {
      const response = await request(base + path, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: { Accept: "application/json" },
        cache: "no-store",
      });
      const body = await response.json().catch(() => undefined);
      if (response.status === 401) return { kind: "login" };
      if (response.status === 404) return { kind: "gone" };
      if (!response.ok) return { kind: "unreachable", sentence: unreachableSentence(response.status, body) };
      const value = read(response, body);
      return value === null ? { kind: "unreachable", sentence: SENTENCES.unreadable } : { kind: "ok", value };
    } catch {
      return { kind: "unreachable", sentence: SENTENCES.serverUnreachable };
    }
  }
  return {
    list: (reaped, signal) =>
      get(`/jobs?reaped=${reaped}`, signal, (response, body) => {
        if (!Array.isArray(body)) return null;
        const jobs = body.filter(isSummary);
        const skipped = body.length - jobs.length;
        if (jobs.length === 0 && skipped > 0) return null;
        const reapedTotal = countOf(response, "X-Reaped-Total") ?? jobs.filter(({ jobGone }) => jobGone).length;
        return { jobs, skipped, reapedTotal, ageSeconds: countOf(response, "X-Data-Age") };
      }),
    detail: ({ namespace, name }, { offset, limit }, signal) =>
      get(
        `/jobs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}?offset=${offset}&limit=${limit}`,
        signal,
        (_response, body) => isDetail(body) ? body : null,
      ),
  };
}

function isSummary(row: unknown): row is JobSummary {
  return isObject(row) && typeof row.namespace === "string" && typeof row.name === "string" &&
    typeof row.phase === "string" && isObject(row.counts);
}

function isDetail(body: unknown): body is JobDetail {
  return isObject(body) && Array.isArray(body.volumes);
}

/** A header with a whole number; null if it is absent or malformed. */
function countOf(response: Response, header: string): number | null {
  const text = response.headers.get(header) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}

declare global {
  // Set by /config.js.
  var API_BASE: string | undefined;
  var RESULTS_BASE: string | undefined;
}

/** Base of the read API. */
export function apiBase(): string {
  return globalThis.API_BASE ?? "/api/v1";
}
