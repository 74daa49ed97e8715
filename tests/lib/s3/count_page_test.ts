import assert from "node:assert/strict";
import { parseCountPage } from "@/lib/s3/count_page.ts";

const entry = (key: string, size: number) =>
  `<Contents><Key>${key}</Key><Owner><ID>x</ID></Owner><Size>${size}</Size><StorageClass>STANDARD</StorageClass></Contents>`;
const list = (inner: string) =>
  `<?xml version="1.0"?>\n<ListBucketResult xmlns="http://s3">${inner}</ListBucketResult>\n`;
const numbers = (xml: string) => {
  const { within: _, ...page } = parseCountPage(xml);
  return page;
};

Deno.test("count page: keys, sizes, folders, ends and token are read, names decoded", () => {
  const xml = list(
    `<IsTruncated> true </IsTruncated><EncodingType>url</EncodingType><NextContinuationToken>a&amp;b</NextContinuationToken>` +
      entry("a+%C3%A5", 5) + entry("b%01", 7) + "<CommonPrefixes><Prefix>c%2F</Prefix></CommonPrefixes>" +
      "<CommonPrefixes><Prefix>A/</Prefix></CommonPrefixes>",
  );
  assert.deepEqual(numbers(xml), {
    keys: 2,
    bytes: 12,
    prefixes: ["c/", "A/"],
    first: "a å",
    last: "b\x01",
    isTruncated: true,
    token: "a&b",
  });
});

Deno.test("count page: what other writers of XML do is read alike", () => {
  const plain = numbers(list(entry("a", 5) + entry("b", 7)));
  assert.deepEqual([plain.keys, plain.bytes, plain.first, plain.last, plain.isTruncated], [2, 12, "a", "b", false]);
  for (
    const xml of [
      list(`<!-- <Contents> -->${entry("a", 5)}${entry("b", 7)}`),
      list(`${entry("<![CDATA[a]]>", 5)}${entry("b", 7)}`),
      list(entry("a", 5) + "\n  " + entry("b", 7)),
      list(entry("a", 5) + entry("b", 7)).replaceAll(/<(\/?)(\w)/g, "<$1s3:$2").replace("xmlns=", "xmlns:s3="),
    ]
  ) assert.deepEqual(numbers(xml), plain, xml);
  assert.equal(numbers(list("<Contents><Key>a</Key></Contents>" + entry("b", 7))).keys, 2, "without a size");
});

Deno.test("count page: any other document is an error", () => {
  for (const xml of ["", "<html/>", "<ListBucketResult>", list(entry("%zz", 1) + "<EncodingType>url</EncodingType>")]) {
    assert.throws(() => parseCountPage(xml), { name: "MalformedXml" }, xml);
  }
});

Deno.test("count page: within counts what lies behind one key and up to another", () => {
  const page = parseCountPage(list(["a", "b", "c", "d"].map((key, n) => entry(key, n)).join("")));
  const { keys, bytes, first, last } = page.within("a", "c");
  assert.deepEqual([keys, bytes, first, last], [2, 3, "b", "c"]);
});
