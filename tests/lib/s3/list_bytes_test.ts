import assert from "node:assert/strict";
import fc from "fast-check";
import { LISTING } from "@/bench/gateway/upstream_xml.ts";
import { objectPageJson } from "@/lib/s3/list_bytes.ts";
import { parseObjectPage } from "@/lib/s3/list_xml.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

/** The JSON of a document without text in between; null where it is left to the parser. */
function written(xml: string | Uint8Array): string | null {
  const json = objectPageJson(typeof xml === "string" ? bytes(xml) : xml);
  return json && new TextDecoder("utf-8", { ignoreBOM: true }).decode(json);
}

/** The same by the parser; null where that refuses the document. */
function parsed(xml: string | Uint8Array): string | null {
  try {
    return JSON.stringify(parseObjectPage(typeof xml === "string" ? xml : new TextDecoder().decode(xml)));
  } catch {
    return null;
  }
}

const page = (inside: string) =>
  `<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">${inside}</ListBucketResult>`;
const entry = (inside: string) => page(`<Contents>${inside}</Contents>`);

Deno.test("listing bytes: pages as stores write them become the JSON that the parser gives", () => {
  assert.equal(written(LISTING), parsed(LISTING));
  const pages = [
    // Without entries, with an empty element, and with common prefixes alone.
    page(""),
    page("<Prefix/><KeyCount>0</KeyCount><IsTruncated>false</IsTruncated>"),
    page("<EncodingType>url</EncodingType><CommonPrefixes><Prefix>a/</Prefix></CommonPrefixes>"),
    // Names that are encoded, which may be said behind them, and names that are not.
    page("<Contents><Key>%41</Key></Contents><EncodingType>url</EncodingType>"),
    page("<EncodingType>url</EncodingType><Contents><Key>a+b%2Bc%01%C3%A5/%22</Key></Contents>") +
    "\n",
    entry("<Key>a+b%2Bc å 😀 \\ &quot; &amp;lt; &#x41;\u{feff}\n</Key>"),
    // Members that other stores add, another order, and indentation.
    entry("<Key>k</Key><ChecksumAlgorithm>CRC32</ChecksumAlgorithm><Size>0</Size><ETag>&quot;e&quot;</ETag>"),
    page(
      `\n  <Contents>\r\n\t<Size>7</Size>\n<LastModified>2026-11-21T04:17:17Z</LastModified><StorageClass></StorageClass>` +
        `<Owner><DisplayName>me</DisplayName></Owner><Key>k</Key></Contents><Contents><Key></Key>` +
        `<LastModified>2026-11-21T04:17:17.000Z</LastModified><ETag></ETag><Owner></Owner></Contents>` +
        `<NextContinuationToken>t&amp;1</NextContinuationToken><IsTruncated>true</IsTruncated>`,
    ),
  ];
  for (const xml of pages) {
    assert.notEqual(parsed(xml), null, xml);
    assert.equal(written(xml), parsed(xml), xml);
  }
});

