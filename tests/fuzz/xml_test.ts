import fc from "fast-check";
import assert from "node:assert/strict";
import { readAclXml } from "@/embedded/store/s3/access_lists.ts";
import { corsRuleElements, readCorsRules } from "@/embedded/store/s3/cors.ts";
import { completedParts } from "@/embedded/store/s3/multipart_uploads.ts";
import { readXml, type XmlElement as EmbeddedElement } from "@/embedded/store/s3/xml.ts";
import { objectPage, parseObjectPage, parseVersionEntries, parseVersionPage } from "@/lib/s3/listing.ts";
import { parsePartPage, parseUploadPage } from "@/lib/s3/multipart.ts";
import { S3Failure, s3Failure } from "@/lib/s3/s3_errors.ts";
import { MalformedXml } from "@/lib/s3/s3_xml.ts";
import { sdkDocument } from "@/lib/s3/sdk.ts";
import { XmlScanner } from "@/lib/std/xml_scanner.ts";
import { fuzz, isStoreError, near, nearBytes, resultOr } from "./hostile.ts";

const isMalformed = (error: unknown) => error instanceof MalformedXml;

const WORDS = [
  ...["<![CDATA[", "]]>", "<!--", "-->", "<?x?>", "&amp;", "&#x0;", "&#xD800;", "&lt", "<!DOCTYPE a [", "/>", "</"],
  ...["<Key>", "<Contents>", "</Contents>", "<a:Key x='>'>", "&quot;", "&#1114112;", "\ufeff"],
];

const LISTINGS: Readonly<Record<string, string>> = {
  objects:
    '<?xml version="1.0" encoding="UTF-8"?>\n<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">' +
    "<Name>b</Name><KeyCount>2</KeyCount><IsTruncated>true</IsTruncated><NextContinuationToken>t&amp;1</NextContinuationToken>" +
    "<Contents><Key>a&lt;b</Key><LastModified>2024-01-01T01:02:03.456Z</LastModified><ETag>&quot;abc&quot;</ETag>" +
    "<Size>12</Size><StorageClass>STANDARD</StorageClass><Owner><ID>id</ID><DisplayName>me</DisplayName></Owner></Contents>" +
    "<EncodingType>url</EncodingType><CommonPrefixes><Prefix>dir%2F</Prefix></CommonPrefixes></ListBucketResult>",
  versions: "<ListVersionsResult><IsTruncated>false</IsTruncated><Version><Key>a</Key><VersionId>1</VersionId>" +
    "<IsLatest>true</IsLatest><LastModified>2024-01-01T00:00:00Z</LastModified><ETag>x</ETag><Size>1</Size></Version>" +
    "<DeleteMarker><Key>b</Key><VersionId>null</VersionId><IsLatest>false</IsLatest></DeleteMarker></ListVersionsResult>",
  uploads: "<ListMultipartUploadsResult><Upload><Key>k</Key><UploadId>u</UploadId><Initiated>2024-01-01T00:00:00Z" +
    "</Initiated></Upload><IsTruncated>false</IsTruncated></ListMultipartUploadsResult>",
  parts: "<ListPartsResult><Part><PartNumber>1</PartNumber><ETag>x</ETag><Size>5</Size><LastModified>" +
    "2024-01-01T00:00:00Z</LastModified></Part></ListPartsResult>",
  buckets: "<ListAllMyBucketsResult><Owner><ID>i</ID></Owner><Buckets><Bucket><Name>b</Name><CreationDate>" +
    "2024-01-01T00:00:00.000Z</CreationDate></Bucket></Buckets></ListAllMyBucketsResult>",
  acl:
    "<AccessControlPolicy><Owner><ID>o</ID></Owner><AccessControlList><Grant><Grantee xsi:type='Group'><URI>u</URI>" +
    "</Grantee><Permission>READ</Permission></Grant></AccessControlList></AccessControlPolicy>",
  tags: "<Tagging><TagSet><Tag><Key>k</Key><Value>v</Value></Tag></TagSet></Tagging>",
};

const PARSERS: readonly ((xml: string) => unknown)[] = [
  parseVersionPage,
  parseVersionEntries,
  parseUploadPage,
  parsePartPage,
  ...["AccessControlPolicy", "ListAllMyBucketsResult", "Tagging"].map((root) => (xml: string) =>
    sdkDocument(xml, root)
  ),
];

fuzz("listings of the store", {
  inputs: near(Object.values(LISTINGS), WORDS),
  check(xml) {
    const page = resultOr(() => parseObjectPage(xml), isMalformed);
    if (page) assert.deepEqual(objectPage.parse(page), page, "a page has the documented form");
    for (const parse of PARSERS) resultOr(() => parse(xml), isMalformed);
  },
  growth: {
    seeds: Object.values(LISTINGS),
    words: [...WORDS, "<a>", "<a/>", "<a§/>", "<a§></a§>", "&amp;", "<a b='c'/>"],
    read: (xml) => [parseObjectPage, ...PARSERS].map((parse) => resultOr(() => parse(xml), isMalformed)),
  },
});

