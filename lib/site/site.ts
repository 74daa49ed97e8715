import type { Assets } from "./assets.ts";

/** Who is logged in: nobody (null), or nobody can tell because the results service does not answer. */
export type Session = { readonly user: string } | null | "outage";

/** What every page needs. */
export interface SiteDeps {
  readonly assets: Assets;
  /** Base of result URLs as the browser of this request reaches it; "" in a site without a cluster. */
  resultsUrl(request: Request): string;
  session(request: Request): Promise<Session>;
}
