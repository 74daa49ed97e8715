import assert from "node:assert/strict";
import fc from "fast-check";
import { createServer } from "node:http";
import { HttpError } from "@/lib/http/errors.ts";
import { upstreamClient, type UpstreamRequest } from "@/lib/http/upstream.ts";
import {
  createBucket,
  getAcl,
  type Grant,
  type Grantee,
  listBuckets,
  PERMISSIONS,
  putAcl,
  putCors,
  setVersioning,
} from "@/lib/s3/buckets.ts";
import { type S3, s3Path } from "@/lib/s3/s3_client.ts";
import { abortUpload, listParts, listUploads } from "@/lib/s3/multipart.ts";
import { deleteTags, getTags, sendDelete } from "@/lib/s3/objects.ts";
import { callSdk, sdkDocument } from "@/lib/s3/sdk.ts";
import { fitsXml } from "@/lib/s3/s3_xml.ts";

const CALLER = {
  username: "curator",
  tenant: "archive",
  s3: { accessKey: "key", secretKey: "secret" },
  mapiAuthorization: null,
  named: true,
};

const UPLOAD = { bucket: "b", key: "k", uploadId: "u" };

const escaped = (text: string) => text.replace(/[&<>"'\r\n]/g, (character) => `&#${character.charCodeAt(0)};`);

/** A store that answers what a test says. */
function storeThat(answer: (request: UpstreamRequest) => Response | Promise<Response>, more: Partial<S3> = {}): S3 {
  return {
    addresses: { s3: () => Promise.resolve({ endpoint: "http://store", publicEndpoint: "http://store" }) },
    upstream: { send: async (request) => await answer(request) },
    region: "us-east-1",
    now: () => 0,
    ...more,
  };
}

/** A store that keeps the document of the last PUT. */
function keepingStore(): S3 {
  let kept = "";
  return storeThat(({ method, body }) => {
    if (method === "PUT") kept = String(body);
    return new Response(method === "PUT" ? null : kept);
  });
}

// The parser of the SDK drops blank lines.
const text = fc.string({ unit: "grapheme" }).filter((text) => fitsXml(text) && !/^\s*\n\s*$/.test(text));

Deno.test("SDK: any access list is read as it was written", async () => {
  const PLAIN = { noNullPrototype: true };
  const grantee: fc.Arbitrary<Grantee> = fc.oneof(
    fc.record(
      { Type: fc.constant("CanonicalUser" as const), ID: fc.option(text), DisplayName: fc.option(text) },
      PLAIN,
    ),
    fc.record({ Type: fc.constant("Group" as const), URI: text }, PLAIN),
    fc.record({ Type: fc.constant("AmazonCustomerByEmail" as const), EmailAddress: text }, PLAIN),
  );
  const grant: fc.Arbitrary<Grant> = fc.record(
    { Grantee: grantee, Permission: fc.constantFrom(...PERMISSIONS) },
    PLAIN,
  );
  const owner = fc.record({ DisplayName: fc.option(text), ID: text }, PLAIN);
  const s3 = keepingStore();
  await fc.assert(fc.asyncProperty(owner, fc.array(grant), async (owner, grants) => {
    await putAcl(s3, CALLER, { bucket: "b" }, { owner, grants });
    assert.deepEqual(await getAcl(s3, CALLER, { bucket: "b" }), { owner, grants });
  }));
});

Deno.test("SDK: a text that XML cannot carry is 400 with the name of its member, and nothing is sent", async () => {
  const s3 = storeThat(() => assert.fail("nothing is sent"));
  const group: Grant = { Grantee: { Type: "Group", URI: "u" }, Permission: "READ" };
  const broken: Grant = { ...group, Grantee: { Type: "Group", URI: "\0" } };
  const target = { bucket: "b" };
  const refusals: [string, () => Promise<void>][] = [
    ["Owner.ID", () => putAcl(s3, CALLER, target, { owner: { ID: "\0" } })],
    ["Owner.DisplayName", () => putAcl(s3, CALLER, target, { owner: { ID: "a", DisplayName: "\0" } })],
    ["Grants.1.Grantee.URI", () => putAcl(s3, CALLER, target, { grants: [group, broken] })],
    ["CORSRules.0.ID", () => putCors(s3, CALLER, "b", [{ ID: "\x01" }])],
    ["CORSRules.1.AllowedHeaders.1", () => putCors(s3, CALLER, "b", [{}, { AllowedHeaders: ["a", "\ud800"] }])],
  ];
  for (const [field, work] of refusals) {
    await assert.rejects(work, (error) => {
      assert.ok(error instanceof HttpError && error.status === 400);
      assert.equal(error.message, `${field}: has a character that XML does not allow`);
      return true;
    });
  }
});

Deno.test("SDK: lists of buckets, with and without what is optional", async () => {
  const listed = (xml: string) => listBuckets(storeThat(() => new Response(xml)), CALLER);
  assert.deepEqual(
    await listed(
      `<ListAllMyBucketsResult><Owner><ID>i</ID><DisplayName>d</DisplayName></Owner><Buckets><Bucket><Name>a</Name>` +
        `<CreationDate>2024-01-01T00:00:00.120Z</CreationDate></Bucket><Bucket><Name>b</Name></Bucket></Buckets></ListAllMyBucketsResult>`,
    ),
    {
      buckets: [{ Name: "a", CreationDate: "2024-01-01T00:00:00.120000Z" }, { Name: "b", CreationDate: null }],
      owner: { DisplayName: "d", ID: "i" },
    },
  );
  for (const inside of ["<Buckets/>", "<Buckets>\n</Buckets>", ""]) {
    const none = await listed(`<ListAllMyBucketsResult>${inside}</ListAllMyBucketsResult>`);
    assert.deepEqual(none, { buckets: [], owner: null });
  }
});

Deno.test("uploads: any come in order, names decoded where they came encoded", async () => {
  const named = fc.string({ unit: "grapheme", minLength: 1 }).filter((text) =>
    fitsXml(text) && !/^\s*\n\s*$/.test(text)
  );
  const upload = fc.record(
    { Key: named, UploadId: named, StorageClass: fc.option(fc.constant("STANDARD")) },
    { noNullPrototype: true },
  );
  await fc.assert(
    fc.asyncProperty(
      fc.array(upload),
      named,
      fc.boolean(),
      fc.boolean(),
      async (uploads, marker, encode, truncated) => {
        const shown = encode ? encodeURIComponent : escaped;
        const entries = uploads.map(({ Key, UploadId, StorageClass }) =>
          `<Upload><Key>${shown(Key)}</Key><UploadId>${escaped(UploadId)}</UploadId>` +
          `<Initiated>2024-01-01T00:00:00.500Z</Initiated><StorageClass>${StorageClass ?? ""}</StorageClass></Upload>`
        );
        const xml = `<ListMultipartUploadsResult>${entries.join("")}<NextKeyMarker>${shown(marker)}</NextKeyMarker>` +
          `<NextUploadIdMarker>${escaped(marker)}</NextUploadIdMarker><IsTruncated>${truncated}</IsTruncated>` +
          `${encode ? "<EncodingType>url</EncodingType>" : ""}</ListMultipartUploadsResult>`;
        assert.deepEqual(await listUploads(storeThat(() => new Response(xml)), CALLER, "b", { maxUploads: 5 }), {
          uploads: uploads.map((upload) => ({ ...upload, Initiated: "2024-01-01T00:00:00.500000Z" })),
          is_truncated: truncated,
          next_key_marker: marker,
          next_upload_id_marker: marker,
        });
      },
    ),
  );
});

Deno.test("parts: they come in order, and an empty marker is none", async () => {
  const parts = (xml: string) => listParts(storeThat(() => new Response(xml)), CALLER, UPLOAD, { maxParts: 5 });
  assert.deepEqual(
    await parts(
      `<ListPartsResult><IsTruncated>true</IsTruncated><NextPartNumberMarker>3</NextPartNumberMarker>` +
        `<Part><PartNumber>2</PartNumber><ETag>"e"</ETag><Size>5</Size><ChecksumSHA256>c</ChecksumSHA256></Part>` +
        `<Part><PartNumber>3</PartNumber><LastModified>2024-01-01T00:00:00Z</LastModified></Part></ListPartsResult>`,
    ),
    {
      parts: [
        { PartNumber: 2, ETag: '"e"', Size: 5, LastModified: null, ChecksumSHA256: "c" },
        { PartNumber: 3, ETag: null, Size: 0, LastModified: "2024-01-01T00:00:00Z" },
      ],
      is_truncated: true,
      next_part_number_marker: 3,
    },
  );
  const last = await parts("<ListPartsResult><NextPartNumberMarker/></ListPartsResult>");
  assert.deepEqual(last, { parts: [], is_truncated: false, next_part_number_marker: null });
  const none = "<ListMultipartUploadsResult><NextKeyMarker/><NextUploadIdMarker/></ListMultipartUploadsResult>";
  assert.deepEqual(await listUploads(storeThat(() => new Response(none)), CALLER, "b", { maxUploads: 5 }), {
    uploads: [],
    is_truncated: false,
    next_key_marker: null,
    next_upload_id_marker: null,
  });
});

Deno.test("SDK: entries without a name, and times that are none, are 502", async () => {
  const ofTags = (s3: S3) => getTags(s3, CALLER, { bucket: "b", key: "k" });
  const ofBuckets = (s3: S3) => listBuckets(s3, CALLER);
  const ofUploads = (s3: S3) => listUploads(s3, CALLER, "b", { maxUploads: 1 });
  const inUploads = (text: string) => `<ListMultipartUploadsResult>${text}</ListMultipartUploadsResult>`;
  const inBuckets = (text: string) => `<ListAllMyBucketsResult><Buckets>${text}</Buckets></ListAllMyBucketsResult>`;
  const answers: [string, (s3: S3) => Promise<unknown>][] = [
    ["<Tagging><TagSet><Tag><Value>v</Value></Tag></TagSet></Tagging>", ofTags],
    [inBuckets("<Bucket/>"), ofBuckets],
    [inBuckets("<Bucket><Name>a</Name><CreationDate>soon</CreationDate></Bucket>"), ofBuckets],
    [inUploads("<Upload><Key>k</Key><UploadId/></Upload>"), ofUploads],
    [inUploads("<Upload><Key/><UploadId>u</UploadId></Upload>"), ofUploads],
    [inUploads("<EncodingType>url</EncodingType><NextKeyMarker>%</NextKeyMarker>"), ofUploads],
  ];
  for (const [xml, read] of answers) {
    const reading = read(storeThat(() => new Response(xml)));
    await assert.rejects(reading, { status: 502, message: /the store's response is not valid$/ }, xml);
  }
});

Deno.test("SDK: a request has no checksum, user agent or parameter of the SDK", async () => {
  const sent: UpstreamRequest[] = [];
  const s3 = storeThat((request) => {
    sent.push(request);
    return new Response(null);
  }, { region: "eu-<1>" });
  await setVersioning(s3, CALLER, "arn:aws:s3:::x", "Enabled");
  await createBucket(s3, CALLER, "b--x-s3");
  const [versioning, created] = sent;
  assert.deepEqual(Object.keys(versioning.headers).sort(), [
    "authorization",
    "content-md5",
    "content-type",
    "x-amz-content-sha256",
    "x-amz-date",
  ]);
  assert.deepEqual([versioning.operation, created.operation], ["PutBucketVersioning", "CreateBucket"]);
  assert.deepEqual([versioning.origin, versioning.target], ["http://store", "/arn%3Aaws%3As3%3A%3A%3Ax?versioning="]);
  assert.equal(created.target, "/b--x-s3");
  assert.match(String(created.body), /<LocationConstraint>eu-&lt;1&gt;<\/LocationConstraint>/);
});

Deno.test("SDK: keys are in the path as they are signed, whatever they hold", async () => {
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.end(request.method === "PUT" ? "<CopyObjectResult/>" : undefined);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  assert.ok(address && typeof address === "object");
  const endpoint = `http://127.0.0.1:${address.port}`;
  const s3: S3 = {
    addresses: { s3: () => Promise.resolve({ endpoint, publicEndpoint: endpoint }) },
    upstream: upstreamClient({ verifyTls: true, timeoutMs: 10_000 }),
    region: "us-east-1",
    now: Date.now,
  };
  try {
    for (
      const key of ["a/../b", "a//b", "./x", "..", "a+b c%2F", "ö", "\x01\n", "a\\b'\"*()!~", "/", "a?b#c&d=e", "😀"]
    ) {
      const path = s3Path("b", key);
      await sendDelete(s3, CALLER, { bucket: "b", key, versionId: "a+b/=" });
      await deleteTags(s3, CALLER, { bucket: "b", key });
      await abortUpload(s3, CALLER, { bucket: "b", key, uploadId: "u/+ =" });
      assert.deepEqual(seen.splice(0), [
        `${path}?versionId=a%2Bb%2F%3D`,
        `${path}?tagging=`,
        `${path}?uploadId=u%2F%2B%20%3D`,
      ]);
    }
  } finally {
    server.close();
    server.closeAllConnections();
  }
});

Deno.test("SDK: a body that hangs or drips is 502", async () => {
  let timer: ReturnType<typeof setInterval> | undefined;
  const drip = new ReadableStream({
    start(controller) {
      timer = setInterval(() => controller.enqueue(new Uint8Array([0x20])), 1);
    },
    cancel: () => clearInterval(timer),
  });
  for (const body of [new ReadableStream(), drip]) {
    const s3 = storeThat(() => new Response(body));
    const call = { operation: "GetBucketAcl", bucket: "b", workMs: 100 } as const;
    await assert.rejects(callSdk(s3, CALLER, call, (list) => list), {
      status: 502,
      message: "bucket 'b': the store's response ended early",
    });
  }
});

function refused(xml: string, root = "a"): void {
  assert.throws(() => sdkDocument(xml, root), { name: "MalformedXml" }, xml.slice(0, 100));
}

Deno.test("documents for the SDK: what its parser would take for an empty document is rejected", () => {
  for (
    const xml of ["", " ", "text", "<?xml version='1.0'?>", "<a>", "<a></b>", "<b/>", "<html><a/></html>", "<a/><a/>"]
  ) {
    refused(xml);
  }
  refused('<!DOCTYPE a [<!ENTITY x "y">]><a>&x;</a>');
  refused("<a>&unknown;</a>");
});

Deno.test("documents for the SDK: depth, elements and texts are bounded", () => {
  refused("<a>".repeat(200) + "</a>".repeat(200));
  refused(`<a>${"<b/>".repeat(50_001)}</a>`);
  refused(`<a>${"x".repeat(65 * 1024)}</a>`);
  refused(`<a x="${"x".repeat(65 * 1024)}"/>`);
  const long = `<a>${"<b>x</b>".repeat(40_000)}<c>${"y".repeat(60 * 1024)}</c></a>`;
  assert.equal(sdkDocument(long, "a"), long);
});

Deno.test("documents for the SDK: prefixes are removed, wide characters are written out", () => {
  const xml =
    `<?xml version="1.0"?>\n<ns2:a xmlns:ns2='urn:x'><b c="d" >x &lt; &#10;&#x1F642;</b><ns2:c e="f"/><d/></ns2:a>`;
  assert.equal(
    sdkDocument(xml, "a"),
    `<?xml version="1.0"?>\n<a xmlns:ns2='urn:x'><b c="d" >x &lt; &#10;🙂</b><c e="f"/><d/></a>`,
  );
});
