import assert from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);

/** What AWS requires for the requests of each function of lib/s3 that sends some by itself. */
const ACTIONS: Readonly<Record<string, readonly string[]>> = {
  abortUpload: ["AbortMultipartUpload"],
  bucketReachable: ["ListBucket"],
  completeUpload: ["PutObject"],
  copyObject: ["GetObject", "GetObjectVersion", "GetObjectTagging", "GetObjectVersionTagging", "PutObject"],
  createBucket: ["CreateBucket"],
  createFolder: ["GetObject", "PutObject"],
  createUpload: ["PutObject"],
  currentHeaders: ["GetObject"],
  deleteBatch: ["DeleteObject", "DeleteObjectVersion"],
  deleteBucket: ["DeleteBucket"],
  deleteCors: ["GetBucketCORS", "PutBucketCORS"],
  deleteKeys: ["DeleteObject"],
  deleteObject: ["GetObject", "DeleteObject", "DeleteObjectVersion"],
  deletePrefix: ["ListBucket", "DeleteObject"],
  deleteTags: ["DeleteObjectTagging", "DeleteObjectVersionTagging"],
  getAcl: ["GetBucketAcl", "GetObjectAcl"],
  getCors: ["GetBucketCORS"],
  getObject: ["GetObject", "GetObjectVersion"],
  getTags: ["GetObjectTagging", "GetObjectVersionTagging"],
  getVersioning: ["GetBucketVersioning"],
  guardWrite: ["GetObject"],
  headBucket: ["ListBucket"],
  headObject: ["GetObject", "GetObjectVersion"],
  listBuckets: ["ListAllMyBuckets"],
  listKeyVersions: ["ListBucketVersions"],
  listObjects: ["ListBucket"],
  listParts: ["ListMultipartUploadParts"],
  listUploads: ["ListBucketMultipartUploads"],
  listVersions: ["ListBucketVersions"],
  openUpload: ["PutObject", "AbortMultipartUpload"],
  probedKind: [],
  proveCredentials: ["ListAllMyBuckets"],
  putAcl: ["PutBucketAcl", "PutObjectAcl"],
  putCors: ["PutBucketCORS"],
  putObject: ["PutObject"],
  putTags: ["PutObjectTagging", "PutObjectVersionTagging"],
  readCountPage: ["ListBucket"],
  restoreVersion: ["GetBucketVersioning", "ListBucketVersions", "GetObjectVersion", "PutObject", "PutObjectTagging"],
  s3Reachable: [],
  sendDelete: ["DeleteObject", "DeleteObjectVersion"],
  sendPart: ["PutObject"],
  sendPartFromSource: ["PutObject"],
  setVersioning: ["PutBucketVersioning"],
  storeProbe: [],
  writeFromSource: ["PutObject"],
  writeObject: ["PutObject"],
};

/** What every function goes through. */
const TRANSPORT = ["callS3", "callS3ForHeaders", "callS3ForXml", "callSdk", "callSdkForHeaders"];

Deno.test("docs: the policy for a bucket allows what the functions of lib/s3 request, and no more", async () => {
  const text = await Deno.readTextFile(new URL("docs/deployment.md", ROOT));
  const [, block] = /```json\n(\{\n {2}"Version".*?)```/s.exec(text)!;
  const allowed = JSON.parse(block).Statement.flatMap(({ Action }: { Action: string | string[] }) => Action);
  const needed = new Set(Object.values(ACTIONS).flat().map((action) => `s3:${action}`));
  assert.deepEqual(allowed.sort(), [...needed].sort());
});

Deno.test("docs: every function of lib/s3 that sends a request has the actions that it requires", async () => {
  const functions: string[] = [];
  const folder = new URL("lib/s3/", ROOT);
  for await (const { name } of Deno.readDir(folder)) {
    const source = await Deno.readTextFile(new URL(name, folder));
    for (const [, one] of source.matchAll(/^export (?:async )?function (\w+)(?:<[^(]*>)?\(\s*s3: S3,/gm)) {
      functions.push(one);
    }
  }
  assert.deepEqual(functions.filter((one) => !TRANSPORT.includes(one)).sort(), Object.keys(ACTIONS));
});
