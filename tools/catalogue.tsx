import { httpApp, routesOf } from "@/lib/http/app.ts";
import { siteAssets } from "@/lib/site/build.ts";
import { BUILD_PATH, buildFolder } from "@/lib/site/site.ts";
import { inLanguageOf } from "@/lib/site/page_language.ts";
import type { Context } from "@/lib/site/define.ts";
import { mountPages } from "@/lib/site/mount_pages.tsx";
import { pagePolicy } from "@/lib/site/policies.ts";
import type { State } from "@/lib/site/state.ts";
import App from "@/routes/_app.tsx";
import { staticFiles } from "@/lib/site/static_files.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { toolArguments } from "./arguments.ts";
import { CampaignParts } from "@/tools/catalogue/campaign_parts.tsx";
import { StorageParts } from "@/tools/catalogue/storage_parts.tsx";
import { RecordParts } from "@/tools/catalogue/record_parts.tsx";
import { TransferParts } from "@/tools/catalogue/transfer_parts.tsx";
import { ViewerParts } from "@/tools/catalogue/viewer_parts.tsx";

/** Every component in each of its states, with the site's stylesheet: what a change of a style changes. */
const PAGES = [
  { path: "/", title: "Campaigns", Content: CampaignParts },
  { path: "/storage", title: "Storage", Content: StorageParts },
  { path: "/records", title: "Fixity checks and audit trail", Content: RecordParts },
  { path: "/transfers", title: "Uploads, tasks and dialogs", Content: TransferParts },
  { path: "/viewer", title: "Manifest viewer", Content: ViewerParts },
] as const;

/** Shows each dialog and drawer in its place, docks and viewers inside of their frames, and what is folded. */
const STYLES = `
dialog { display: block; position: static; margin: var(--s3) 0; }
.state { margin: var(--s3) 0; }
nav.dots a { display: inline-block; min-height: 24px; }
.state ul { list-style: none; padding: 0; }
.frame { contain: layout; min-height: 480px; }
.unfinished::details-content { content-visibility: visible; }
body:has(.viewer) { display: block; height: auto; }
main:has(.viewer) { max-width: 1180px; padding: var(--s4); }
main:has(.viewer) .viewer { contain: layout; height: auto; grid-template-rows: auto auto; }
main:has(.viewer) :is(.viewer-problem, .drawer, .image-choices, .thumbs li) { position: static; translate: none; }
main:has(.viewer) .drawer { box-sizing: border-box; width: auto; height: auto; max-width: 100%; }
main:has(.viewer) .image-choices { display: block; margin: var(--s3) 0; }
main:has(.viewer) .thumbs ol { height: auto; }
main:has(.viewer) .page-stage { min-height: 90px; }
main:has(.viewer) :is(.thumbs, .text-panel) { height: 480px; }
main > section > .page-marks { height: 240px; background: #efe3c8; }
`;
const STYLES_PATH = "/catalogue.css";

type CatalogueState = Pick<State, "assets" | "title" | "troubled" | "isList" | "policy">;

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
  const frame = { App, layouts: [], middleware: [({ req, next }: Context<CatalogueState>) => inLanguageOf(req, next)] };
  const routes = PAGES.map((page) => ({
    path: page.path,
    name: "catalogue",
    module: { default: () => <Catalogue {...page} /> },
  }));
  mountPages<CatalogueState>(add, routes, frame, { assets, title: "Catalogue", policy: pagePolicy("") });
  add(STYLES_PATH, () => Promise.resolve(new Response(STYLES, { headers: { "Content-Type": "text/css" } })));
  add(`${BUILD_PATH}*`, staticFiles({ folder: buildFolder(), prefix: BUILD_PATH, isBuild: true, resultsUrl }));
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    (request, info) => app.fetch(request, info),
  );
  console.log(`Site        http://127.0.0.1:${server.addr.port}/`);
}

toolArguments("deno run --config deno.test.json -A tools/catalogue.tsx");
await serveCatalogue();
