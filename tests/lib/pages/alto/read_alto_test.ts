import assert from "node:assert/strict";

import fc from "fast-check";

import type { AltoPage } from "@/lib/pages/alto/alto_page.ts";
import { MAX_ALTO_CHARACTERS } from "@/lib/pages/alto/read_alto.ts";
import { ALTO_2, ALTO_3, ALTO_4, ALTO_ORDERED, altoPage, readAlto } from "./samples.ts";

const texts = (page: AltoPage) => page.blocks.map(({ lines }) => lines.map(({ text }) => text));

Deno.test("ALTO 2: text with hyphens, confidences, boxes and the unit", () => {
  const page = altoPage(ALTO_2);
  assert.deepEqual([page.width, page.height, page.unit, page.confidence], [2100, 2970, "mm10", null]);
  assert.deepEqual(texts(page), [["7"], ["Ödmjukt memo-", "rial d:o"]]);
  const [first, second] = page.blocks[1].lines;
  assert.equal(first.confidence, 0.9);
  assert.equal(second.confidence, 0.6);
  assert.deepEqual(first.box, { x: 100, y: 100, width: 1900, height: 40 });
  assert.deepEqual(first.words[1], {
    box: { x: 520, y: 100, width: 300, height: 40 },
    text: "memo",
    confidence: 0.8,
    division: { half: 1, word: "memorial" },
  });
  assert.deepEqual(second.words.map(({ division }) => division), [{ half: 2, word: "memorial" }, null]);
});

Deno.test("ALTO 3: prefixes, composed blocks, shapes; glyphs and empty lines are no text", () => {
  const page = altoPage(ALTO_3);
  assert.deepEqual([page.width, page.height, page.unit, page.confidence], [800.5, 1200, "inch1200", 0.75]);
  assert.deepEqual(texts(page), [['Namn & "ort"'], ["12 kr"]]);
  const [first, second] = page.blocks;
  assert.deepEqual(first.box, { x: 10, y: 10, width: 80, height: 40 });
  assert.deepEqual(first.lines[0].box, { x: 10, y: 12, width: 80, height: 28 });
  assert.equal(first.lines[0].words[0].box, null);
  assert.equal(second.lines[0].confidence, null);
  assert.deepEqual(second.lines[0].box, { x: 110, y: 8, width: 60, height: 20 });
  assert.deepEqual(second.box, second.lines[0].box);
});

Deno.test("ALTO 4: whole lines as one string", () => {
  const page = altoPage(ALTO_4);
  assert.deepEqual([page.width, page.height, page.unit, page.confidence], [2400, 3200, "pixel", 0.8731]);
  assert.deepEqual(texts(page), [["Anno 1720 den 3 Maij", "hölts Laga Ting"]]);
  assert.deepEqual(page.blocks[0].lines.map(({ confidence }) => confidence), [0.91, 0.42]);
});

Deno.test("ALTO 4.3: the reading order moves what it names, the rest follows", () => {
  const page = altoPage(ALTO_ORDERED);
  assert.deepEqual(texts(page), [
    ["first"],
    ["second, above", "second, below", "second, unnamed"],
    ["third"],
    ["last"],
  ]);
});

Deno.test("ALTO: values that are not what they should be count as absent", () => {
  const page = altoPage(`<alto><Layout><Page WIDTH="0" HEIGHT="NaN" PC="87"><PrintSpace>
    <TextBlock><Shape><Polygon POINTS="1,2 3"/></Shape>
      <TextLine HPOS="1" VPOS="" WIDTH="2" HEIGHT="3"><Shape><Polygon POINTS="1,1 2,2"/></Shape>
        <String CONTENT="a" WC="-0.1"/><String CONTENT="b" WC="0.5" SUBS_TYPE="HypPart1"/><String/>
        <HYP CONTENT="&#xad;"/></TextLine>
    </TextBlock></PrintSpace></Page></Layout></alto>`);
  const [{ box, lines: [line] }] = page.blocks;
  assert.deepEqual([page.width, page.height, page.confidence, page.unit], [null, null, null, "pixel"]);
  assert.deepEqual([box, line.box], [null, null]);
  assert.deepEqual([line.text, line.confidence, line.words.length], ["a b-", 0.5, 2]);
  assert.equal(line.words[1].division, null);
});

Deno.test("ALTO: names of a prototype's members are names like others", () => {
  const polygon = `<Shape><Polygon POINTS="1,1 2,1 2,2"/></Shape>`;
  assert.ok(readAlto(`<alto><constructor>${polygon}</constructor><__proto__ ID="x">${polygon}</__proto__></alto>`).ok);
  assert.ok(!("box" in {}) && !("box" in Object));
});

