/** Manifests of Presentation 2. */
import assert from "node:assert/strict";
import fc from "fast-check";
import { at, canvas2, canvas3, manifest2, manifest3, manifestOf, type Node, served2 } from "./manifests.ts";

/** Pairs of the same in Presentation 2 and 3. */
type Both = readonly [second: unknown, third: unknown];

const word = fc.constantFrom("One", "Två", "<p>a &amp; b</p>", "a < b", "5");
const texts: fc.Arbitrary<Both> = fc.oneof(
  word.map((text) => [text, { none: [text] }] as const),
  fc.array(word, { minLength: 1, maxLength: 3 }).map((all) => [all, { none: all }] as const),
  fc.dictionary(fc.constantFrom("sv", "en", "de-AT"), word, { minKeys: 1 }).map((map) => {
    const entries = Object.entries(map);
    return [
      entries.map(([language, value]) => ({ "@language": language, "@value": value })),
      Object.fromEntries(entries.map(([language, value]) => [language, [value]])),
    ] as const;
  }),
);
const pairs = <T>(list: fc.Arbitrary<T>) => fc.array(list, { maxLength: 3 });
const link = fc.tuple(fc.constantFrom("a.pdf", "b", "c.xml"), texts, fc.constantFrom("application/pdf", "text/html"))
  .map(
    ([path, [label2, label3], format]): Both => [
      { "@id": at(path), label: label2, format },
      { id: at(path), type: "Dataset", label: label3, format },
    ],
  );
const picture = fc.tuple(fc.constantFrom("p1.jpg", "p2.png", "p3"), texts, fc.boolean()).map(
  ([path, [label2, label3], isServed]): Both => {
    const same = { format: "image/jpeg", width: 200, height: 300, ...(isServed && { service: served2("p").service }) };
    return [
      { "@id": at(path), "@type": "dctypes:Image", label: label2, ...same },
      { id: at(path), type: "Image", label: label3, ...same },
    ];
  },
);
const region = fc.constantFrom("1,2,30,40", "pct:10,10,50,50");
const body = fc.oneof(
  picture,
  fc.tuple(picture, region, fc.constantFrom("0", "90", "!180")).map(([[full, source], region, rotation]): Both => [
    { "@type": "oa:SpecificResource", full, selector: { "@type": "iiif:ImageApiSelector", region, rotation } },
    { type: "SpecificResource", source, selector: { type: "ImageApiSelector", region, rotation } },
  ]),
  fc.array(picture, { minLength: 1, maxLength: 3 }).map((options): Both => {
    const [first, ...others] = options.map(([second]) => second);
    return [
      { "@type": "oa:Choice", default: first, item: others.length === 1 ? others[0] : others },
      { type: "Choice", items: options.map(([, third]) => third) },
    ];
  }),
);
const target = fc.constantFrom("", "#xywh=10,20,300,400", "#xywh=percent:10,10,50,50");
const canvas = fc.record({
  label: texts,
  metadata: pairs(fc.tuple(texts, texts)),
  paintings: pairs(fc.tuple(body, target)),
  links: pairs(link),
  thumbnail: pairs(picture),
  behavior: fc.constantFrom("paged", "non-paged", "facing-pages"),
});

type Described = typeof canvas extends fc.Arbitrary<infer T> ? T : never;

/** Members that manifests and canvases share. */
function described({ label, metadata, links, thumbnail, behavior }: Described): [Node, Node] {
  const both = (list: readonly Both[], version: 0 | 1) => list.map((pair) => pair[version]);
  const entries = (version: 0 | 1) => metadata.map((pair) => ({ label: pair[0][version], value: pair[1][version] }));
  return [
    {
      label: label[0],
      description: label[0],
      attribution: label[0],
      license: at("terms"),
      metadata: entries(0),
      related: both(links, 0),
      rendering: both(links, 0),
      seeAlso: both(links, 0),
      thumbnail: both(thumbnail, 0),
      viewingHint: behavior,
    },
    {
      label: label[1],
      summary: label[1],
      requiredStatement: { label: { none: ["Attribution"] }, value: label[1] },
      rights: at("terms"),
      metadata: entries(1),
      homepage: both(links, 1),
      rendering: both(links, 1),
      seeAlso: both(links, 1),
      thumbnail: both(thumbnail, 1),
      behavior: [behavior],
    },
  ];
}

Deno.test("Presentation 2: a volume is read to the same model from Presentation 2 as from 3", () => {
  fc.assert(
    fc.property(canvas, fc.array(canvas, { minLength: 1, maxLength: 3 }), (whole, pages) => {
      const canvases = pages.map((page, i) => {
        const name = `p${i}`;
        const [more2, more3] = described(page);
        const second = canvas2(name, page.paintings.map(([[second]]) => second), more2);
        const third = canvas3(name, page.paintings.map(([[, third]]) => third), more3);
        const [{ items }] = third.items as { items: Node[] }[];
        page.paintings.forEach(([, part], n) => {
          (second.images as Node[])[n].on = items[n].target = third.id + part;
        });
        return [second, third] as const;
      });
      const [more2, more3] = described(whole);
      const last = canvases.length - 1;
      const [start, end] = [at("canvas/p0"), at(`canvas/p${last}`)];
      const members = [{ "@id": end, "@type": "sc:Canvas" }];
      const chapters2 = [
        { "@id": at("r1"), "@type": "sc:Range", label: whole.label[0], ranges: [at("r2")], canvases: [start] },
        { "@id": at("r2"), "@type": "sc:Range", label: "Inner", members },
      ];
      const inner = { id: at("r2"), type: "Range", label: "Inner", items: [{ id: end, type: "Canvas" }] };
      const outer = [inner, { id: start, type: "Canvas" }];
      const chapters3 = [{ id: at("r1"), type: "Range", label: whole.label[1], items: outer }];
      const direction = { viewingDirection: "right-to-left" };
      const second = manifest2(canvases.map(([second]) => second), { ...more2, structures: chapters2 }, direction);
      const third = manifest3(canvases.map(([, third]) => third), { ...more3, structures: chapters3, ...direction });
      for (const languages of [[], ["sv", "en"]]) {
        assert.deepEqual(manifestOf(second, languages), manifestOf(third, languages));
      }
    }),
  );
});

