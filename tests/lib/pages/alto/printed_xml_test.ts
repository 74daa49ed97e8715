import assert from "node:assert/strict";

import fc from "fast-check";

import { printXmlInSteps } from "@/lib/pages/alto/printed_xml.ts";
import { ALTO_2, ALTO_3, ALTO_4, ALTO_ORDERED } from "./samples.ts";
import { resultOf } from "@/tests/result_of.ts";

const printed = (xml: string) => resultOf(printXmlInSteps(xml));

Deno.test("printed XML: an element on each line, texts and empty elements on the line of their element", () => {
  const xml =
    `<?xml version="1.0"?><!-- c --><a b="1"\n   c='&amp;'><d/><e>text &lt;\n  x</e>\n<f> </f><g>t<h/>u</g></a>`;
  assert.deepEqual(printed(xml), {
    lines: [
      `<?xml version="1.0"?>`,
      "<!-- c -->",
      `<a b="1" c='&amp;'>`,
      "  <d/>",
      "  <e>text &lt; x</e>",
      "  <f></f>",
      "  <g>t",
      "    <h/>",
      "    u</g>",
      "</a>",
    ],
    isCut: false,
  });
});

Deno.test("printed XML: what is laid out already stays as it is, and nothing but white space changes", () => {
  for (const sample of [ALTO_2, ALTO_3, ALTO_4, ALTO_ORDERED]) {
    const { lines } = printed(sample);
    assert.equal(lines.join("").replace(/\s/g, ""), sample.replace(/\s/g, ""));
    assert.deepEqual(printed(lines.join("\n")).lines, lines);
  }
});

Deno.test("printed XML: what is malformed is shown as it is, in lines of bearable length", () => {
  assert.deepEqual(printed("<a>\r\n<b>\n\n& </a>"), { lines: ["<a>", "<b>", "", "& </a>"], isCut: false });
  assert.deepEqual(printed(`<${"x".repeat(4100)}`).lines.map(({ length }) => length), [2000, 2000, 101]);
  fc.assert(fc.property(fc.string({ unit: fc.constantFrom(..."<>/ab \n\"'=&;!-") }), (text) => {
    const { lines, isCut } = printed(text);
    assert.equal(lines.join("").replace(/\s/g, ""), text.replace(/\s/g, ""));
    assert.equal(isCut, false);
  }));
});

Deno.test("printed XML: the end of a very long document is left out", () => {
  for (const end of ["</a>", "<"]) {
    const { lines, isCut } = printed(`<a>${`<b c="${"x".repeat(100)}"/>\n`.repeat(45_000)}${end}`);
    assert.equal(isCut, true);
    assert.ok(lines.length > 30_000 && lines.length < 45_000);
  }
});