Deno.test("ALTO: malformed documents, other documents and too long ones are results", () => {
  const problem = (xml: string) => {
    const reading = readAlto(xml);
    return reading.ok ? null : reading.problem;
  };
  for (
    const xml of [
      "",
      " ",
      "text",
      "<alto>",
      "<alto></Alto>",
      "<alto/><alto/>",
      `<alto a="1" a="2"/>`,
      `<alto a=1/>`,
      `<alto a="<"/>`,
      `<alto a="1"b="2"/>`,
      `<alto a/>`,
      "<alto>&nbsp;</alto>",
      `<!DOCTYPE alto [<!ENTITY a "aaaa">]><alto>&a;</alto>`,
      "<alto><!-- </alto>",
      "<alto/>text",
      "<alto>" + "<a>".repeat(64) + "</a>".repeat(64) + "</alto>",
    ]
  ) assert.equal(problem(xml), "not XML", xml.slice(0, 60));
  assert.equal(problem("<PcGts/>"), "not ALTO");
  assert.equal(problem("<!doctype html><p>"), "not XML");
  assert.equal(problem("<html><body>502</body></html>"), "not ALTO");
  assert.equal(problem(" ".repeat(MAX_ALTO_CHARACTERS + 1)), "too large");
  assert.equal(problem(`\ufeff<?xml version="1.0"?><!DOCTYPE alto SYSTEM "alto.dtd"><x:alto xmlns:x="any"/>`), null);
});

/** How a document is written, which must not matter. */
interface Manner {
  readonly prefix: string;
  readonly quote: string;
  readonly gap: string;
  readonly sp: boolean;
}

const manner: fc.Arbitrary<Manner> = fc.record({
  prefix: fc.constantFrom("", "alto:", "ns0:"),
  quote: fc.constantFrom('"', "'"),
  gap: fc.constantFrom("", "\n  ", "<!-- <String CONTENT='no'/> -->", "<?target <?>"),
  sp: fc.boolean(),
});
const content = fc.string({ unit: fc.constantFrom(..."aåÖ<>&\"' 𝔸-x") }).filter((text) => text.trim() !== "");
const number = fc.integer({ min: 0, max: 9999 });
const confidence = fc.option(fc.integer({ min: 0, max: 100 }).map((percent) => percent / 100));
const box = fc.record({ x: number, y: number, width: number, height: number }, { noNullPrototype: true });
const words = fc.array(fc.record({ text: content, confidence, box }, { noNullPrototype: true }), {
  minLength: 1,
  maxLength: 4,
});
const blocks = fc.array(fc.array(words, { maxLength: 3 }), { maxLength: 4 });

