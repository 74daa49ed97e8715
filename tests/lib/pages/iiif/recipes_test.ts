/** Manifests written after the recipes of the IIIF cookbook (https://iiif.io/api/cookbook/), by their numbers. */
import assert from "node:assert/strict";
import { thumbnailOf } from "@/lib/pages/iiif/image_service.ts";
import { type Canvas, isPaged, type Manifest, spreadsOf, standInOf } from "@/lib/pages/iiif/manifest.ts";
import { noImageSentence } from "@/lib/pages/viewer/viewer_sentences.ts";
import {
  at,
  canvas2,
  canvas3,
  image3,
  manifest2,
  manifest3,
  manifestOf,
  type Node,
  pages3,
  served2,
  served3,
} from "./manifests.ts";

const tested = new Set<string>();

/** A test of what the model holds of a recipe's manifest. */
function recipe(
  number: string,
  what: string,
  json: () => Node,
  check: (manifest: Manifest) => void,
  languages = ["en"],
): void {
  tested.add(number);
  Deno.test(`recipe ${number}: ${what}`, () => {
    check(manifestOf(json(), languages));
  });
}

const labels = (canvases: readonly Canvas[]) => canvases.map(({ label }) => label);
const page = (index: number) => ({ id: at(`canvas/p${index}`), type: "Canvas" });
const range = (name: string, items: readonly Node[], more: Node = {}) => ({
  id: at(`range/${name}`),
  type: "Range",
  label: { en: [name] },
  items,
  ...more,
});

recipe("0001", "a single image file", () => manifest3([canvas3("p1", [image3("one")])]), ({ canvases: [canvas] }) => {
  assert.deepEqual([canvas.width, canvas.height, canvas.images.length], [1000, 1500, 1]);
  const { source } = canvas.images[0].choices[0];
  assert.deepEqual([source.href, source.width, source.service], [at("one.jpg"), 2000, null]);
});

recipe("0004", "a canvas larger than its image", () => {
  return manifest3([canvas3("p1", [image3("one", { width: 100, height: 150 })])]);
}, ({ canvases: [{ width, images: [{ choices: [{ source }], target }] }] }) => {
  assert.deepEqual([width, source.width, target], [1000, 100, null]);
});

recipe("0005", "an image service", () => manifest3([canvas3("p1", [served3("p1")])]), ({ canvases: [canvas] }) => {
  const { service } = canvas.images[0].choices[0].source;
  assert.deepEqual([service?.id, service?.version, service?.level], ["https://images.example.org/p1", 3, 1]);
});

const inLanguages = () =>
  manifest3(pages3(1), {
    label: { en: ["Whistler's Mother"], fr: ["La Mère de Whistler"] },
    metadata: [{ label: { en: ["Creator"], fr: ["Auteur"] }, value: { none: ["Whistler, James"] } }],
  });
recipe("0006", "labels in the reader's language", inLanguages, ({ label, metadata }) => {
  assert.equal(label, "La Mère de Whistler");
  assert.deepEqual(metadata, [{ label: "Auteur", values: ["Whistler, James"] }]);
}, ["sv", "fr-CA"]);
recipe("0006", "labels in the first language where the reader's is missing", inLanguages, ({ label }) => {
  assert.equal(label, "Whistler's Mother");
}, ["fi"]);

recipe("0007", "HTML in values becomes text", () => {
  const html = '<p>By <a href="https://example.org" onclick="x()">A &amp; B</a><br/><i>later</i></p>';
  const value = { en: [html, "<script>alert(1)</script>", "a < b"] };
  return manifest3(pages3(1), { summary: { en: [html] }, requiredStatement: { label: { en: ["By"] }, value } });
}, ({ summary, requiredStatement }) => {
  assert.equal(summary, "By A & B\nlater");
  assert.deepEqual(requiredStatement?.values, ["By A & B\nlater", "alert(1)", "a < b"]);
});

recipe("0008", "rights and the required statement", () => {
  const requiredStatement = { label: { en: ["Attribution"] }, value: { en: ["Provided by the Archive"] } };
  return manifest3(pages3(1), { rights: "http://creativecommons.org/licenses/by/4.0/", requiredStatement });
}, ({ rights, requiredStatement }) => {
  assert.equal(rights, "http://creativecommons.org/licenses/by/4.0/");
  assert.deepEqual(requiredStatement, { label: "Attribution", values: ["Provided by the Archive"] });
});

