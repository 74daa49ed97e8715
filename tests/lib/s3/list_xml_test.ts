import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObjectPage } from "@/lib/s3/list_xml.ts";
import { MalformedXml } from "@/lib/s3/xml.ts";

const escaped = (text: string) => text.replace(/[&<>"'\r]/g, (character) => `&#${character.charCodeAt(0)};`);

Deno.test("object page: reads entries, owners, prefixes and the next token", () => {
  const page = parseObjectPage(`<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">
  <Name>b</Name><Prefix/><KeyCount>2</KeyCount><MaxKeys>1000</MaxKeys><IsTruncated>true</IsTruncated>
  <NextContinuationToken>t&amp;1</NextContinuationToken>
  <Contents>
    <Key> a &lt;b&gt; &#xe5;<![CDATA[<&>]]></Key><LastModified>2024-01-01T01:02:03.456Z</LastModified>
    <ETag>&quot;abc&quot;</ETag><Size>12</Size><StorageClass>STANDARD</StorageClass>
    <Owner><ID>id</ID><DisplayName>me</DisplayName></Owner>
  </Contents>
  <s3:Contents><s3:Key>x</s3:Key><LastModified>2024-01-01T00:00:00.000Z</LastModified><Size>0</Size></s3:Contents>
  <CommonPrefixes><Prefix>dir/</Prefix></CommonPrefixes>
</ListBucketResult>`);
  assert.deepEqual(page, {
    objects: [
      {
        Key: " a <b> å<&>",
        Size: 12,
        LastModified: "2024-01-01T01:02:03.456000Z",
        ETag: '"abc"',
        StorageClass: "STANDARD",
        Owner: { DisplayName: "me", ID: "id" },
      },
      { Key: "x", Size: 0, LastModified: "2024-01-01T00:00:00Z", ETag: null, StorageClass: null, Owner: null },
    ],
    common_prefixes: ["dir/"],
    is_truncated: true,
    next_continuation_token: "t&1",
    key_count: 2,
  });
});

Deno.test("object page: names come decoded when the store says they are URL-encoded, and only then", () => {
  const page = (type: string) =>
    parseObjectPage(
      `<ListBucketResult>${type}<Contents><Key>a+b%2Bc%01</Key></Contents><CommonPrefixes><Prefix>%C3%A5/</Prefix></CommonPrefixes></ListBucketResult>`,
    );
  const decoded = page("<EncodingType>url</EncodingType>");
  assert.equal(decoded.objects[0].Key, "a b+c\x01");
  assert.deepEqual(decoded.common_prefixes, ["å/"]);
  assert.equal(decoded.key_count, 2);
  assert.equal(page("").objects[0].Key, "a+b%2Bc%01");
});

Deno.test("object page: any key comes back as it was", () => {
  const keys = fc.string({ unit: "grapheme", minLength: 1 });
  fc.assert(fc.property(fc.array(keys), fc.boolean(), (names, encode) => {
    const contents = names.map((name) =>
      `<Contents><Key>${encode ? encodeURIComponent(name) : escaped(name)}</Key><Size>1</Size></Contents>`
    );
    const type = encode ? "<EncodingType>url</EncodingType>" : "";
    const page = parseObjectPage(`<ListBucketResult>${contents.join("")}${type}</ListBucketResult>`);
    assert.deepEqual(page.objects.map(({ Key }) => Key), names);
  }));
});

Deno.test("lists: nonsense is refused, never something else", () => {
  const good = `<ListBucketResult><Contents><Key>k</Key><Size>1</Size></Contents></ListBucketResult>`;
  for (
    const bad of [
      "",
      "text",
      "<",
      "<ListBucketResult>",
      "<Error><Code>x</Code></Error>",
      `${good}<more/>`,
      `<!DOCTYPE x [<!ENTITY a "b">]>${good}`,
      good.replace("<Size>1", "<Size>-1"),
      good.replace("<Size>1", "<Size>1e3"),
      good.replace("<Key>k</Key>", ""),
      good.replace("<Key>k</Key>", "<Key>%zz</Key>").replace("</List", "<EncodingType>url</EncodingType></List"),
      good.replace("<Key>k", "<Key>&nbsp;"),
      good.replace("<Key>k", "<Key>&#xD800;"),
      good.replace("</Key>", "</Kex>"),
      `<ListBucketResult>${"<a>".repeat(100)}${"</a>".repeat(100)}</ListBucketResult>`,
    ]
  ) {
    assert.throws(() => parseObjectPage(bad), MalformedXml, bad);
  }
  fc.assert(fc.property(fc.string(), fc.nat(good.length), (noise, at) => {
    try {
      parseObjectPage(good.slice(0, at) + noise + good.slice(at));
    } catch (error) {
      assert.ok(error instanceof MalformedXml);
    }
  }));
});
