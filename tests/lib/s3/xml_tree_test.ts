import assert from "node:assert/strict";
import fc from "fast-check";
import { MalformedXml } from "@/lib/s3/xml.ts";
import { readTree, type XmlElement } from "@/lib/s3/xml_tree.ts";

interface Node {
  readonly name: string;
  readonly text: string;
  readonly children: readonly Node[];
}

const PLAIN = { noNullPrototype: true };
const name = fc.constantFrom("a", "b", "long-name");
const { node } = fc.letrec<{ node: Node }>((tie) => ({
  node: fc.oneof(
    { maxDepth: 6, withCrossShrink: true },
    fc.record({ name, text: fc.string({ unit: "grapheme" }), children: fc.constant([]) }, PLAIN),
    fc.record({ name, text: fc.constant(""), children: fc.array(tie("node"), { minLength: 1, maxLength: 4 }) }, PLAIN),
  ),
}));

function written({ name, text, children }: Node): string {
  const escaped = text.replace(/[&<>\r]/g, (character) => `&#${character.charCodeAt(0)};`);
  return `<${name}>${escaped}${children.map(written).join("")}</${name}>`;
}

const plain = ({ name, content, children }: XmlElement): Node => ({
  name,
  text: content,
  children: children.map(plain),
});

Deno.test("XML tree: any document comes back as it was written", () => {
  fc.assert(fc.property(fc.array(node), (children) => {
    const root = { name: "root", text: "", children };
    assert.deepEqual(plain(readTree(written(root), "root")), root);
  }));
});

Deno.test("XML tree: a path leads through every element of its names", () => {
  const root = readTree("<r><a><b>1</b><b>2</b></a><a><b>3</b><b><c/></b></a><a/><a>4</a></r>", "r");
  assert.deepEqual(root.texts("a", "b"), ["1", "2", "3"]);
  assert.equal(root.text("a", "b"), "3", "the last one");
  assert.deepEqual([root.text("a", "c"), root.text("a", "b", "c"), root.text("b")], [null, "", null]);
  assert.deepEqual(root.all("a").map((element) => element.texts("b")), [["1", "2"], ["3"]]);
  assert.deepEqual([root.read(Number, "a", "b"), root.read(Number, "b")], [3, null]);
});

Deno.test("XML tree: another root, another document or too many elements are refused", () => {
  assert.deepEqual(readTree("<r/>", "r").children, []);
  for (const xml of ["<s/>", "<s><r/></s>", "<rr/>", "", "<r>", "<!DOCTYPE r><r/>"]) {
    assert.throws(() => readTree(xml, "r"), MalformedXml, xml);
  }
  assert.throws(() => readTree(`<r>${"<a/>".repeat(500_000)}</r>`, "r"), MalformedXml);
});
