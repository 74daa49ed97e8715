import assert from "node:assert/strict";
import fc from "fast-check";
import { composed, folded, MAX_INDEX_BYTES, type VolumeHit, VolumeIndex } from "@/lib/pages/search/volume_index.ts";
import { lineMarks, textLines } from "@/lib/pages/viewer/viewer_text.ts";
import { altoPage } from "@/tests/lib/pages/alto/samples.ts";
import { altoFile, altoOf } from "./alto_files.ts";

const UNKNOWN = { width: null, height: null };

function indexOf(...files: readonly string[]): VolumeIndex {
  const index = new VolumeIndex();
  files.forEach((xml, canvas) => assert.ok(index.add(canvas, altoPage(xml), UNKNOWN)));
  return index;
}

function hitsOf(index: VolumeIndex, query: string, isFolded = true): readonly VolumeHit[] {
  return index.search(query, { isFolded, limit: 100 }).hits;
}

/** Whether boxes are the same but for the precision that they are stored with. */
function assertBoxes(found: readonly VolumeHit["boxes"][number][], wanted: readonly (readonly number[])[]): void {
  assert.deepEqual(
    found.map((box) => [box.x, box.y, box.width, box.height].map((n) => Math.round(n * 1e6) / 1e6)),
    wanted,
  );
}

Deno.test("volume index: a word is found with its canvas, its line, its box and the text around it", () => {
  const index = indexOf(altoOf("det var", "en gång"), altoOf("som stod", "vid vägen"));
  const [hit, ...others] = hitsOf(index, "vägen");
  assert.deepEqual(others, []);
  assert.deepEqual([hit.canvas, hit.line, hit.before, hit.match, hit.after], [1, 1, "som stod vid ", "vägen", ""]);
  assertBoxes(hit.boxes, [[0.1, 0.025, 0.09, 0.02]]);
});

Deno.test("volume index: folded, a letter finds its accents and its case; otherwise exactly itself", () => {
  const index = indexOf(altoOf("Åbo Abo åbo ſak"));
  const matches = (query: string, isFolded: boolean) => hitsOf(index, query, isFolded).map(({ match }) => match);
  assert.deepEqual(matches("abo", true), ["Åbo", "Abo", "åbo"]);
  assert.deepEqual(matches("ÅBO", true), ["Åbo", "Abo", "åbo"]);
  assert.deepEqual(matches("åbo", false), ["åbo"]);
  assert.deepEqual(matches("a\u030abo", false), ["åbo"]);
  assert.deepEqual(matches("abo", false), []);
  assert.deepEqual(matches("sak", true), ["ſak"]);
});

Deno.test("volume index: a phrase is found over a line end, with a box on each line", () => {
  const [hit] = hitsOf(indexOf(altoOf("allt för", "länge sedan")), "för länge");
  assert.equal(hit.line, 0);
  assertBoxes(hit.boxes, [[0.1, 0, 0.09, 0.02], [0, 0.025, 0.09, 0.02]]);
  const [wide] = hitsOf(indexOf(altoOf("a b c")), "b c");
  assertBoxes(wide.boxes, [[0.1, 0, 0.19, 0.02]]);
});

Deno.test("volume index: a word that a line end divides is found whole", () => {
  const divided = altoFile([
    ["i", ["lands-", 'SUBS_TYPE="HypPart1" SUBS_CONTENT="landskansli"']],
    [["kansli", 'SUBS_TYPE="HypPart2" SUBS_CONTENT="landskansli"'], "finns"],
  ]);
  for (const xml of [divided, altoOf("i lands-", "kansli finns"), altoOf("i lands¬", "kansli finns")]) {
    const [hit] = hitsOf(indexOf(xml), "i landskansli finns");
    assert.equal(hit.match, "i landskansli finns");
    assert.equal(hit.boxes.length, 2);
    assertBoxes(hitsOf(indexOf(xml), "kansli")[0].boxes, [[0, 0.025, 0.09, 0.02]]);
  }
  const modern = altoFile([
    [["hwit-", 'SUBS_TYPE="HypPart1" SUBS_CONTENT="vittnet"']],
    [["Net", 'SUBS_TYPE="HypPart2" SUBS_CONTENT="vittnet"']],
  ]);
  assert.equal(hitsOf(indexOf(modern), "vittnet").length, 1);
  assert.equal(hitsOf(indexOf(altoOf("Karl-", "Johan")), "Karl-Johan").length, 1);
  assert.equal(hitsOf(indexOf(altoOf("en -", "annan")), "- annan").length, 1);
});

