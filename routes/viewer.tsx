import ManifestViewer from "@/islands/manifest_viewer.tsx";
import type { RequestContext } from "@/lib/http/request_context.ts";
import { pageResponse } from "@/lib/site/page_response.tsx";
import { type SiteDeps, userOf } from "@/lib/site/site.ts";
import { openStaticFile } from "@/lib/site/static_file.ts";
import { viewerPolicy } from "@/lib/site/policies.ts";
import { VIEWER_LABELS } from "@/lib/pages/viewer/viewer_sentences.ts";
import { Shell } from "@/routes/frame/shell.tsx";
import { fileResponse, viewerFilePolicy } from "./static_files.ts";

/** The addresses of the manifest viewer. */
export const VIEWER_PATHS = ["/uv.html", "/uv", "/uv.html/", "//uv.html"] as const;

interface ViewerPageDeps extends SiteDeps {
  /** Folder of further files of the site. */
  readonly staticFolder: string;
}

/**
 * `/uv.html`: the manifest viewer. The manifest is named in the fragment, which only the browser sees. An operator's own
 * `uv.html` in the folder of further files is served in place of ours.
 */
export function viewerPage(deps: ViewerPageDeps) {
  return async function viewerPage(context: RequestContext): Promise<Response> {
    const file = await openStaticFile(deps.staticFolder, "uv.html");
    if (file) {
      return await fileResponse(
        context,
        file,
        new Headers({ "Cache-Control": "no-cache" }),
        () => viewerFilePolicy(file),
      );
    }
    const request = context.request;
    const session = await deps.session(request);
    const user = userOf(session);
    const resultsUrl = deps.resultsUrl(request);
    return pageResponse(request, {
      title: VIEWER_LABELS.viewer,
      body: (
        <Shell user={user} current={null} hasStorage={deps.hasStorage} here={context.target}>
          <ManifestViewer resultsUrl={resultsUrl} />
        </Shell>
      ),
    }, { assets: deps.assets, resultsUrl, policy: viewerPolicy });
  };
}
