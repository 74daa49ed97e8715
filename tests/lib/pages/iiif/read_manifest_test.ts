import assert from "node:assert/strict";
import fc from "fast-check";
import { type Canvas, type Manifest, MAX_CANVASES, MAX_MANIFEST_BYTES } from "@/lib/pages/iiif/manifest.ts";
import type { ManifestProblem } from "@/lib/pages/iiif/read_manifest.ts";
import {
  at,
  BASE,
  canvas2,
  canvas3,
  image3,
  manifest2,
  manifest3,
  manifestOf,
  type Node,
  pages3,
  readManifest,
  served2,
  served3,
} from "./manifests.ts";

function reasonOf(json: unknown): ManifestProblem {
  const result = readManifest(json, BASE);
  assert.ok(!result.ok);
  return result.reason;
}

Deno.test("manifest: what is no manifest of images is refused with its reason", () => {
  for (const other of [null, [], 1, "text", {}, { type: "Canvas" }, { type: "AnnotationPage", items: [] }]) {
    assert.equal(reasonOf(other), "not a manifest");
  }
  assert.equal(reasonOf({ type: "Collection", items: [{}] }), "a collection");
  assert.equal(reasonOf({ "@type": "sc:Collection", manifests: [] }), "a collection");
  assert.equal(reasonOf({ manifests: [] }), "a collection");
  assert.equal(reasonOf(manifest3([])), "no canvases");
  assert.equal(reasonOf(manifest2([])), "no canvases");
  assert.equal(reasonOf(manifest3([null, 3, { type: "Range" }])), "unreadable canvases");
  assert.equal(reasonOf(manifest3(Array(MAX_CANVASES + 1).fill({}))), "too large");
  const body = (type: string, format: string) => canvas3("p", [{ id: at("file"), type, format }]);
  assert.equal(reasonOf(manifest3([body("Sound", "audio/mp4")])), "only audio or video");
  assert.equal(reasonOf(manifest3([body("Video", "video/mp4")])), "only audio or video");
  assert.equal(reasonOf(manifest3([body("Model", "model/gltf-binary")])), "only 3D");
  assert.equal(reasonOf(manifest3([{ id: at("scene"), type: "Scene" }])), "only 3D");
  assert.equal(reasonOf(manifest3([{ id: at("timeline"), type: "Timeline" }])), "only audio or video");
  assert.ok(MAX_MANIFEST_BYTES >= 2000 * MAX_CANVASES, "the most canvases fit into the most bytes");
});

Deno.test("manifest: a context or a type is not needed", () => {
  const { "@context": _, "@type": __, ...second } = manifest2([canvas2("p1", [served2("p1")])]);
  assert.equal(manifestOf(second).canvases.length, 1);
  const { "@context": ___, type: ____, ...third } = manifest3([canvas3("p1", [served3("p1")])]);
  assert.equal(manifestOf(third).canvases.length, 1);
});

Deno.test("manifest: entries that are no canvases have their place among the canvases, so that an index is the manifest's", () => {
  const { canvases, start, ranges } = manifestOf(
    manifest3([null, canvas3("p2", [image3("p2")]), "x", { type: "Range" }, canvas3("p5", [image3("p5")])], {
      start: { id: at("canvas/p5") },
      structures: [{ type: "Range", label: "Last", items: [{ id: at("canvas/p5"), type: "Canvas" }] }],
    }),
  );
  assert.deepEqual(canvases.map(({ label, isReadable }) => [label, isReadable]), [
    ["1", false],
    ["p2", true],
    ["3", false],
    ["4", false],
    ["p5", true],
  ]);
  assert.deepEqual([start, ranges[0].canvases, canvases[0].images], [4, [4], []]);
  const [bare] = manifestOf(manifest3([{ type: "Canvas", width: -1, height: "tall", items: 7, label: null }])).canvases;
  assert.deepEqual([bare.label, bare.width, bare.height, bare.images], ["1", null, null, []]);
});

