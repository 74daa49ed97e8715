import assert from "node:assert/strict";
import fc from "fast-check";
import { parseObjectPage } from "@/lib/s3/list_xml.ts";
import { parseVersionPage } from "@/lib/s3/version_xml.ts";
import { MalformedXml } from "@/lib/s3/xml.ts";

const escaped = (text: string) => text.replace(/[&<>"'\r]/g, (character) => `&#${character.charCodeAt(0)};`);

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

Deno.test("pages: another document is refused, never read as an empty page", () => {
  const other = "<Other><Version><Key>k</Key></Version></Other>";
  for (const bad of ["", "text", other, "<Error><Code>x</Code></Error>", "<a>"]) {
    assert.throws(() => parseVersionPage(bad), MalformedXml, bad);
  }
  assert.throws(() => parseVersionPage("<ListVersionsResult><Version><Size>1</Size></Version></ListVersionsResult>"));
});
