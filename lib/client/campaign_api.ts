import type { JobDetail, JobSummary } from "@/lib/campaigns/projection/types.ts";
import { isObject } from "@/lib/std/untrusted.ts";
import { SENTENCES, unreachableSentence } from "@/lib/presentation/page_sentences.ts";

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

/** ms until an answer is given up. */
const TIMEOUT_MS = 30_000;

/** The read API as the browser sees it. */
export function campaignApi(base: string, request: typeof fetch): CampaignApi {
  async function get<T>(path: string, signal: AbortSignal, read: (response: Response, body: unknown) => T | null) {
    return await answerOf<T>(async () => {
      const response = await request(base + path, {
        signal: AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]),
        headers: { Accept: "application/json" },
        cache: "no-store",
      });
      return { response, body: await response.json().catch(() => undefined) };
    }, read);
  }
  return {
    list: (reaped, signal) =>
      get(`/jobs?reaped=${reaped}`, signal, (response, body) => {
        if (!Array.isArray(body)) return null;
        const jobs = body.filter(isSummary);
        const skipped = body.length - jobs.length;
        return jobs.length === 0 && skipped > 0 ? null : {
          jobs,
          skipped,
          reapedTotal: countOf(response, "X-Reaped-Total") ?? jobs.filter(({ jobGone }) => jobGone).length,
          ageSeconds: countOf(response, "X-Data-Age"),
        };
      }),
    detail: ({ namespace, name }, { offset, limit }, signal) =>
      get(
        `/jobs/${encodeURIComponent(namespace)}/${encodeURIComponent(name)}?offset=${offset}&limit=${limit}`,
        signal,
        (_response, body) => isDetail(body) ? body : null,
      ),
  };
}

async function answerOf<T>(
  send: () => Promise<{ response: Response; body: unknown }>,
  read: (response: Response, body: unknown) => T | null,
): Promise<Answer<T>> {
  try {
    const { response, body } = await send();
    if (response.status === 401) return { kind: "login" };
    if (response.status === 404) return { kind: "gone" };
    if (!response.ok) return { kind: "unreachable", sentence: unreachableSentence(response.status, body) };
    const value = read(response, body);
    if (value !== null) return { kind: "ok", value };
    return { kind: "unreachable", sentence: SENTENCES.unreadable };
  } catch {
    return { kind: "unreachable", sentence: SENTENCES.serverUnreachable };
  }
}

/** Whether a row can be a card; its other members are as the operation's schema has them. */
function isSummary(row: unknown): row is JobSummary {
  return isObject(row) && typeof row.namespace === "string" && typeof row.name === "string" &&
    typeof row.phase === "string" && isObject(row.counts);
}

function isDetail(body: unknown): body is JobDetail {
  return isObject(body) && Array.isArray(body.volumes);
}

/** A header that holds a whole number; null where it is absent or malformed. */
function countOf(response: Response, header: string): number | null {
  const text = response.headers.get(header) ?? "";
  return /^\d{1,9}$/.test(text) ? Number(text) : null;
}
