import { signal } from "@preact/signals";

import { ConfidenceLegend } from "@/components/viewer/confidence_legend.tsx";
import { ManifestFacts } from "@/components/viewer/about_drawer.tsx";
import { PageDock, ViewerProblemNotice, ViewerTools } from "@/components/viewer/viewer_parts.tsx";
import { ImageChoices, PageMarks } from "@/components/viewer/page_stage.tsx";
import { ContentsList } from "@/components/viewer/contents_list.tsx";
import { type LitLine, TextPanel } from "@/components/viewer/text_panel.tsx";
import { ThumbnailList } from "@/components/viewer/thumbnail_list.tsx";
import { ViewerPanels } from "@/lib/pages/viewer/viewer_panels_client.ts";
import { ViewerStore } from "@/lib/pages/viewer/viewer_store_client.ts";
import { PageTexts } from "@/lib/pages/viewer/page_texts_client.ts";
import { VIEWER_LABELS, type ViewerProblem } from "@/lib/pages/viewer/viewer_sentences.ts";
import type { TextLine } from "@/lib/pages/viewer/viewer_text.ts";
import { at, BASE, canvas3, image3, manifest3, manifestOf } from "@/tests/lib/pages/iiif/manifests.ts";
import { Part, State } from "./part.tsx";

/** The components of the manifest viewer, but for the image and the search, which only a browser draws. */
export function ViewerParts() {
  return (
    <>
      <Part title="Bar above the image">
        {Object.entries(BARS).map(([name, bar]) => (
          <State key={name} name={name}>
            <div class="viewer">
              <ViewerTools {...bar} panels={PANELS} run={nothing} />
            </div>
          </State>
        ))}
      </Part>
      <Part title="Controls of the page and of the view">
        <div class="viewer">
          <section class="page-stage">
            <PageDock store={STORE} zoom={45} canFullScreen panels={PANELS} run={nothing} />
          </section>
        </div>
      </Part>
      <Part title="In place of an image">
        {PROBLEMS.flatMap((problem) =>
          [true, false].map((isOurs) => (
            <State key={`${problem} ${isOurs}`} name={`${problem}, ${isOurs ? "a result of this site" : "elsewhere"}`}>
              <div class="viewer">
                <section class="page-stage">
                  <ViewerProblemNotice
                    problem={problem}
                    url={problem === "none named" || problem === "refused address" ? null : BASE}
                    isOurs={isOurs}
                    onRetry={nothing}
                    onOpen={nothing}
                  />
                </section>
              </div>
            </State>
          ))
        )}
      </Part>
      <Part title="Pages in small, with hits of a search">
        <div class="viewer">
          <ThumbnailList store={STORE} hits={new Map([[1, 3]])} />
        </div>
      </Part>
      <Part title="Text of pages: read, being read, empty, not there, closed, none published">
        <div class="viewer">
          <TextPanel
            store={STORE}
            texts={TEXTS}
            lit={signal<LitLine | null>({ index: 0, line: 1, from: "image" })}
            hits={signal([])}
            currentHit={signal(null)}
            isOurs={() => true}
            onLine={nothing}
            onClose={nothing}
          />
        </div>
      </Part>
      <Part title="Marks on a page: doubtful lines, the lit line, hits">
        <div class="page-marks">
          <PageMarks lines={LINES} lit={0} hits={[LINES[3].box]} currentHit={[LINES[4].box]} />
        </div>
        <ConfidenceLegend />
      </Part>
      <Part title="Choice of images, contents and facts">
        <div class="drawer">
          <ImageChoices store={STORE} />
          <h3 id="contents-title">{VIEWER_LABELS.contents}</h3>
          <p class="sr" id="contents-keys">{VIEWER_LABELS.contentsKeys}</p>
          <ContentsList ranges={MANIFEST.ranges} store={STORE} />
          <ManifestFacts manifest={MANIFEST} />
        </div>
      </Part>
    </>
  );
}

const PANELS = new ViewerPanels();
const TITLE = "Minutes of the court of appeal, 1698–1702, with a register of names and of places";
const BARS = {
  "volume of a campaign, with its log": {
    title: "A0065852",
    volume: "A0065852",
    pages: ["12"],
    note: "National Archives",
    campaign: { namespace: "batch-default", name: "bergskollegium-1720" },
    runLog: "/log",
  },
  "manifest of another site, with a long title and two pages": {
    title: TITLE,
    volume: null,
    pages: ["12 v", "13 r"],
    note: "images.example.org",
    campaign: null,
    runLog: null,
  },
};

