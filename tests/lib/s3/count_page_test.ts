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

Deno.test("count page: keys, sizes, folders, the least and the greatest name, and the token are read", () => {
  const xml = list(
    `<IsTruncated> true </IsTruncated><EncodingType>url</EncodingType><NextContinuationToken>a&amp;b</NextContinuationToken>` +
      entry("a+%C3%A5", 5) + entry("b%01", 7) + "<CommonPrefixes><Prefix>c%2F</Prefix></CommonPrefixes>" +
      "<CommonPrefixes><Prefix>A/</Prefix></CommonPrefixes>",
  );
  assert.deepEqual(numbers(xml), {
    keys: 2,
    bytes: 12,
    prefixes: ["c/", "A/"],
    first: "A/",
    last: "c/",
    isTruncated: true,
    token: "a&b",
  });
});

Deno.test("count page: within counts what lies behind one key and up to another", () => {
  const page = parseCountPage(list(["a", "b", "c", "d"].map((key, n) => entry(key, n)).join("")));
  const { keys, bytes, first, last } = page.within("a", "c");
  assert.deepEqual([keys, bytes, first, last], [2, 3, "b", "c"]);
});
