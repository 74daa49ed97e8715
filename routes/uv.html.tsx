import ManifestViewer from "@/islands/manifest_viewer.tsx";
import { VIEWER_LABELS } from "@/lib/pages/viewer/viewer_sentences.ts";
import { userOf } from "@/lib/results/session_check.ts";
import { page } from "@/lib/site/define.ts";
import { THEME_SCRIPT, viewerPolicy } from "@/lib/site/policies.ts";
import { define } from "@/lib/site/state.ts";
import { openStaticFile } from "@/lib/site/static_file.ts";
import { fileResponse, viewerFilePolicy } from "@/lib/site/static_files.ts";

/**
 * `/uv.html`: the manifest viewer. The manifest is named in the fragment, which only the browser sees. An operator's own
 * `uv.html` in the folder of further files is served in place of ours.
 */
export const handler = define.handlers({
  async GET({ req, state, info }) {
    const file = await openStaticFile(state.staticFolder, "uv.html");
    if (file) {
      return await fileResponse(info, file, new Headers({ "Cache-Control": "no-cache" }), () => viewerFilePolicy(file));
    }
    state.title = VIEWER_LABELS.viewer;
    state.user = userOf(await state.session(req));
    state.policy = viewerPolicy(`<script>${THEME_SCRIPT}</script>`);
    return page(undefined);
  },
});

export default define.page<typeof handler>(function Viewer({ req, state }) {
  return <ManifestViewer resultsUrl={state.resultsUrl(req)} />;
});
