import type { Language } from "@/lib/presentation/locale/language.ts";

/** The built files of the site, as addresses of our own origin. */
export interface Assets {
  readonly scripts: Readonly<Record<Language, SiteScripts>>;
  readonly stylesheet: string;
  /** Reloads the page when the server starts again; null but in development. */
  readonly devScript: string | null;
}

/** The scripts of a page. */
export interface PageScripts {
  readonly script: string;
  /** Chunks that the page needs at once, so that they are fetched beside the script and not after it. */
  readonly preload: readonly string[];
}

/** The scripts of the site's pages in one language. */
export interface SiteScripts extends PageScripts {
  /** Those of the list of campaigns, which is most visited: smaller than the chunks with the same code. */
  readonly list: PageScripts;
}

/** The user who is logged in, null without one, or `outage` while the results service does not answer. */
export type Session = { readonly user: string } | null | "outage";

/** The name of the user who is logged in; null without one, or where that is not known. */
export function userOf(session: Session): string | null {
  return session === null || session === "outage" ? null : session.user;
}

/** What every page needs. */
export interface SiteDeps {
  readonly assets: Assets;
  /** Whether this site has storage pages. */
  readonly hasStorage: boolean;
  /** Base of result URLs as the browser of this request reaches it; "" in a site without a cluster. */
  resultsUrl(request: Request): string;
  session(request: Request): Promise<Session>;
}
