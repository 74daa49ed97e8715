import type { Page } from "playwright-core";

/** The address of a made-up archive. */
export const ARCHIVE = "https://arkiv.example";
/** A text that a page must not take for markup. */
export const HOSTILE = "<img src=x onerror=alert(1)>";
/** Lets any site read a file. */
export const CORS = { "Access-Control-Allow-Origin": "*" };

interface Volume {
  readonly pages: number;
  readonly label?: string;
  readonly extra?: Readonly<Record<string, unknown>>;
  /** The text of a page by the name of its file. */
  readonly text?: (name: string) => string;
}

/** A manifest of plain images, each page with a text. */
export function volumeManifest({ pages, label = "Växjö kyrkobok", extra = {} }: Volume) {
  return {
    "@context": "http://iiif.io/api/presentation/3/context.json",
    id: `${ARCHIVE}/manifest.json`,
    type: "Manifest",
    label: { sv: [label] },
    items: Array.from({ length: pages }, (_, index) => ({
      id: `${ARCHIVE}/canvas/${index}`,
      type: "Canvas",
      label: { none: [`f. ${index + 1}`] },
      width: 600,
      height: 900,
      seeAlso: [{ id: `${ARCHIVE}/alto/${index}.xml`, type: "Dataset", format: "application/xml+alto" }],
      thumbnail: [{ id: `${ARCHIVE}/thumb/${index}.svg`, type: "Image" }],
      items: [{
        type: "AnnotationPage",
        items: [{
          type: "Annotation",
          motivation: "painting",
          target: `${ARCHIVE}/canvas/${index}`,
          body: { id: `${ARCHIVE}/image/${index}.svg`, type: "Image", width: 600, height: 900 },
        }],
      }],
    })),
    ...extra,
  };
}

const alto = (page: string) =>
  `<alto><Layout><Page WIDTH="1200" HEIGHT="1800" PC="0.77"><PrintSpace><TextBlock>${
    ["Åskan går över", HOSTILE, "Växjö domkyrka"].map((text, line) =>
      `<TextLine HPOS="200" VPOS="${200 + line * 400}" WIDTH="800" HEIGHT="100"><String CONTENT="${
        `${text} ${page}`.replaceAll("<", "&lt;")
      }" WC="${[0.95, 0.8, 0.5][line]}"/></TextLine>`
    ).join("")
  }</TextBlock></PrintSpace></Page></Layout></alto>`;

const image = (text: string) =>
  `<svg xmlns="http://www.w3.org/2000/svg" width="600" height="900"><rect width="600" height="900" fill="#f4ead3"/>` +
  `<text x="50" y="80" font-size="40">${text}</text></svg>`;

/** Serves a volume at the archive's address. @returns the requests for its files, in order */
export async function serve(page: Page, volume: Volume): Promise<string[]> {
  const requests: string[] = [];
  await page.route(`${ARCHIVE}/**`, (route) => {
    const { pathname } = new URL(route.request().url());
    requests.push(pathname);
    const [, kind, name = ""] = pathname.split("/");
    const text = volume.text ?? alto;
    if (kind === "alto") return route.fulfill({ body: text(name), contentType: "application/xml", headers: CORS });
    if (kind === "manifest.json") return route.fulfill({ json: volumeManifest(volume), headers: CORS });
    return route.fulfill({ body: image(name), contentType: "image/svg+xml", headers: CORS });
  });
  return requests;
}

/** Opens a manifest in the viewer. */
export async function openViewer(page: Page, canvas = 0, url = `${ARCHIVE}/manifest.json`): Promise<void> {
  await page.goto("about:blank");
  await page.goto(`uv.html#?manifest=${encodeURIComponent(url)}&cv=${canvas}`);
}

/** Serves a volume and opens it in the viewer. @returns the requests for its files, in order */
export async function openVolume(page: Page, volume: Volume, canvas = 0): Promise<string[]> {
  const requests = await serve(page, volume);
  await openViewer(page, canvas);
  return requests;
}