const PROBLEMS: readonly ViewerProblem[] = [
  "none named",
  "refused address",
  "not JSON",
  "not a manifest",
  "a collection",
  "no canvases",
  "too large",
  "unreachable",
  "slow",
  401,
  403,
  404,
  503,
];

/** Pages by what becomes of their text. */
const PAGES = ["read", "reading", "empty", "404", "401", "none"] as const;
const MANIFEST = manifestOf(
  manifest3(
    PAGES.map((name) =>
      canvas3(
        name,
        [{ type: "Choice", items: [image3(name, { label: { en: ["Daylight"] } }), image3(`${name}-uv`)] }],
        {
          ...(name === "none" ? {} : {
            seeAlso: [{
              id: at(`${name}.xml`),
              type: "Dataset",
              format: "application/xml",
              profile: "http://www.loc.gov/standards/alto/v4",
            }],
          }),
        },
      )
    ),
    {
      label: { en: [TITLE] },
      summary: { en: ["Fair copies, bound in one volume."] },
      metadata: [
        { label: { en: ["Reference code"] }, value: { en: ["SE/RA/420422/01"] } },
        { label: { en: ["Hands"] }, value: { en: ["Clerk of the court", "Unknown"] } },
      ],
      rights: "http://creativecommons.org/publicdomain/mark/1.0/",
      requiredStatement: { label: { en: ["Attribution"] }, value: { en: ["National Archives"] } },
      navDate: "1698-01-01T00:00:00Z",
      provider: [{
        id: "https://archive.example.org/",
        type: "Agent",
        label: { en: ["National Archives"] },
        homepage: [{ id: "https://archive.example.org/", type: "Text", label: { en: ["Home page"] } }],
      }],
      behavior: ["paged"],
      structures: [
        range("first", "First session", [0, 1], [range("names", "Register of names", [1])]),
        range("second", "Second session", [2]),
      ],
    },
  ),
);

function range(name: string, label: string, pages: readonly number[], parts: readonly unknown[] = []): unknown {
  return {
    id: at(`range/${name}`),
    type: "Range",
    label: { en: [label] },
    items: [...pages.map((page) => ({ id: at(`canvas/${PAGES[page]}`), type: "Canvas" })), ...parts],
  };
}

const CONFIDENCES = [0.98, 0.84, 0.42, 0.91, 0.77];
const LINES = CONFIDENCES.map((confidence, place) => {
  const step = confidence > 0.9 ? "high" : confidence > 0.7 ? "medium" : "low";
  const box = { x: 0.1, y: 0.1 + place * 0.15, width: 0.8, height: 0.08 };
  const text = `line ${place + 1}`;
  return { text, words: [], starts: [], direction: null, step, confidence, box, isFirst: place === 0 } as const;
}) satisfies readonly TextLine[];

const ALTO = (lines: string) =>
  `<alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page ID="p" WIDTH="1000" HEIGHT="1500" PC="0.87"><PrintSpace>` +
  `<TextBlock ID="b">${lines}</TextBlock></PrintSpace></Page></Layout></alto>`;
const READ_LINES = CONFIDENCES.map((confidence, place) =>
  `<TextLine ID="l${place}" HPOS="100" VPOS="${100 + place * 60}" WIDTH="800" HEIGHT="50">` +
  `<String CONTENT="Anno" WC="${confidence}"/><SP/><String CONTENT="${1698 + place}" WC="${confidence}"/></TextLine>`
).join("");

const TEXTS = new PageTexts((address) => {
  const name = /([^/]+)\.xml$/.exec(String(address))?.[1];
  if (name === "reading") return new Promise(() => {});
  if (name === "read") return Promise.resolve(new Response(ALTO(READ_LINES)));
  if (name === "empty") return Promise.resolve(new Response(ALTO("")));
  return Promise.resolve(new Response(null, { status: Number(name) }));
});
for (const [place, canvas] of MANIFEST.canvases.entries()) {
  const text = TEXTS.of(canvas);
  if (text === null || PAGES[place] === "reading") continue;
  await new Promise<void>((resolve) => text.subscribe(({ kind }) => kind !== "reading" && resolve()));
}

/** A store that shows every page at once. */
const STORE = Object.assign(
  new ViewerStore(() => Promise.reject(new Error("the catalogue reads no manifest"))),
  { shown: signal(PAGES.map((_, place) => place)), shownInOrder: signal(PAGES.map((_, place) => place)) },
);
STORE.manifest.value = MANIFEST;

// Browser properties that components read while they render.
Object.assign(globalThis, { innerWidth: 1280, innerHeight: 900, devicePixelRatio: 1 });
Object.defineProperty(globalThis, "location", { value: new URL("http://here.example/uv.html"), configurable: true });

function nothing(): void {}