Deno.test("ALTO: what is written is read, in whatever manner", () => {
  fc.assert(fc.property(blocks, manner, (blocks, { prefix, quote, gap, sp }) => {
    const escaped = (value: unknown) =>
      String(value).replace(/[<&"']/g, (character) => `&#${character.charCodeAt(0)};`);
    const element = (name: string, attributes: Readonly<Record<string, unknown>>, inside = "") => {
      const written = Object.entries(attributes).map(([key, value]) => ` ${key} = ${quote}${escaped(value)}${quote}`);
      const tag = `${prefix}${name}${written.join("")}`;
      return inside === "" ? `<${tag}/>` : `<${tag}>${gap}${inside}${gap}</${prefix}${name} >`;
    };
    const wordXml = ({ text, confidence, box: { x, y, width, height } }: (typeof blocks)[0][0][0]) => {
      const place = { HPOS: x, VPOS: y, WIDTH: width, HEIGHT: height };
      return element("String", { ...place, ...(confidence !== null && { WC: confidence }), CONTENT: text });
    };
    const lineXml = (words: (typeof blocks)[0][0]) =>
      element("TextLine", {}, words.map(wordXml).join(sp ? element("SP", {}) : gap));
    const blockXml = (lines: (typeof blocks)[0]) => element("TextBlock", {}, lines.map(lineXml).join(gap));
    const xml = element("alto", {}, blocks.map(blockXml).join(gap));
    const read = altoPage(xml).blocks.map(({ lines }) =>
      lines.map(({ words }) => words.map(({ text, confidence, box }) => ({ text, confidence, box })))
    );
    assert.deepEqual(read, blocks);
  }));
});

/** A line of strings; " " is an SP. */
const lineOf = (parts: readonly string[], attributes = "") =>
  `<TextLine${attributes}>${
    parts.map((part) => part === " " ? "<SP/>" : part.startsWith("<") ? part : `<String CONTENT="${part}"/>`).join("")
  }</TextLine>`;
const joinedLine = (...parts: string[]) => {
  const [line] = altoPage(`<alto><TextBlock>${lineOf(parts)}</TextBlock></alto>`).blocks[0].lines;
  assert.deepEqual(
    line.words.map(({ text }, at) => line.text.slice(line.starts[at]).startsWith(text)).includes(false),
    false,
  );
  return line.text;
};

Deno.test("ALTO: in a line with SP between its words, SP alone makes a space", () => {
  assert.equal(joinedLine("Hej", ",", " ", "du", "!"), "Hej, du!");
  assert.equal(joinedLine("日", "本", " ", "2024", "年"), "日本 2024年");
  assert.equal(joinedLine(" ", "a", " ", " ", "b", "c", " "), "a bc");
  assert.equal(joinedLine("a", " ", "kon", '<HYP CONTENT="-"/>'), "a kon-");
  // An SP at an end parts no words.
  assert.equal(joinedLine("a", "b", " "), "a b");
});

Deno.test("ALTO: without SP, words have a space between them except in scripts that write none", () => {
  assert.equal(joinedLine("Hej", ",", "du"), "Hej , du");
  assert.equal(joinedLine("日", "本", "新", "聞"), "日本新聞");
  assert.equal(joinedLine("明治", "十", "年", "、", "東京"), "明治十年、東京");
  assert.equal(joinedLine("한", "국", "어"), "한국어");
  assert.equal(joinedLine("한국", "사람"), "한국 사람");
  assert.equal(joinedLine("ภาษา", "ไทย", "."), "ภาษาไทย.");
  assert.equal(joinedLine("ភាសា", "ខ្មែរ"), "ភាសាខ្មែរ");
  assert.equal(joinedLine("ພາສາ", "ລາວ"), "ພາສາລາວ");
  assert.equal(joinedLine("𠮷", "野", "家"), "𠮷野家");
  assert.equal(joinedLine("年", "1", "7", "2", "0", "O", "K"), "年1720OK");
  assert.equal(joinedLine("東京", "1720", "年", "(", "書", ")"), "東京1720年(書)");
  assert.equal(joinedLine("Tokyo", "東", "京", "Osaka", "city"), "Tokyo 東京 Osaka city");
  assert.equal(joinedLine("cafe", "\u0301"), "cafe\u0301");
  assert.equal(joinedLine("H", "e", "j"), "H e j");
});

Deno.test("ALTO: the base direction is the stated one, that of a language where letters agree, or that of the first letter", () => {
  const directions = (...lines: string[]) =>
    altoPage(lines.join("")).blocks.flatMap(({ lines }) => lines.map(({ direction }) => direction));
  const page = (attributes: string, ...lines: string[]) =>
    directions(`<alto><Layout><Page${attributes}>`, ...lines, "</Page></Layout></alto>");
  const block = (attributes: string, ...lines: string[]) =>
    `<PrintSpace><TextBlock${attributes}>${lines.join("")}</TextBlock></PrintSpace>`;
  const rtl = ' BASEDIRECTION="rtl"';
  const ltr = ' BASEDIRECTION="LTR"';
  assert.deepEqual(page("", block("", lineOf(["שלום"]), lineOf(["12"]), lineOf(["a"]))), [null, null, null]);
  assert.deepEqual(
    page(rtl, block("", lineOf(["a"])), block(ltr, lineOf(["a"]), lineOf(["ב"], rtl)), block("", lineOf(["a"]))),
    ["rtl", "ltr", "rtl", "rtl"],
  );
  assert.deepEqual(
    page("", block("", lineOf([`<String CONTENT="a"${rtl}/>`, "b"]), lineOf([`<String CONTENT="a"${rtl}/>`], ltr))),
    ["rtl", "ltr"],
  );
  assert.deepEqual(page(' LANG="ar-EG"', block("", lineOf(["12 (3)"]), lineOf(["abc"]), lineOf(["abc ד"]))), [
    "rtl",
    null,
    "rtl",
  ]);
  assert.deepEqual(page(' LANG="sv"', block(' language="heb"', lineOf(["1"]), lineOf(["1"], ' LANG="en"'))), [
    "rtl",
    null,
  ]);
  assert.deepEqual(page("", block(' LANG="ku-Arab"', lineOf(["1"])), block(' LANG="fao"', lineOf(["1"]))), [
    "rtl",
    null,
  ]);
  assert.deepEqual(page(' BASEDIRECTION="ttb"', block("", lineOf(["日"]))), [null]);
});

Deno.test("ALTO: whatever strings and spaces a line has, its words are where it says, and nothing else but spaces", () => {
  const part = fc.oneof(
    fc.constantFrom(" ", "日", "ไทย", "한", "a", ",", "𠮷", "\u0301", "12", '<HYP CONTENT="-"/>'),
    fc.string({ unit: fc.constantFrom("a", "日", "،", "ש", "-", "์"), minLength: 1, maxLength: 4 }),
  );
  fc.assert(
    fc.property(fc.array(part, { maxLength: 12 }), (parts) => {
      const [line] = altoPage(`<alto><TextBlock>${lineOf(parts)}</TextBlock></alto>`).blocks[0].lines;
      if (line === undefined) return;
      assert.deepEqual(
        line.words.map(({ text }, at) => line.text.slice(line.starts[at], line.starts[at] + text.length)),
        line.words.map(({ text }) => text),
      );
      const bare = line.words.map(({ text }) => text).join("");
      assert.ok([bare, `${bare}-`].includes(line.text.replaceAll(" ", "")));
    }),
  );
});