Deno.test("manifest: links other than of http and https are left out, relative ones are resolved", () => {
  const href = [
    "javascript:alert(1)",
    "data:text/html,x",
    "https://user:pass@example.org/",
    "file.pdf",
    "http://a.b/c?d#e",
  ];
  const { renderings } = manifestOf(manifest3(pages3(1), { rendering: href.map((id) => ({ id, type: "Text" })) }));
  assert.deepEqual(renderings.map(({ href, label }) => [href, label]), [
    [at("file.pdf"), "file.pdf"],
    ["http://a.b/c?d#e", "c"],
  ]);
});

Deno.test("manifest: licences, links and logos that are no addresses are text, and never links", () => {
  const sentence = "To the best of our knowledge this work is in the public domain.";
  const rights = (value: unknown) => [
    manifestOf(manifest3(pages3(1), { rights: value })).rights,
    manifestOf(manifest2([canvas2("p1", [served2("p1")])], { license: value })).rights,
  ];
  const licence = "https://creativecommons.org/licenses/by/4.0/";
  for (
    const [value, wanted] of [
      [sentence, sentence],
      ["CC0", "CC0"],
      ["javascript:alert(1)", "javascript:alert(1)"],
      [{ "@value": sentence, "@language": "en" }, sentence],
      [[sentence, licence], licence],
      [{ "@id": licence }, licence],
      [`${licence} (CC BY)`, `${licence} (CC BY)`],
    ]
  ) assert.deepEqual(rights(value), [wanted, wanted]);

  const links = [
    "Kontakta arkivet",
    { id: "javascript:alert(1)", label: "Run" },
    "data:text/html,x",
    "mailto:a@b.se",
    "www.ra.se",
    ...["arkiv@example.se", "CC-BY-4.0", "N/A", "doi:10.1234/abc", "urn:nbn:se:x-1", "tel:+468"],
  ];
  const shown = [[null, "Kontakta arkivet"], [null, "Run"], ...links.slice(3).map((text) => [null, text])];
  const pairs = (links: Manifest["homepages"]) => links.map(({ href, label }) => [href, label]);
  const three = manifestOf(manifest3(pages3(1), { homepage: links, rendering: links, seeAlso: links }));
  for (const own of [three.homepages, three.renderings, three.seeAlso]) assert.deepEqual(pairs(own), shown);
  const two = manifestOf(manifest2([canvas2("p1", [served2("p1")])], { related: links, logo: "Riksarkivets logotyp" }));
  assert.deepEqual(pairs(two.homepages), shown);
  assert.deepEqual(two.providers.map(({ logos, homepages }) => [logos, pairs(homepages)]), [
    [[], [[null, "Riksarkivets logotyp"]]],
  ]);
  const provider = {
    label: "Arkivet",
    logo: ["logo.png", "En lejonbild", "javascript:alert(1)"],
    homepage: "Marieberg, Stockholm",
  };
  const [agent] = manifestOf(manifest3(pages3(1), { provider: [provider] })).providers;
  assert.deepEqual(pairs(agent.homepages), [[null, "Marieberg, Stockholm"], [null, "En lejonbild"]]);
  assert.deepEqual(agent.logos.map(({ href }) => href), [at("logo.png")]);
});

