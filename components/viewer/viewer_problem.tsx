import { loginPath } from "@/lib/presentation/page_paths.ts";
import { LABELS } from "@/lib/presentation/page_sentences.ts";
import { VIEWER_LABELS, type ViewerProblem, viewerProblemSentence } from "@/lib/presentation/viewer_sentences.ts";

interface ViewerProblemProps {
  readonly problem: ViewerProblem;
  /** Address of the manifest; null where none is named. */
  readonly url: string | null;
  /** The file is one of this site's results, so that its login is ours. */
  readonly isOurs: boolean;
  readonly onRetry: () => void;
  readonly onOpen: (url: string) => void;
}

/** What stands in place of the image while there is no manifest: why, and the ways on. */
export function ViewerProblemNotice({ problem, url, isOurs, onRetry, onOpen }: ViewerProblemProps) {
  const needsLogin = isOurs && (problem === 401 || problem === 403);
  return (
    <div class="viewer-problem">
      <p role="alert">{viewerProblemSentence(problem, isOurs)}</p>
      {url === null
        ? (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              onOpen(String(new FormData(event.currentTarget).get("manifest")));
            }}
          >
            <label>
              {VIEWER_LABELS.manifestAddress}
              <input name="manifest" type="url" required />
            </label>
            <button class="btn" type="submit">{VIEWER_LABELS.open}</button>
          </form>
        )
        : (
          <p class="ways">
            {needsLogin && (
              <a class="btn" href={loginPath(location.pathname + location.search + location.hash)}>{LABELS.logIn}</a>
            )}
            <button class="btn" type="button" onClick={onRetry}>{VIEWER_LABELS.tryAgain}</button>
            <a class="btn" href={url} rel="noreferrer">{VIEWER_LABELS.openFile}</a>
          </p>
        )}
      <p>
        <a href="/">{LABELS.toCampaigns}</a>
      </p>
    </div>
  );
}
