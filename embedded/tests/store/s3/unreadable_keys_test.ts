import {
  CreateBucketCommand,
  CreateMultipartUploadCommand,
  ListMultipartUploadsCommand,
  ListObjectsCommand,
  ListObjectsV2Command,
  ListObjectVersionsCommand,
  PutObjectCommand,
} from "@aws-sdk/client-s3";
import assert from "node:assert/strict";
import { storeTest } from "@/embedded/tests/store/store_fixture.ts";
import { signedFetch } from "./signed_fetch.ts";

/** Characters that XML 1.0 cannot hold, some also not as references; the last one is of the keys that it can. */
const KEYS = ["a\u0001", "a\u0001/b", "b\u000b", "c\uffff", "plain ö+%"];

const LISTINGS: Readonly<Record<string, string>> = {
  "ListObjects": "",
  "ListObjectsV2": "list-type=2&",
  "ListObjectVersions": "versions=&",
  "ListMultipartUploads": "uploads=&",
};

storeTest("listings: keys that XML cannot hold are percent-encoded, as the page says", async ({ store, client }) => {
  const Bucket = "odd";
  await client.send(new CreateBucketCommand({ Bucket }));
  for (const Key of KEYS) {
    await client.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
    await client.send(new CreateMultipartUploadCommand({ Bucket, Key }));
  }
  const list = async (query: string) => {
    const sorted = query.split("&").filter((part) => part !== "").sort().join("&");
    return await (await signedFetch(store.s3("archive"), { method: "GET", path: `/${Bucket}`, query: sorted }))
      .text();
  };
  for (const [name, marker] of Object.entries(LISTINGS)) {
    const page = await list(marker);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(page, /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffd-\uffff]|&#/, name);
    assert.match(page, /<EncodingType>url<\/EncodingType>/, name);
    assert.deepEqual(keysIn(page).map(decodeURIComponent), KEYS, name);
    const asked = `${marker}prefix=a%01&delimiter=%2F`;
    const cut = await list(asked);
    assert.match(cut, /<Prefix>a%01<\/Prefix>/, name);
    assert.match(cut, /<CommonPrefixes><Prefix>a%01\/<\/Prefix><\/CommonPrefixes>/, name);
    assert.equal(cut, await list(`${asked}&encoding-type=url`), name);
    const plain = await list(`${marker}prefix=plain`);
    assert.doesNotMatch(plain, /EncodingType/, name);
    assert.deepEqual(keysIn(plain), ["plain ö+%"], name);
  }
  for (
    const page of [
      await client.send(new ListObjectsCommand({ Bucket })),
      await client.send(new ListObjectsV2Command({ Bucket })),
      await client.send(new ListObjectVersionsCommand({ Bucket })),
      await client.send(new ListMultipartUploadsCommand({ Bucket })),
    ]
  ) assert.equal(page.EncodingType, "url");
});

storeTest("listings: line ends and tabs stay as they are, for every parser", async ({ client }) => {
  const Bucket = "lines";
  await client.send(new CreateBucketCommand({ Bucket }));
  const keys = ["a\tb", "a\nb", "a\rb", "a\u0085b", "a\u2028b"];
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket, Key, Body: "x" }));
  const { Contents, EncodingType } = await client.send(new ListObjectsV2Command({ Bucket }));
  assert.deepEqual([Contents?.map(({ Key }) => Key), EncodingType], [keys, undefined]);
});

function keysIn(xml: string): string[] {
  return [...xml.matchAll(/<Key>([^<]*)<\/Key>/g)].map(([, key]) => key);
}