Deno.test("Presentation 2: a malformed canvas leaves all others as they are", () => {
  const intact = { ...canvas2("p2", [served2("p2")]), images: [{ resource: served2("p2") }] };
  const json = (entry: unknown) => manifest2([canvas2("p1", [served2("p1")]), entry, canvas2("p3", [served2("p3")])]);
  const [first, , last] = manifestOf(json(intact)).canvases;
  const lone = "\ud800";
  for (
    const entry of [
      null,
      "https://example.org/canvas",
      { "@type": "sc:Range" },
      { "@id": lone, "@type": ["sc:Canvas", 5], images: [{ resource: served2("p2"), on: lone }] },
      { label: [null, 5, { "@value": ["x"], "@language": {} }, { "@value": "x", "@language": "constructor" }] },
      { metadata: [null, { label: { "@value": "x", "@language": "__proto__" } }], related: [null], thumbnail: [null] },
      { images: [null, { resource: null, on: null }, { resource: { "@type": "oa:Choice", item: 5 }, on: [{}] }] },
    ]
  ) {
    const { canvases } = manifestOf(json(entry));
    assert.deepEqual([canvases[0], canvases[2]], [first, last], JSON.stringify(entry));
    assert.equal(canvases.length, 3);
  }
  assert.equal(manifestOf(json(intact)).canvases[1].images.length, 1, "an annotation need not name its canvas");
  const unknown = [{ resource: served2("p2"), on: { full: {}, selector: { "@type": "x:Unknown" } } }];
  assert.equal(
    manifestOf(json({ images: unknown })).canvases[1].images[0].target,
    null,
    "nor a part of it that is known",
  );
  const label = { "@value": "x", "@language": "constructor" };
  assert.equal(
    manifestOf(json({ label })).canvases[1].label,
    "x",
    "a language may have the name of an inherited member",
  );
});

Deno.test("Presentation 2: malformed ranges and sequences leave all others as they are", () => {
  const chapter = { "@type": "sc:Range", label: "Chapter", canvases: [at("canvas/p2"), null, 5] };
  const structures = [null, 5, { members: [null, {}, 5, [chapter]] }, { ranges: { "@id": [] } }, chapter];
  const json = manifest2(["p1", "p2"].map((name) => canvas2(name, [served2(name)])), { structures });
  (json.sequences as unknown[]).push(null, 5, { canvases: {} }, { label: [null], canvases: [null, at("canvas/p2")] });
  const { ranges, alternativeOrders } = manifestOf(json);
  assert.deepEqual(ranges.map(({ label, canvases }) => [label, canvases]), [["Chapter", [1]]]);
  assert.deepEqual(alternativeOrders, [{ label: "", canvases: [1] }]);
});

Deno.test("Presentation 2: parts, rotations, limits and links are read", () => {
  const file = { "@id": at("x.jpg"), "@type": "dctypes:Image", format: "application/octet-stream", label: "X-ray" };
  const part = {
    "@type": "oa:SpecificResource",
    full: file,
    style: "turned",
    selector: { "@type": "oa:Choice", default: { "@type": "oa:FragmentSelector", value: "xywh=1,2,3,4" } },
  };
  const canvas = canvas2("p1.jpg", [part], { related: [at("a"), { "@id": at("b") }] });
  const [image] = canvas.images as Node[];
  image.stylesheet = { "@type": ["oa:CssStylesheet", "cnt:ContentAsText"], chars: ".turned { rotate(90deg) }" };
  image.on = { full: canvas["@id"], selector: { value: "xywh=5,6,7,8" } };
  const profile = ["http://iiif.io/api/image/2/level1.json", { maxWidth: 500 }];
  const limited = { "@id": "https://images.example.org/p2", profile };
  const unnamed = canvas2("p2", [{ "@type": "dctypes:Image", service: limited }]);
  const { canvases, renderings } = manifestOf(
    manifest2([canvas, unnamed], { rendering: at("book.pdf") }, { rendering: at("sequence.pdf") }),
  );
  const [choice] = canvases[0].images[0].choices;
  assert.deepEqual([choice.label, choice.region, choice.rotation], ["X-ray", { x: 1, y: 2, width: 3, height: 4 }, 90]);
  assert.deepEqual(canvases[0].images[0].target, { x: 5, y: 6, width: 7, height: 8 });
  assert.equal(canvases[0].homepages.length, 2);
  const { href, service } = canvases[1].images[0].choices[0].source;
  assert.deepEqual([href, service?.version, service?.maxWidth], [null, 2, 500]);
  assert.deepEqual(renderings.map(({ href }) => href), [at("book.pdf"), at("sequence.pdf")]);
});
