import { currentLanguage } from "@/lib/pages/locale/language.ts";
import { favicon, pageTitle } from "@/lib/pages/page_sentences.ts";
import { createDefine } from "@/lib/site/define.ts";
import { PAGE_META_POLICY, THEME_SCRIPT } from "@/lib/site/policies.ts";
import type { State } from "@/lib/site/state.ts";

type Shown = Pick<State, "assets" | "title" | "troubled" | "isList">;

/** The document of every page: head with policy, theme, styles and scripts, then the body. */
export default createDefine<Shown>().layout(function App({ Component, state }) {
  const { assets, title, troubled = 0, isList = false } = state;
  const language = currentLanguage();
  const site = assets.scripts[language];
  const { script, preload } = isList ? site.list : site;
  return (
    <html lang={language}>
      <head>
        <meta charset="utf-8" />
        <meta http-equiv="Content-Security-Policy" content={PAGE_META_POLICY} />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <meta name="color-scheme" content="light dark" />
        <title>{pageTitle(title, troubled)}</title>
        <script dangerouslySetInnerHTML={{ __html: THEME_SCRIPT }} />
        <link rel="icon" href={favicon(troubled)} />
        <link rel="stylesheet" href={assets.stylesheet} />
        {preload.map((href) => <link key={href} rel="modulepreload" href={href} />)}
        <script src="/config.js" defer />
        <script type="module" src={script} />
        {assets.devScript && <script type="module" src={assets.devScript} />}
      </head>
      <body>
        <Component />
      </body>
    </html>
  );
});