/** The marked parts of the lines of a file, with the current hit in brackets. */
function marksOf(xml: string, query: string, current = 0): readonly string[] {
  const page = altoPage(xml);
  const hits = hitsOf(indexOf(xml), query);
  const lines = textLines(page, UNKNOWN);
  const marks = lineMarks(lines, hits, hits[current] ?? null);
  return [...marks].flatMap(([line, own]) =>
    own.map(({ from, to, isCurrent }) => {
      const part = lines[line].text.slice(from, to);
      return `${line}: ${isCurrent ? `[${part}]` : part}`;
    })
  );
}

Deno.test("line marks: parts of words, whole phrases, and both ends of what a line end divides", () => {
  assert.deepEqual(marksOf(altoOf("det var en gång", "en sång"), "ng"), ["0: [ng]", "1: ng"]);
  assert.deepEqual(marksOf(altoOf("det var en gång", "en sång"), "ar en gå", 1), ["0: ar en gå"]);
  assert.deepEqual(marksOf(altoOf("i lands-", "kansli finns"), "landskansli fi"), ["0: [lands-]", "1: [kansli fi]"]);
  assert.deepEqual(marksOf(altoOf("ja ja ja"), "ja", 1), ["0: ja", "0: [ja]", "0: ja"]);
  assert.deepEqual(marksOf(altoOf("en va\u0308g"), "väg"), ["0: [va\u0308g]"]);
  assert.deepEqual(marksOf(altoOf("en"), "två"), []);
});

Deno.test("line marks: hits in one decomposed word are one mark, which repeats no text", () => {
  const xml = altoOf("pa\u030aga\u030angen annan");
  assert.deepEqual(marksOf(xml, "å", 9), ["0: pa\u030aga\u030angen", "0: a", "0: a"]);
  assert.deepEqual(marksOf(xml, "å", 1), ["0: [pa\u030aga\u030angen]", "0: a", "0: a"]);
  assert.deepEqual(marksOf(altoOf("a\u030a en", "a\u030a"), "å en å"), ["0: [a\u030a en]", "1: [a\u030a]"]);
});

Deno.test("line marks: hits in neighbouring words are marks of their own", () => {
  assert.deepEqual(marksOf(altoOf("ba ab"), "a", 9), ["0: a", "0: a"]);
  assert.deepEqual(marksOf(altoOf("aaaa"), "aa", 9), ["0: aa", "0: aa"]);
});

Deno.test("volume index: hits come in the order of the canvases, up to the limit", () => {
  const index = new VolumeIndex();
  for (const canvas of [7, 2, 5]) index.add(canvas, altoPage(altoOf("ja ja")), UNKNOWN);
  assert.deepEqual(hitsOf(index, "ja").map(({ canvas }) => canvas), [2, 2, 5, 5, 7, 7]);
  const { hits, isCut } = index.search("ja", { isFolded: true, limit: 3 });
  assert.deepEqual([hits.length, isCut], [3, true]);
  assert.equal(index.search("ja", { isFolded: true, limit: 6 }).isCut, false);
  for (const empty of ["", "  ", "nej"]) assert.deepEqual(index.search(empty, { isFolded: true, limit: 3 }).hits, []);
});

Deno.test("volume index: the text around a hit ends at whole words", () => {
  const words = Array.from({ length: 40 }, (_, i) => `ord${i}`).join(" ");
  const [{ before, after }] = hitsOf(indexOf(altoOf(words)), "ord20");
  assert.match(before, /^…ord\d+ .*ord19 $/);
  assert.match(after, /^ ord21 .*ord\d+…$/);
});

Deno.test("volume index: a page beyond the memory is not added, and one that is added again takes its memory once", () => {
  const page = altoPage(altoOf("hundra ord"));
  const bytes = "hundra ord".length * 4 + 2 * 24;
  const index = new VolumeIndex(bytes * 2);
  assert.deepEqual([0, 0, 1, 2].map((canvas) => index.add(canvas, page, UNKNOWN)), [true, true, true, false]);
  assert.deepEqual(hitsOf(index, "ord").map(({ canvas }) => canvas), [0, 1]);
  assert.ok(MAX_INDEX_BYTES <= 256 * 1024 * 1024);
});

