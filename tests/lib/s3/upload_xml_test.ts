import assert from "node:assert/strict";
import fc from "fast-check";
import { childReader, parsePartPage, parseUploadPage } from "@/lib/s3/upload_xml.ts";
import { MalformedXml } from "@/lib/s3/xml.ts";

const escaped = (text: string) => text.replace(/[&<>"'\r]/g, (character) => `&#${character.charCodeAt(0)};`);
const PLAIN = { noNullPrototype: true };
const named = fc.string({ unit: "grapheme", minLength: 1 });

Deno.test("upload page: any uploads come back in order, names decoded where they came encoded", () => {
  const upload = fc.record({ Key: named, UploadId: named, StorageClass: fc.option(fc.constant("STANDARD")) }, PLAIN);
  fc.assert(fc.property(fc.array(upload), named, fc.boolean(), fc.boolean(), (uploads, marker, encode, truncated) => {
    const shown = encode ? encodeURIComponent : escaped;
    const entries = uploads.map(({ Key, UploadId, StorageClass }) =>
      `<Upload><Key>${shown(Key)}</Key><UploadId>${escaped(UploadId)}</UploadId>` +
      `<Initiated>2024-01-01T00:00:00.500Z</Initiated><StorageClass>${StorageClass ?? ""}</StorageClass></Upload>`
    );
    const page = parseUploadPage(
      `<ListMultipartUploadsResult>${entries.join("")}<NextKeyMarker>${shown(marker)}</NextKeyMarker>` +
        `<NextUploadIdMarker>${escaped(marker)}</NextUploadIdMarker><IsTruncated> ${truncated} </IsTruncated>` +
        `${encode ? "<EncodingType>url</EncodingType>" : ""}</ListMultipartUploadsResult>`,
    );
    assert.deepEqual(page, {
      uploads: uploads.map((upload) => ({ ...upload, Initiated: "2024-01-01T00:00:00.500000Z" })),
      is_truncated: truncated,
      next_key_marker: marker,
      next_upload_id_marker: marker,
    });
  }));
});

Deno.test("part page: any parts come back in order", () => {
  const part = fc.record({
    PartNumber: fc.integer({ min: 1, max: 10_000 }),
    ETag: fc.option(named),
    Size: fc.nat(),
    LastModified: fc.constantFrom(null, "2024-01-01T00:00:00Z"),
  }, PLAIN);
  fc.assert(fc.property(fc.array(part), fc.option(fc.nat()), fc.boolean(), (parts, next, truncated) => {
    const entries = parts.map(({ PartNumber, ETag, Size, LastModified }) =>
      `<Part><PartNumber>${PartNumber}</PartNumber>${ETag === null ? "" : `<ETag>${escaped(ETag)}</ETag>`}` +
      `<Size>${Size}</Size>${LastModified ? `<LastModified>${LastModified}</LastModified>` : ""}</Part>`
    );
    const page = parsePartPage(
      `<ListPartsResult><NextPartNumberMarker>${next ?? ""}</NextPartNumberMarker>${entries.join("")}` +
        `<IsTruncated>${truncated}</IsTruncated></ListPartsResult>`,
    );
    assert.deepEqual(page, { parts, is_truncated: truncated, next_part_number_marker: next });
  }));
});

Deno.test("upload and part pages: an entry without its name, and values that are none, are refused", () => {
  const upload = (inside: string) => () =>
    parseUploadPage(`<ListMultipartUploadsResult><Upload>${inside}</Upload></ListMultipartUploadsResult>`);
  assert.equal(upload("<Key>k</Key><UploadId>u</UploadId>")().uploads.length, 1);
  assert.throws(upload("<Key>k</Key><UploadId/>"), MalformedXml);
  assert.throws(upload("<Key/><UploadId>u</UploadId>"), MalformedXml);
  assert.throws(upload("<Key>k</Key><UploadId>u</UploadId><Initiated>soon</Initiated>"), MalformedXml);
  const part = (inside: string) => () => parsePartPage(`<ListPartsResult><Part>${inside}</Part></ListPartsResult>`);
  assert.equal(part("<PartNumber>1</PartNumber>")().parts.length, 1);
  for (const bad of ["<PartNumber>0</PartNumber>", "<PartNumber>x</PartNumber>", "<Size>1</Size>"]) {
    assert.throws(part(bad), MalformedXml, bad);
  }
  const encoded = "<EncodingType>url</EncodingType><NextKeyMarker>%</NextKeyMarker>";
  assert.throws(
    () => parseUploadPage(`<ListMultipartUploadsResult>${encoded}</ListMultipartUploadsResult>`),
    MalformedXml,
  );
});

Deno.test("child of a document: its text, null without it, and another document is rejected", () => {
  const read = childReader("CopyPartResult", "ETag");
  fc.assert(fc.property(fc.string({ unit: "grapheme" }), (etag) => {
    assert.equal(read(`<CopyPartResult xmlns="x"><Other/><ETag>${escaped(etag)}</ETag></CopyPartResult>`), etag);
  }));
  assert.equal(read("<CopyPartResult/>"), null);
  assert.equal(read("<CopyPartResult><Part><ETag>e</ETag></Part></CopyPartResult>"), null);
  assert.throws(() => read("<CopyObjectResult><ETag>e</ETag></CopyObjectResult>"), MalformedXml);
});