recipe("0009", "a book of pages", () => manifest3(pages3(3), { behavior: ["paged"] }), (manifest) => {
  assert.deepEqual(labels(manifest.canvases), ["p1", "p2", "p3"]);
  assert.ok(isPaged(manifest));
});

recipe("0010", "a book that is read from right to left", () => {
  return manifest3(pages3(3), { behavior: ["paged"], viewingDirection: "right-to-left" });
}, ({ canvases, viewingDirection }) => {
  assert.equal(viewingDirection, "right-to-left");
  assert.deepEqual(spreadsOf(canvases, [0, 1, 2], true), [[0], [2, 1]]);
});
recipe("0010", "a scroll that is read from top to bottom", () => {
  return manifest3(pages3(2), { viewingDirection: "top-to-bottom" });
}, ({ viewingDirection }) => assert.equal(viewingDirection, "top-to-bottom"));

for (const behavior of ["continuous", "individuals", "paged"]) {
  recipe("0011", `the behavior ${behavior}`, () => manifest3(pages3(2), { behavior: [behavior] }), (manifest) => {
    assert.equal(isPaged(manifest), behavior === "paged");
  });
}

recipe("0013", "a video with an image to show before it", () => {
  const video = { id: at("v.mp4"), type: "Video", format: "video/mp4", duration: 60 };
  return manifest3([canvas3("p1", [video], { placeholderCanvas: canvas3("before", [image3("before")]) })]);
}, ({ canvases: [canvas] }) => {
  assert.equal(standInOf(canvas)?.images[0].choices[0].source.href, at("before.jpg"));
  assert.equal(noImageSentence(canvas), "This page is a video, which this viewer does not play.");
});

recipe("0014", "sound with an image beside it, among pages", () => {
  const sound = { id: at("a.mp4"), type: "Sound", format: "audio/mp4" };
  return manifest3([
    ...pages3(1),
    canvas3("p2", [sound], { accompanyingCanvas: canvas3("beside", [image3("beside")]) }),
  ]);
}, ({ canvases: [page, canvas] }) => {
  assert.deepEqual(canvas.otherMedia, ["audio"]);
  assert.equal(standInOf(canvas)?.images[0].choices[0].source.href, at("beside.jpg"));
  assert.equal(standInOf(page), null);
});

recipe("0024", "a table of contents of several levels", () => {
  const parts = [range("Part 1", [page(1), range("Chapter 1", [page(2), page(3)])]), range("Part 2", [page(4)])];
  return manifest3(pages3(4), { structures: [range("Contents", parts, { behavior: ["top"] })] });
}, ({ ranges }) => {
  assert.deepEqual(ranges.map(({ label, canvases }) => [label, canvases]), [["Part 1", [0]], ["Part 2", [3]]]);
  assert.deepEqual(ranges[0].children.map(({ label, canvases }) => [label, canvases]), [["Chapter 1", [1, 2]]]);
});

recipe("0025", "an article on parts of pages that do not follow each other", () => {
  const part = (index: number, xywh: string) => ({
    type: "SpecificResource",
    source: page(index),
    selector: { type: "FragmentSelector", value: `xywh=${xywh}` },
  });
  const article = range("News", [part(2, "0,0,500,1500"), part(2, "500,0,500,900"), part(4, "0,0,500,1500")]);
  return manifest3(pages3(4), { structures: [article] });
}, ({ ranges: [article] }) => assert.deepEqual(article.canvases, [1, 3]));

recipe("0027", "orders of the pages beside the first one", () => {
  const order = (name: string, pages: readonly number[]) => range(name, pages.map(page), { behavior: ["sequence"] });
  return manifest3(pages3(3), { structures: [order("As bound", [1, 2, 3]), order("Corrected", [3, 1, 2])] });
}, ({ ranges, alternativeOrders }) => {
  assert.deepEqual(ranges, []);
  assert.deepEqual(alternativeOrders, [
    { label: "As bound", canvases: [0, 1, 2] },
    { label: "Corrected", canvases: [2, 0, 1] },
  ]);
});