Deno.test("listing bytes: a page longer than the one before is whole, and does not change that", () => {
  const small = objectPageJson(bytes(entry("<Key>first</Key>")));
  const key = "k".repeat(1000);
  const large = page(`<Contents><Key>${key}</Key></Contents>`.repeat(1000));
  assert.equal(written(large), parsed(large));
  assert.match(new TextDecoder().decode(small ?? undefined), /^\{"objects":\[\{"Key":"first"/);
});

Deno.test("listing bytes: other documents are left to the parser", () => {
  for (
    const xml of [
      "",
      "<Error><Code>SlowDown</Code></Error>",
      "<ListBucketResult>",
      "<ListBucketResult/>",
      "<ListBucketResults></ListBucketResults>",
      page("") + "<more/>",
      page("<!-- a comment -->"),
      page("text"),
      entry(""),
      entry("<Key>k</Key><Key>l</Key>"),
      entry("<Key a='b'>k</Key>"),
      entry("<s3:Key>k</s3:Key>"),
      entry("<Key><![CDATA[k]]></Key>"),
      entry("<Key>k</Kex>"),
      entry("<Key>&nbsp;</Key>"),
      entry("<Key>k</Key><Other>&nbsp;</Other>"),
      entry("<Key>k</Key><Restore><Done>true</Done></Restore>"),
      ...["-1", "1e3", "", "01", " 1", "1234567890123456"].map((size) => entry(`<Key>k</Key><Size>${size}</Size>`)),
      ...["2026-11-21", "2026-11-21T04:17:17.12Z", "2026-11-21T04:17:17+00:00", "2026-11-2xT04:17:17.123Z"].map(
        (time) => entry(`<Key>k</Key><LastModified>${time}</LastModified>`),
      ),
      page("<Contents><Key>%41</Key><EncodingType>url</EncodingType></Contents>"),
      page("<EncodingType>url</EncodingType><Contents><Key>%ff</Key></Contents>"),
      page("<EncodingType>other</EncodingType>"),
      page("<IsTruncated>1</IsTruncated>"),
    ]
  ) {
    assert.equal(written(xml), null, xml);
  }
});

Deno.test("listing bytes: what is written is what the parser gives, for any document", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom("k", "7", "url", "true", "2026-11-21T04:17:17.120Z", "&quot;e&quot;", "%41+", "&#1;", "]]>"),
  );
  const names = fc.constantFrom(
    ...["Key", "Size", "LastModified", "ETag", "StorageClass", "ID", "DisplayName", "Prefix", "Other"],
    ...["EncodingType", "IsTruncated", "NextContinuationToken", "KeyCount", "s3:Key", "Contents"],
  );
  const leaf = fc.tuple(names, texts).map(([name, text]) => text === "" ? `<${name}/>` : `<${name}>${text}</${name}>`);
  const inside = (child: fc.Arbitrary<string>) =>
    fc.tuple(fc.constantFrom("Contents", "Owner", "CommonPrefixes", "Other"), fc.array(child, { maxLength: 5 }))
      .map(([name, children]) => `<${name}>${children.join("")}</${name}>`);
  const element = fc.oneof(leaf, inside(fc.oneof(leaf, inside(leaf))));
  const entries = fc.array(fc.oneof(leaf, fc.constant("<Key>k</Key>")), { maxLength: 4 }).map((members) =>
    `<Contents><Key>k</Key>${members.join("")}</Contents>`
  );
  const documents = fc.array(fc.oneof(element, entries, leaf), { maxLength: 5 }).map((all) => page(all.join("")));
  let count = 0;
  fc.assert(
    fc.property(documents, fc.nat(), fc.constantFrom("", "<", "&", "\0", "\u{feff}", " "), (xml, at, noise) => {
      const place = at % xml.length;
      for (const text of [xml, xml.slice(0, place) + noise + xml.slice(place)]) {
        // Noise may cut a pair of surrogates, and no UTF-8 has half of one.
        const json = text.isWellFormed() ? written(text) : null;
        if (json === null) continue;
        count++;
        assert.equal(json, parsed(text), text);
      }
    }),
    { numRuns: 2000 },
  );
  assert.ok(count > 200, `${count} of 4000 documents were written`);
});

Deno.test("listing bytes: an object with the markup of one before is read as it is read alone, and so is a damaged one", () => {
  const texts = fc.constantFrom("", "k", "7", "2026-11-21T04:17:17.120Z", "&quot;e&quot;", "&#1;", "a>b", "/>", "&");
  const names = fc.uniqueArray(fc.constantFrom("Size", "LastModified", "ETag", "StorageClass", "Owner", "Other"));
  // Members are absent, empty elements or texts; objects of a page have the same ones in the same order.
  const form = fc.tuple(names, fc.boolean()).map(([names, hasEmpty]) => (texts: readonly string[]) => {
    const leaf = (name: string, text: string) =>
      text === "" && hasEmpty ? `<${name}/>` : `<${name}>${name === "Size" ? text.length : text}</${name}>`;
    const members = names.map((name, index) =>
      name === "Owner" ? `<Owner>${leaf("ID", texts[index])}</Owner>` : leaf(name, texts[index])
    );
    return `<Contents>\n${leaf("Key", texts[6])}${members.join("")}</Contents>`;
  });
  const objects = fc.tuple(
    form,
    fc.array(fc.array(texts, { minLength: 7, maxLength: 7 }), { minLength: 2, maxLength: 4 }),
  )
    .map(([form, all]) => all.map(form));
  const noise = fc.constantFrom("", "", "<", "/", ">", "</Key>", "<Key>", "</Contents>", " ");
  let count = 0;
  const property = fc.property(objects, fc.nat(), noise, (objects, at, noise) => {
    const last = objects.length - 1;
    const place = at % objects[last].length;
    objects[last] = objects[last].slice(0, place) + noise + objects[last].slice(place);
    const together = written(page(objects.join("")));
    const alone = objects.map((object) => written(page(object)));
    if (alone.includes(null)) return assert.equal(together, null, objects.join(""));
    count++;
    const wanted = alone.flatMap((json) => JSON.parse(json ?? "").objects);
    assert.deepEqual(together === null ? null : JSON.parse(together).objects, wanted, objects.join(""));
    assert.equal(together, parsed(page(objects.join(""))));
  });
  fc.assert(property, { numRuns: 2000 });
  assert.ok(count > 50, `${count} of 2000 pages were written`);
});

Deno.test("listing bytes: bytes that are not UTF-8 become what the parser makes of them", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 12 }), (noise) => {
    const xml = [
      ...bytes("<ListBucketResult><Contents><Key>a"),
      ...noise,
      ...bytes("b</Key></Contents></ListBucketResult>"),
    ];
    const json = written(Uint8Array.from(xml));
    if (json !== null) assert.equal(json, parsed(Uint8Array.from(xml)));
  }));
});
