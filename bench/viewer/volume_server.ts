/** The embedded archive, and beside it volumes with texts whose images are the archive's. It prints where they are. */
import { startEmbeddedArchive } from "@/embedded/archive/archive_server.ts";
import { PAGE_HEIGHT, PAGE_WIDTH, pageImageUrl, pageName, pick, seededRandom } from "@/embedded/archive/catalogue.ts";
import { LOCAL_HTTP } from "@/lib/process/local_http.ts";

const VOLUME = "sample-2000-pages";
const CORS = { "access-control-allow-origin": "*" };
const WORDS = "hustrun Börta Månsdotter hafver sagt om gärdesgården vid Häggeby att Nämnden intygades skrift".split(
  " ",
);
const WORDS_A_LINE = 8;

/** Volumes by the first segment of their paths: pages, and lines of each. */
const VOLUMES: ReadonlyMap<string, { readonly pages: number; readonly lines: number }> = new Map([
  ["long", { pages: 2000, lines: 40 }],
  ["dense", { pages: 40, lines: 200 }],
]);

const archive = startEmbeddedArchive({ http: LOCAL_HTTP, host: "127.0.0.1", seed: 1, volumes: [] });
const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, (request) => {
  const { origin, pathname } = new URL(request.url);
  const [, name, file] = pathname.split("/");
  const volume = VOLUMES.get(name);
  if (pathname === "/blank") return page("<!doctype html><title>blank</title><p>blank");
  if (!volume) return new Response(null, { status: 404, headers: CORS });
  if (file === "manifest.json") return Response.json(manifest(`${origin}/${name}`, volume.pages), { headers: CORS });
  return new Response(alto(name, parseInt(file), volume.lines), {
    headers: { ...CORS, "content-type": "application/xml" },
  });
});
console.log(JSON.stringify({ archive: archive.url, volumes: `http://127.0.0.1:${server.addr.port}` }));

function page(html: string): Response {
  return new Response(html, { headers: { "content-type": "text/html; charset=utf-8" } });
}

function manifest(base: string, pages: number) {
  const size = { width: PAGE_WIDTH, height: PAGE_HEIGHT };
  return {
    "@context": "http://iiif.io/api/presentation/3/context.json",
    id: `${base}/manifest.json`,
    type: "Manifest",
    label: { sv: ["Mätvolym"] },
    items: Array.from({ length: pages }, (_, index) => {
      const id = `${base}/canvas/${index}`;
      const body = { id: pageImageUrl(archive.url, VOLUME, index + 1), type: "Image", ...size };
      const painting = { type: "Annotation", motivation: "painting", target: id, body };
      return {
        id,
        type: "Canvas",
        label: { none: [pageName(index + 1)] },
        ...size,
        seeAlso: [{ id: `${base}/${index}.xml`, type: "Dataset", format: "application/xml+alto" }],
        items: [{ type: "AnnotationPage", items: [painting] }],
      };
    }),
  };
}

/** A text of lines over the whole page; each page has a word of its own, `sida12`. */
function alto(volume: string, page: number, lines: number): string {
  const random = seededRandom("bench", volume, page);
  const height = Math.floor((PAGE_HEIGHT - 200) / lines);
  const text = Array.from({ length: lines }, (_, line) => {
    const words = Array.from(
      { length: WORDS_A_LINE },
      (_, at) => at + line === 0 ? `sida${page}` : pick(random, WORDS),
    );
    const strings = words.map((word, at) =>
      `<String CONTENT="${word}" HPOS="${100 + at * 170}" VPOS="${
        100 + line * height
      }" WIDTH="160" HEIGHT="${height}" ` +
      `WC="${(0.5 + random() / 2).toFixed(2)}"/>`
    );
    return `<TextLine ID="l${line}" HPOS="100" VPOS="${100 + line * height}" WIDTH="1400" HEIGHT="${height}">${
      strings.join("<SP/>")
    }</TextLine>`;
  });
  return `<?xml version="1.0"?><alto xmlns="http://www.loc.gov/standards/alto/ns-v4#"><Layout><Page ID="p" ` +
    `WIDTH="${PAGE_WIDTH}" HEIGHT="${PAGE_HEIGHT}"><PrintSpace><TextBlock ID="b">${
      text.join("")
    }</TextBlock></PrintSpace></Page></Layout></alto>`;
}