recipe("0029", "metadata of a page", () => {
  const metadata = [{ label: { en: ["Hand"] }, value: { none: ["Scribe A", "Scribe B"] } }];
  return manifest3([canvas3("p1", [served3("p1")], { metadata })]);
}, ({ canvases: [{ metadata }] }) => assert.deepEqual(metadata, [{ label: "Hand", values: ["Scribe A", "Scribe B"] }]));

recipe("0031", "volumes bound in one", () => {
  return manifest3(pages3(4), {
    structures: [range("Volume 1", [page(1), page(2)]), range("Volume 2", [page(3), page(4)])],
  });
}, ({ ranges }) => assert.deepEqual(ranges.map(({ canvases }) => canvases), [[0, 1], [2, 3]]));

recipe("0033", "images to choose from", () => {
  const choice = (name: string) => served3(name, {});
  const items = [{ ...choice("natural"), label: { en: ["Natural light"] } }, {
    ...choice("xray"),
    label: { en: ["X-ray"] },
  }];
  return manifest3([canvas3("p1", [{ type: "Choice", items }])]);
}, ({ canvases: [{ images: [{ choices }] }] }) => {
  assert.deepEqual(choices.map(({ label }) => label), ["Natural light", "X-ray"]);
});

recipe("0035", "a foldout that is no page of the binding", () => {
  const pages = pages3(4);
  Object.assign(pages[2], { behavior: ["non-paged"] });
  return manifest3(pages, { behavior: ["paged"] });
}, ({ canvases }) => assert.deepEqual(spreadsOf(canvases, [0, 1, 2, 3], false), [[0], [1, 3], [2]]));

recipe("0036", "several images on one canvas", () => {
  const canvas = canvas3("p1", [served3("whole"), served3("detail")]);
  const [{ items }] = canvas.items as { items: Node[] }[];
  items[1].target = `${canvas.id}#xywh=395,10,120,80`;
  return manifest3([canvas]);
}, ({ canvases: [{ images }] }) => {
  assert.deepEqual(images.map(({ target }) => target), [null, { x: 395, y: 10, width: 120, height: 80 }]);
});

recipe("0040", "an image that is rotated", () => {
  const selector = { type: "iiif:ImageApiSelector", rotation: "90" };
  return manifest3([canvas3("p1", [{ type: "SpecificResource", source: served3("p1"), selector }])]);
}, ({ canvases: [{ images: [{ choices: [{ rotation }] }] }] }) => assert.equal(rotation, 90));
recipe("0040", "an image that a stylesheet rotates", () => {
  const canvas = canvas3("p1", [{ type: "SpecificResource", styleClass: "turned", source: served3("p1") }]);
  const [{ items }] = canvas.items as { items: Node[] }[];
  items[0].stylesheet = {
    type: "CssStylesheet",
    value: ".turned { transform-origin: 0 0; transform: rotate(-90deg); }",
  };
  return manifest3([canvas]);
}, ({ canvases: [{ images: [{ choices: [{ rotation }] }] }] }) => assert.equal(rotation, 270));

recipe("0046", "a PDF file of the whole and of a page", () => {
  const rendering = [{ id: at("book.pdf"), type: "Text", label: { en: ["PDF"] }, format: "application/pdf" }];
  return manifest3([canvas3("p1", [served3("p1")], { rendering })], { rendering });
}, ({ renderings, canvases }) => {
  const link = { href: at("book.pdf"), label: "PDF", format: "application/pdf", profile: null };
  assert.deepEqual([renderings, canvases[0].renderings], [[link], [link]]);
});

recipe("0047", "a homepage", () => {
  return manifest3(pages3(1), {
    homepage: [{ id: "https://example.org/book", type: "Text", label: { en: ["At home"] } }],
  });
}, ({ homepages: [{ href, label }] }) => assert.deepEqual([href, label], ["https://example.org/book", "At home"]));

