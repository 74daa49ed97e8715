import { loginPath } from "@/lib/presentation/page_paths.ts";
import { type ViewerProblem, viewerProblemSentence } from "@/lib/presentation/viewer_sentences.ts";

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
              Address of a manifest
              <input name="manifest" type="url" required />
            </label>
            <button class="btn" type="submit">Open</button>
          </form>
        )
        : (
          <p class="ways">
            {needsLogin && (
              <a class="btn" href={loginPath(location.pathname + location.search + location.hash)}>Log in</a>
            )}
            <button class="btn" type="button" onClick={onRetry}>Try again</button>
            <a class="btn" href={url} rel="noreferrer">Open the file itself</a>
          </p>
        )}
      <p>
        <a href="/">Back to the campaigns</a>
      </p>
    </div>
  );
}