Deno.test("volume index: without the size of the page there are hits without boxes", () => {
  const xml =
    "<alto><Layout><Page><PrintSpace><TextBlock><TextLine><String CONTENT='ord'/></TextLine></TextBlock></PrintSpace></Page></Layout></alto>";
  assert.deepEqual(hitsOf(indexOf(xml), "ord")[0].boxes, []);
});

Deno.test("volume index: a file without the size of the page has boxes by the extent of the canvas", () => {
  const index = new VolumeIndex();
  const page = altoPage(altoOf("det var").replace(/<Page [^>]*>/, "<Page>"));
  assert.deepEqual([page.width, page.height], [null, null]);
  index.add(0, page, { width: 1000, height: 2000 });
  assertBoxes(hitsOf(index, "var")[0].boxes, [[0.1, 0, 0.09, 0.02]]);
});

Deno.test("volume index: folding keeps the length of any text, so positions stay", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), (text) => {
      assert.equal(folded(text).length, text.length);
      assert.equal(folded(folded(text)), folded(text));
    }),
    { numRuns: 500 },
  );
  assert.equal(folded("İstanbul ß ﬁ Ö"), "istanbul ß ﬁ o");
  assert.equal(folded("Ø Ǿ ø Ł"), "o o o l");
});

Deno.test("volume index: what stands on a page is found, whatever the words and wherever the lines end", () => {
  const word = fc.stringMatching(/^[a-zåäöA-ZÅÄÖé]{1,8}$/);
  const lines = fc.array(fc.array(word, { minLength: 1, maxLength: 5 }), { minLength: 1, maxLength: 6 });
  fc.assert(fc.property(lines, fc.nat(), fc.nat(4), fc.boolean(), (lines, at, more, isFolded) => {
    const words = lines.flat();
    const from = at % words.length;
    const phrase = words.slice(from, from + 1 + more).join(" ");
    const hits = hitsOf(indexOf(altoFile(lines)), phrase, isFolded);
    assert.ok(hits.length > 0);
    const same = isFolded ? folded(composed(phrase)) : composed(phrase);
    for (const { match, boxes } of hits) {
      assert.equal(isFolded ? folded(match) : match, same);
      assert.ok(boxes.length >= 1 && boxes.length <= lines.length);
    }
  }));
});

Deno.test("volume index: no query makes the search throw", () => {
  const index = indexOf(altoOf("a.b (c) [d] *", "e\\f"));
  fc.assert(fc.property(fc.string({ unit: "binary" }), fc.boolean(), (query, isFolded) => {
    for (const { match } of hitsOf(index, query, isFolded)) assert.ok(match.length > 0);
  }));
  assert.equal(hitsOf(index, "(c) [d]").length, 1);
});

Deno.test("volume index: words without a space between them are found as they stand, with one mark", () => {
  const line = (...words: string[]) =>
    `<TextLine>${words.map((word) => word === " " ? "<SP/>" : `<String CONTENT="${word}"/>`).join("")}</TextLine>`;
  const xml = `<alto><TextBlock>${line("Hej", ",", " ", "du", "!")}${line("日", "本", "新")}${
    line("聞", "社")
  }</TextBlock></alto>`;
  const index = indexOf(xml);
  const lines = textLines(altoPage(xml), UNKNOWN);
  const found = (query: string) => {
    const hits = hitsOf(index, query);
    return [...lineMarks(lines, hits, null)].map(([line, marks]) =>
      marks.map(({ from, to }) => `${line}:${lines[line].text.slice(from, to)}`)
    );
  };
  assert.deepEqual(found("hej, du!"), [["0:Hej, du!"]]);
  assert.deepEqual(found("本新聞"), [["1:本新"], ["2:聞"]]);
  assert.deepEqual(found("hej ,"), []);
  // Scripts without spaces have text around a hit as well.
  const [hit] = hitsOf(
    indexOf(`<alto><TextBlock>${line("𠮷".repeat(60), "書", "𠮷".repeat(60))}</TextBlock></alto>`),
    "書",
  );
  assert.deepEqual([hit.before, hit.after], [`…${"𠮷".repeat(25)}`, `${"𠮷".repeat(25)}…`]);
});