const ERRORS = [
  "<Error><Code>NoSuchKey</Code><Message>The key &lt;x&gt; is not there</Message><Resource>/b</Resource></Error>",
  "<Error><Code>SlowDown</Code><Message>AWS AKIA:c2lnbmF0dXJl token=abc</Message></Error>",
  "<html><title>502 Bad Gateway</title></html>",
];

fuzz("errors of the store", {
  inputs: fc.tuple(
    near(ERRORS, WORDS),
    fc.constantFrom(200, 301, 400, 403, 404, 409, 412, 416, 429, 500, 503, 507, 599),
  ),
  async check([xml, status]) {
    const failure = await s3Failure(new Response(xml, { status, headers: { "Retry-After": "x\ty" } }), "maps/a");
    assert.ok(failure instanceof S3Failure && failure.status >= 400 && failure.status <= 599, String(failure.status));
    assert.ok(
      typeof failure.detail === "string" && failure.detail.startsWith("maps/a: ") && failure.detail.length < 1000,
    );
    assert.ok(!/\p{Cc}/u.test(failure.detail), "one line without control characters");
  },
  growth: { seeds: ERRORS, read: (xml) => s3Failure(new Response(xml, { status: 500 }), "maps") },
});

const BODIES = [
  "<Delete><Quiet>true</Quiet><Object><Key>a&#10;b</Key><VersionId>1</VersionId></Object><Object><Key>c</Key></Object></Delete>",
  '<CompleteMultipartUpload xmlns="x"><Part><PartNumber>1</PartNumber><ETag>"9b2cf535f27731c974343645a3985328"</ETag>' +
  "<ChecksumCRC32C>sOO8/Q==</ChecksumCRC32C></Part></CompleteMultipartUpload>",
  "<CORSConfiguration><CORSRule><ID>i</ID><AllowedOrigin>https://*.a</AllowedOrigin><AllowedMethod>GET</AllowedMethod>" +
  "<AllowedHeader>x-*</AllowedHeader><MaxAgeSeconds>5</MaxAgeSeconds></CORSRule></CORSConfiguration>",
  LISTINGS.acl,
  LISTINGS.tags,
  '<?xml version="1.0"?><a b="c>d" e=\'"\'><f/>text<g>&#x1F600;</g></a>',
];

fuzz("XML bodies of the embedded store", {
  inputs: nearBytes(BODIES, WORDS),
  check(bytes) {
    const document = resultOr(() => readXml(bytes), isStoreError);
    if (document === null) return;
    resultOr(() => completedParts(document), isStoreError);
    resultOr(() => readAclXml(document), isStoreError);
    const rules = resultOr(() => readCorsRules(document), isStoreError);
    if (rules === null) return;
    const written = new TextEncoder().encode(`<CORSConfiguration>${corsRuleElements(rules)}</CORSConfiguration>`);
    assert.deepEqual(readCorsRules(readXml(written)), rules, "rules are read as they are written");
  },
  growth: {
    seeds: BODIES,
    words: [...WORDS, "<a>", "</a>", " a='b'", " a§='b'", "<a§/>", "<a b='c'/>"],
    read: (text) => resultOr(() => readXml(new TextEncoder().encode(text)), isStoreError),
  },
});

fuzz("XML that two readers take", {
  inputs: near([...BODIES, ...Object.values(LISTINGS)], WORDS).map((xml) => xml.toWellFormed()),
  check(xml) {
    const embedded = resultOr(() => readXml(new TextEncoder().encode(xml)), isStoreError);
    if (embedded === null) return;
    // What they are known to treat apart: line ends, blanks beyond ASCII, and marks in the values of attributes.
    if (/[\r\ufeff\0]|[^\S\t\n ]|[^\s\w-]=|=\s*(?:"[^"]*[>&]|'[^']*[>&])/.test(xml)) return;
    assert.deepEqual(ofScanner(xml), ofEmbedded(embedded));
  },
});

/** Names and texts of elements; the text of one with children is left out. */
interface Outline {
  name: string;
  text: string;
  children: Outline[];
}

function ofEmbedded({ name, text, children }: EmbeddedElement): Outline {
  return { name, text: children.length > 0 ? "" : text, children: children.map(ofEmbedded) };
}

function ofScanner(xml: string): Outline | null {
  const scanner = new XmlScanner(xml);
  const open: Outline[] = [{ name: "", text: "", children: [] }];
  for (let token = scanner.next(); token !== "end"; token = scanner.next()) {
    if (token === "malformed") return null;
    if (token === "open") {
      const element = { name: scanner.name, text: "", children: [] };
      open[open.length - 1].children.push(element);
      open.push(element);
    } else if (token === "text") open[open.length - 1].text += scanner.text;
    else if (token === "close") {
      const closed = open.pop();
      if (closed && closed.children.length > 0) closed.text = "";
    }
  }
  return open[0].children[0];
}
