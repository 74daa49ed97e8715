import assert from "node:assert/strict";
import { operationName } from "@/lib/s3/operation_names.ts";

const UPLOAD = [["uploadId", "u"]] as const;

Deno.test("operation names: those of the documentation of S3, by method, subject and subresource", () => {
  const at = { bucket: "b", key: "acl" };
  const names = [
    operationName({ method: "GET" }),
    operationName({ method: "GET", bucket: "b", query: [["list-type", "2"], ["prefix", "uploads"]] }),
    operationName({ method: "POST", bucket: "b", query: [["delete", ""]] }),
    operationName({ method: "HEAD", ...at }),
    operationName({ method: "GET", ...at, query: [["versionId", "v"]] }),
    operationName({ method: "GET", ...at, query: [["tagging", ""], ["versionId", "v"]] }),
    operationName({ method: "PUT", ...at, query: [...UPLOAD, ["partNumber", "1"]] }),
    operationName({ method: "POST", ...at, query: UPLOAD }),
    operationName({ method: "DELETE", ...at, query: UPLOAD }),
    operationName({ method: "POST", ...at }),
  ];
  assert.deepEqual(names, [
    "ListBuckets",
    "ListObjectsV2",
    "DeleteObjects",
    "HeadObject",
    "GetObject",
    "GetObjectTagging",
    "UploadPart",
    "CompleteMultipartUpload",
    "AbortMultipartUpload",
    "Other",
  ]);
});