recipe("0053", "a description for machines", () => {
  const mods = { id: at("mods.xml"), type: "Dataset", format: "text/xml", profile: "http://www.loc.gov/mods/v3" };
  return manifest3(pages3(1), { seeAlso: [mods] });
}, ({ seeAlso: [{ href, label, profile }] }) => {
  assert.deepEqual([href, label, profile], [at("mods.xml"), "mods.xml", "http://www.loc.gov/mods/v3"]);
});

recipe("0056", "images of services of different versions", () => {
  return manifest3([canvas3("p1", [served3("p1")]), canvas3("p2", [{ ...served2("p2"), type: "Image" }])]);
}, ({ canvases }) => {
  assert.deepEqual(canvases.map(({ images: [{ choices: [{ source }] }] }) => source.service?.version), [3, 2]);
});

recipe("0057", "Presentation 2 with its own words for the same", () => {
  return manifest2([canvas2("p1", [served2("p1")])], {
    description: [{ "@value": "Beskrivning", "@language": "sv" }, { "@value": "Description", "@language": "en" }],
    metadata: [{ label: "Author", value: ["A", { "@value": "B", "@language": "en" }] }],
    license: "http://creativecommons.org/publicdomain/mark/1.0/",
    attribution: "The Archive",
    logo: { "@id": at("logo.png") },
    related: { "@id": "https://example.org/book", label: "Catalogue" },
    within: at("collection"),
  }, { viewingDirection: "right-to-left", viewingHint: "paged", startCanvas: at("canvas/p1") });
}, (manifest) => {
  assert.deepEqual(manifest.summary, "Description");
  assert.deepEqual(manifest.metadata, [{ label: "Author", values: ["B"] }]);
  assert.equal(manifest.rights, "http://creativecommons.org/publicdomain/mark/1.0/");
  assert.deepEqual(manifest.requiredStatement, { label: "Attribution", values: ["The Archive"] });
  assert.equal(manifest.providers[0].logos[0].href, at("logo.png"));
  assert.equal(manifest.homepages[0].label, "Catalogue");
  assert.deepEqual([manifest.viewingDirection, manifest.behaviors, manifest.start], ["right-to-left", ["paged"], 0]);
});

recipe("0068", "a newspaper with the ALTO files of its pages", () => {
  const alto = {
    id: at("p1.xml"),
    type: "Text",
    format: "application/xml",
    profile: "http://www.loc.gov/standards/alto/v4/alto.xsd",
  };
  return manifest3([canvas3("p1", [served3("p1")], { rendering: [alto] })]);
}, ({ canvases: [{ altoSources }] }) => assert.deepEqual(altoSources.map(({ href }) => href), [at("p1.xml")]));

recipe("0118", "several values of one language", () => {
  const value = { en: ["One", "Two"], fr: ["Un"] };
  return manifest3(pages3(1), { metadata: [{ label: { en: ["Title"] }, value }] });
}, ({ metadata: [{ values }] }) => assert.deepEqual(values, ["One", "Two"]));

recipe(
  "0202",
  "the canvas to begin with",
  () => manifest3(pages3(3), { start: page(2) }),
  ({ start }) => assert.equal(start, 1),
);
recipe("0202", "a part of a canvas to begin with", () => {
  return manifest3(pages3(3), { start: { id: at("start"), type: "SpecificResource", source: at("canvas/p3") } });
}, ({ start }) => assert.equal(start, 2));

recipe("0229", "ranges that are not shown", () => {
  return manifest3(pages3(2), {
    structures: [range("Shown", [page(1)]), range("Hidden", [page(2)], { behavior: ["no-nav"] })],
  });
}, ({ ranges }) => assert.deepEqual(ranges.map(({ label }) => label), ["Shown"]));

recipe(
  "0230",
  "dates to navigate by",
  () => manifest3(pages3(1), { navDate: "1986-01-01T00:00:00Z" }),
  ({ navDate }) => assert.equal(navDate, "1986-01-01T00:00:00Z"),
);

