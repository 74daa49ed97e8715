import type { QueryPairs } from "./signer.ts";

/** What names a call. */
interface NamedCall {
  readonly method: string;
  readonly bucket?: string;
  readonly key?: string;
  readonly query?: QueryPairs;
}

type Names = Readonly<Record<string, string>>;

/** Names by method, for a call without a subresource. */
const OF_SERVICE: Names = { GET: "ListBuckets" };
const OF_BUCKET: Names = { GET: "ListObjects", HEAD: "HeadBucket", PUT: "CreateBucket", DELETE: "DeleteBucket" };
const OF_OBJECT: Names = { GET: "GetObject", HEAD: "HeadObject", PUT: "PutObject", DELETE: "DeleteObject" };

/** Names by method and subresource, which is the name of a parameter of the query. */
const OF_BUCKET_PART: Names = {
  "GET list-type": "ListObjectsV2",
  "GET versions": "ListObjectVersions",
  "GET uploads": "ListMultipartUploads",
  "GET versioning": "GetBucketVersioning",
  "PUT versioning": "PutBucketVersioning",
  "GET acl": "GetBucketAcl",
  "PUT acl": "PutBucketAcl",
  "GET cors": "GetBucketCors",
  "PUT cors": "PutBucketCors",
  "DELETE cors": "DeleteBucketCors",
  "POST delete": "DeleteObjects",
};
const OF_OBJECT_PART: Names = {
  "PUT partNumber": "UploadPart",
  "POST uploads": "CreateMultipartUpload",
  "POST uploadId": "CompleteMultipartUpload",
  "DELETE uploadId": "AbortMultipartUpload",
  "GET uploadId": "ListParts",
  "GET tagging": "GetObjectTagging",
  "PUT tagging": "PutObjectTagging",
  "DELETE tagging": "DeleteObjectTagging",
  "GET acl": "GetObjectAcl",
  "PUT acl": "PutObjectAcl",
  "POST restore": "RestoreObject",
};

/** The name of a call in the documentation of S3; `Other` where it is not in these tables. */
export function operationName({ method, bucket, key, query = [] }: NamedCall): string {
  const plain = bucket === undefined ? OF_SERVICE : key === undefined ? OF_BUCKET : OF_OBJECT;
  const parts = key === undefined ? OF_BUCKET_PART : OF_OBJECT_PART;
  let found: string | undefined;
  for (const [name] of query) {
    // A part is named by its number; the id of its upload stands before that.
    if (found === undefined || name === "partNumber") found = parts[`${method} ${name}`] ?? found;
  }
  return found ?? plain[method] ?? "Other";
}