Deno.test("manifest: JSON-LD values are read wherever Presentation 3 has a text", () => {
  const value = (
    sv: string,
    en: string,
  ) => [{ "@language": "sv", "@value": sv }, { "@language": "en-GB", "@value": en }];
  const one = (text: string) => ({ "@language": "sv", "@value": text });
  const label = value("Domboken", "Court book");
  const json = manifest3([
    canvas3("p1", [served3("p1")], { label, metadata: [{ label: one("Ort"), value: { "@value": ["Sala", 1720] } }] }),
  ], {
    label,
    summary: one("En bok"),
    metadata: [{ label, value: { "@set": [one("1720"), one("1721")] } }],
    requiredStatement: one("Riksarkivet"),
    provider: [{ label: one("Arkivet"), homepage: { id: at("home"), label } }],
    rendering: { id: at("x.pdf"), label: { none: one("Som PDF") } },
    structures: [{ type: "Range", label, items: [{ id: at("canvas/p1"), type: "Canvas" }] }],
  });
  for (const [languages, name] of [[["en"], "Court book"], [["sv"], "Domboken"], [["fi"], "Domboken"]] as const) {
    const manifest = manifestOf(json, [...languages]);
    assert.deepEqual(
      [
        manifest.label,
        manifest.metadata[0].label,
        manifest.canvases[0].label,
        manifest.ranges[0].label,
        manifest.providers[0].homepages[0].label,
      ],
      Array(5).fill(name),
    );
    assert.deepEqual(
      [manifest.summary, manifest.metadata[0].values, manifest.requiredStatement, manifest.providers[0].label],
      ["En bok", ["1720", "1721"], { label: "", values: ["Riksarkivet"] }, "Arkivet"],
    );
    assert.deepEqual([manifest.renderings[0].label, manifest.canvases[0].metadata], ["Som PDF", [{
      label: "Ort",
      values: ["Sala", "1720"],
    }]]);
  }
  let deep: unknown = "x";
  for (let i = 0; i < 10_000; i++) deep = { "@value": [deep] };
  assert.equal(manifestOf(manifest3(pages3(1), { label: deep })).label, BASE);
});

Deno.test("manifest: a choice of Presentation 2 offers addresses as well, and the absence of an image is none", () => {
  const choices = (resource: unknown) =>
    manifestOf(manifest2([canvas2("p1", [resource])])).canvases[0].images
      .map(({ choices }) => choices.map(({ source, label }) => [source.href, label]));
  const [a, b, c] = ["a.jpg", "b", "c.png"].map(at);
  const labelled = { "@id": c, "@type": "dctypes:Image", label: "UV" };
  assert.deepEqual(choices({ "@type": "oa:Choice", default: a, item: [b, "rdf:nil", labelled] }), [[[a, null], [
    b,
    null,
  ], [c, "UV"]]]);
  assert.deepEqual(choices({ "@type": "oa:Choice", item: b }), [[[b, null]]]);
  assert.deepEqual(choices({ "@type": "oa:Choice", default: labelled, item: "rdf:nil" }), [[[c, "UV"]]]);
  assert.deepEqual(choices({ "@type": "oa:Choice" }), []);
  const body = { type: "Choice", items: [a, { id: b }] };
  const [three] = manifestOf(manifest3([canvas3("p1", [body])])).canvases[0].images;
  assert.deepEqual(three.choices.map(({ source }) => source.href), [a, b]);
});

Deno.test("manifest: a body of unknown kind is tried as an image", () => {
  const painted = (...bodies: unknown[]) => {
    const { images, otherMedia } = manifestOf(manifest3([canvas3("p1", bodies)])).canvases[0];
    return [images.map(({ choices }) => choices[0].source.href), otherMedia];
  };
  const [bare, scan] = ["image/1", "scan.tif"].map(at);
  assert.deepEqual(painted({ id: bare }, scan, { id: at("2"), type: "StillImage" }), [[bare, scan, at("2")], []]);
  for (const [name, medium] of [["a.mp3", "audio"], ["a.webm?x", "video"], ["a.glb", "3D"], ["a.PDF", "text"]]) {
    assert.deepEqual(manifestOf(manifest3([canvas3("p1", [{ id: at(name) }]), ...pages3(1)])).canvases[0].otherMedia, [
      medium,
    ]);
  }
});

