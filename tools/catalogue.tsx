import { httpApp, routesOf } from "@/lib/http/app.ts";
import { siteAssets } from "@/lib/site/build.ts";
import { BUILD_PATH, buildFolder } from "@/lib/site/built_site.ts";
import { inLanguageOf } from "@/lib/site/page_language.ts";
import { pageResponse } from "@/lib/site/page_response.ts";
import { staticFiles } from "@/routes/static_files.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { CampaignParts } from "@/tools/catalogue/campaign_parts.tsx";
import { StorageParts } from "@/tools/catalogue/storage_parts.tsx";
import { TransferParts } from "@/tools/catalogue/transfer_parts.tsx";

/** Every component in each of its states, with the site's stylesheet: what a change of a style changes. */
const PAGES = [
  { path: "/", title: "Campaigns", Content: CampaignParts },
  { path: "/storage", title: "Storage", Content: StorageParts },
  { path: "/transfers", title: "Uploads, tasks and dialogs", Content: TransferParts },
] as const;

/** Shows each dialog in its place, the dock inside of its frame, and what is folded. */
const STYLES = `
dialog { display: block; position: static; margin: var(--s3) 0; }
.state { margin: var(--s3) 0; }
.state ul { list-style: none; padding: 0; }
.frame { contain: layout; min-height: 480px; }
.unfinished::details-content { content-visibility: visible; }
`;
const STYLES_PATH = "/catalogue.css";

function Catalogue({ title, Content }: typeof PAGES[number]) {
  return (
    <main id="main">
      <link rel="stylesheet" href={STYLES_PATH} />
      <h1 lang="en">Catalogue: {title}</h1>
      <nav aria-label="Catalogue" lang="en" class="dots">
        {PAGES.map(({ path, title }) => <a key={path} href={path}>{title}</a>)}
      </nav>
      <Content />
    </main>
  );
}

/** Serves the catalogue on a free port of this machine, with the components in the language of the browser. */
async function serveCatalogue(): Promise<void> {
  const assets = await siteAssets();
  const app = httpApp({ log: NO_LOG });
  const add = routesOf(app);
  const resultsUrl = () => "";
  for (const page of PAGES) {
    add(
      page.path,
      ({ request }) =>
        Promise.resolve(
          inLanguageOf(request, () =>
            pageResponse(request, { title: "Catalogue", body: <Catalogue {...page} /> }, { assets, resultsUrl: "" })),
        ),
    );
  }
  add(STYLES_PATH, () => Promise.resolve(new Response(STYLES, { headers: { "Content-Type": "text/css" } })));
  add(`${BUILD_PATH}*`, staticFiles({ folder: buildFolder(), prefix: BUILD_PATH, isBuild: true, resultsUrl }));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request, info) => app.fetch(request, info),
  );
  console.log(`Site        http://127.0.0.1:${server.addr.port}/`);
}

await serveCatalogue();
