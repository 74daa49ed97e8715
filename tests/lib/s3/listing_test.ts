import assert from "node:assert/strict";
import fc from "fast-check";
import { parseCountPage, parseObjectPage, parseVersionPage } from "@/lib/s3/listing.ts";
import { MalformedXml } from "@/lib/s3/s3_xml.ts";

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
});

Deno.test("version page: versions and delete markers, names decoded where they came encoded", () => {
  const page = parseVersionPage(
    `<?xml version="1.0"?><ListVersionsResult xmlns="x"><Name>b</Name><EncodingType>url</EncodingType>` +
      `<KeyMarker>k%2B</KeyMarker><IsTruncated>true</IsTruncated><NextKeyMarker>n%2Fx+y</NextKeyMarker>` +
      `<NextVersionIdMarker>7+8</NextVersionIdMarker>` +
      `<Version><Key>a%2Fb+c</Key><VersionId>3</VersionId><IsLatest>false</IsLatest>` +
      `<LastModified>2024-01-01T01:02:03.456Z</LastModified><ETag>&quot;e&quot;</ETag><Size>12</Size>` +
      `<StorageClass>STANDARD</StorageClass><Owner><ID>i</ID><DisplayName>d</DisplayName></Owner></Version>` +
      `<DeleteMarker><Key>a</Key><VersionId>4</VersionId><IsLatest>true</IsLatest>` +
      `<LastModified>2024-01-01T00:00:00.000Z</LastModified></DeleteMarker></ListVersionsResult>`,
  );
  assert.deepEqual(page, {
    versions: [{
      Key: "a/b c",
      VersionId: "3",
      IsLatest: false,
      LastModified: "2024-01-01T01:02:03.456000Z",
      ETag: '"e"',
      Size: 12,
      StorageClass: "STANDARD",
      Owner: { DisplayName: "d", ID: "i" },
    }],
    delete_markers: [{ Key: "a", VersionId: "4", IsLatest: true, LastModified: "2024-01-01T00:00:00Z", Owner: null }],
    is_truncated: true,
    next_key_marker: "n/x y",
    next_version_id_marker: "7+8",
    key_count: 2,
  });
});

Deno.test("pages of listings: where a page goes on is null when the store leaves it empty, never a text of nothing", () => {
  const versions = parseVersionPage(
    "<ListVersionsResult><NextKeyMarker/><NextVersionIdMarker></NextVersionIdMarker></ListVersionsResult>",
  );
  assert.deepEqual([versions.next_key_marker, versions.next_version_id_marker], [null, null]);
  const objects = parseObjectPage(
    "<ListBucketResult><EncodingType>url</EncodingType><NextContinuationToken/></ListBucketResult>",
  );
  assert.equal(objects.next_continuation_token, null);
});

Deno.test("version page: any keys come back in order, of versions and markers each", () => {
  const entry = fc.record({
    key: fc.string({ unit: "grapheme", minLength: 1 }),
    marker: fc.boolean(),
    id: fc.nat(),
  });
  fc.assert(fc.property(fc.array(entry), fc.boolean(), (entries, encode) => {
    const xml = entries.map(({ key, marker, id }) => {
      const name = marker ? "DeleteMarker" : "Version";
      const shown = encode ? encodeURIComponent(key) : escaped(key);
      return `<${name}><Key>${shown}</Key><VersionId>${id}</VersionId><IsLatest>${id % 2 === 0}</IsLatest></${name}>`;
    });
    const type = encode ? "<EncodingType>url</EncodingType>" : "";
    const page = parseVersionPage(`<ListVersionsResult>${xml.join("")}${type}</ListVersionsResult>`);
    for (const [list, marker] of [[page.versions, false], [page.delete_markers, true]] as const) {
      assert.deepEqual(
        list.map(({ Key, VersionId, IsLatest }) => [Key, VersionId, IsLatest]),
        entries.filter((one) => one.marker === marker).map(({ key, id }) => [key, String(id), id % 2 === 0]),
      );
    }
    assert.equal(page.key_count, entries.length);
  }));
});

const counted = (key: string, size: number) =>
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
      counted("a+%C3%A5", 5) + counted("b%01", 7) + "<CommonPrefixes><Prefix>c%2F</Prefix></CommonPrefixes>" +
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
  const page = parseCountPage(list(["a", "b", "c", "d"].map((key, n) => counted(key, n)).join("")));
  const { keys, bytes, first, last } = page.within("a", "c");
  assert.deepEqual([keys, bytes, first, last], [2, 3, "b", "c"]);
});