recipe("0232", "thumbnails of canvases, as files and as services", () => {
  const thumbnail = [{
    id: at("t.jpg"),
    type: "Image",
    service: [{ id: at("t"), type: "ImageService3", profile: "level1" }],
  }];
  return manifest3([
    canvas3("p1", [served3("p1")], { thumbnail }),
    canvas3("p2", [served3("p2")], { thumbnail: at("p2s.jpg") }),
  ]);
}, ({ canvases }) => {
  const files = canvases.map(({ thumbnails }) => thumbnailOf(thumbnails[0], { width: 80, height: 80 })?.href);
  assert.deepEqual(files, [at("t/full/80,/0/default.jpg"), at("p2s.jpg")]);
});

recipe("0234", "the institutions behind a manifest", () => {
  const agent = {
    id: "https://example.org/about",
    type: "Agent",
    label: { en: ["The Archive"] },
    homepage: [{ id: "https://example.org/", type: "Text", label: { en: ["Home"] } }],
    logo: [{ id: at("logo.png"), type: "Image" }],
  };
  return manifest3(pages3(1), { provider: [agent] });
}, ({ providers: [{ label, homepages, logos }] }) => {
  assert.deepEqual([label, homepages[0].label, logos[0].href], ["The Archive", "Home", at("logo.png")]);
});

recipe("0283", "a page without an image", () => {
  const { items: _, ...missing } = canvas3("p2", []);
  return manifest3([...pages3(1), missing, ...pages3(3).slice(2)]);
}, ({ canvases }) => {
  assert.deepEqual(canvases.map(({ label, isReadable }) => [label, isReadable]), [["p1", true], ["p2", true], [
    "p3",
    true,
  ]]);
  assert.deepEqual([canvases[1].images, canvases[1].width], [[], 1000]);
});

recipe("0299", "a part of a source image", () => {
  const selector = { type: "iiif:ImageApiSelector", region: "1768,2423,400,300" };
  return manifest3([canvas3("p1", [{ type: "SpecificResource", source: served3("p1"), selector }])]);
}, ({ canvases: [{ images: [{ choices: [{ region }] }] }] }) => {
  assert.deepEqual(region, { x: 1768, y: 2423, width: 400, height: 300 });
});
recipe("0299", "a part in per cent and by fragments", () => {
  const selector = { "@type": "iiif:ImageApiSelector", region: "pct:50,0,50,100" };
  const second = canvas2("p1", [{ "@type": "oa:SpecificResource", full: served2("p1"), selector }, {
    "@id": at("x.jpg#xywh=1,2,3,4"),
    "@type": "dctypes:Image",
  }]);
  (second.images as Node[])[0].on = `${second["@id"]}#xywh=percent:0,0,50,50`;
  return manifest2([second]);
}, ({ canvases: [{ images }] }) => {
  assert.deepEqual(images.map(({ choices: [{ region }] }) => region), [
    { x: 1000, y: 0, width: 1000, height: 3000 },
    { x: 1, y: 2, width: 3, height: 4 },
  ]);
  assert.deepEqual(images[0].target, { x: 0, y: 0, width: 500, height: 750 });
  assert.equal(images[1].choices[0].source.href, at("x.jpg"));
});

recipe("0489", "a video beside an image on one canvas", () => {
  return manifest3([canvas3("p1", [served3("p1"), { id: at("v.mp4"), type: "Video", format: "video/mp4" }])]);
}, ({ canvases: [{ images, otherMedia }] }) => assert.deepEqual([images.length, otherMedia], [1, ["video"]]));

recipe("0561", "text that is painted on an image", () => {
  return manifest3([
    canvas3("p1", [{ type: "TextualBody", format: "text/html", value: "<p>Text</p>" }, served3("p1")]),
  ]);
}, ({ canvases: [{ images, otherMedia }] }) => assert.deepEqual([images.length, otherMedia], [1, ["text"]]));

Deno.test("recipes: docs/viewer.md has a row for each that is tested, and a test for each that it says to be shown", async () => {
  const text = await Deno.readTextFile(new URL("../../../../docs/viewer.md", import.meta.url));
  const rows = [...text.matchAll(/^\| (\d{4}) +\|[^|]*\| (yes|partly|no)\b/gm)].map(([, number, does]) => ({
    number,
    does,
  }));
  const shown = rows.filter(({ does }) => does !== "no").map(({ number }) => number);
  assert.deepEqual(shown, [...tested].sort());
});
