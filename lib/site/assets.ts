/** The built files of the site, as addresses of our own origin. */
export interface Assets {
  readonly script: string;
  readonly stylesheet: string;
  /** Chunks that every page needs, so that they are fetched beside the script and not after it. */
  readonly preload: readonly string[];
  /** Reloads the page when the server starts again; null but in development. */
  readonly devScript: string | null;
}