Deno.test("manifest: an address that is read without parsing it is one that parses", () => {
  const part = fc.stringMatching(/^[a-zA-Z0-9.:@%\-_[\]/?#]{0,20}$/);
  const address = fc.oneof(
    part.map((text) => `https://${text}/x`),
    part.map((text) => `http://a.${text}.org/`),
    fc.webUrl(),
  );
  fc.assert(
    fc.property(address, (id) => {
      const { seeAlso } = manifestOf(manifest3(pages3(1), { seeAlso: [{ id }] }));
      for (const { href } of seeAlso) assert.match(new URL(href ?? "").protocol, /^https?:$/);
    }),
  );
});

Deno.test("manifest: references in circles and ranges below ranges end", () => {
  const range = (name: string, ranges: string[]) => ({
    "@id": at(name),
    "@type": "sc:Range",
    label: name,
    ranges: ranges.map(at),
  });
  const structures = [range("a", ["b"]), range("b", ["a", "c"]), range("c", ["b", "c"])];
  const { ranges } = manifestOf(manifest2([canvas2("p1", [served2("p1")])], { structures }));
  assert.deepEqual(ranges.map(({ label, children }) => [label, children.map(({ label }) => label)]), [["a", ["b"]]]);
  // Each range refers twice to the next one: followed without memory that is 2^40 ranges.
  const doubled = Array.from({ length: 40 }, (_, i) => range(`r${i}`, [`r${i + 1}`, `r${i + 1}`]));
  assert.equal(manifestOf(manifest2([canvas2("p1", [served2("p1")])], { structures: doubled })).ranges.length, 1);
  let nested: Node = range("end", []);
  for (let i = 0; i < 20_000; i++) nested = { ...range("x", []), "@id": at(`nested/${i}`), members: [nested] };
  const [shown] = manifestOf(manifest2([canvas2("p1", [served2("p1")])], { structures: [nested] })).ranges;
  assert.equal(shown.children.length, 1);
  let deep: Node = { type: "Range", label: "end" };
  for (let i = 0; i < 20_000; i++) deep = { type: "Range", label: "x", items: [deep] };
  assert.equal(manifestOf(manifest3(pages3(1), { structures: [deep] })).ranges[0].children.length, 1);
});

Deno.test("manifest: ALTO files are found by format, by profile, by label and in annotations, each once", () => {
  const [format, profile] = ["application/xml+alto", "http://www.loc.gov/standards/alto/ns-v4#"];
  const body = { id: at("annotated.xml"), type: "Text", format };
  const annotations = [{ type: "AnnotationPage", items: [{ type: "Annotation", motivation: "supplementing", body }] }];
  const seeAlso = [{ id: at("format.xml"), format }, { id: at("format.xml"), profile }, {
    id: at("mods.xml"),
    format: "text/xml",
  }];
  const rendering = [{ id: at("profile.xml"), profile }, { id: at("label.xml"), label: { en: ["Text as ALTO"] } }];
  const [third] = manifestOf(manifest3([canvas3("p1", [served3("p1")], { seeAlso, rendering, annotations })])).canvases;
  const names = (canvas: Canvas) => canvas.altoSources.map(({ href }) => href.split("/").at(-1));
  assert.deepEqual(names(third), ["format.xml", "profile.xml", "label.xml", "annotated.xml"]);
  const [second] =
    manifestOf(manifest2([canvas2("p1", [served2("p1")], { seeAlso: { "@id": at("alto.xml"), profile } })])).canvases;
  assert.deepEqual(names(second), ["alto.xml"]);
});

Deno.test("manifest: an annotation that comments on a canvas paints nothing", () => {
  const canvas = canvas3("p1", [image3("p1"), image3("comment")]);
  const [{ items }] = canvas.items as { items: Node[] }[];
  items[1].motivation = ["commenting"];
  assert.equal(manifestOf(manifest3([canvas])).canvases[0].images.length, 1);
});

Deno.test("manifest: an object stands for no text and no number, whatever its members are called", () => {
  const object = { toString: 1, valueOf: 2 };
  const selector = { type: "ImageApiSelector", rotation: object, region: object };
  const body = { type: "SpecificResource", source: served3("p1"), selector };
  const [{ images, label }] =
    manifestOf(manifest3([canvas3("p1", [body], { label: object, width: object, behavior: object })])).canvases;
  assert.deepEqual([images[0].choices[0].rotation, images[0].choices[0].region, label], [0, null, "1"]);
});
