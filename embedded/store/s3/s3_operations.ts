import { getBucketAcl, getObjectAcl, putBucketAcl, putObjectAcl } from "./acl_subresource.ts";
import { deleteBucket, getBucketLocation, getBucketVersioning, headBucket, putBucketVersioning } from "./bucket.ts";
import { deleteBucketCors, getBucketCors, putBucketCors } from "./bucket_cors.ts";
import { completeMultipartUpload } from "./complete_multipart_upload.ts";
import { copyObject } from "./copy_object.ts";
import { createBucket } from "./create_bucket.ts";
import { deleteObject } from "./delete_object.ts";
import { deleteObjects } from "./delete_objects.ts";
import { getObject, READ_PARAMETERS } from "./get_object.ts";
import { getObjectAttributes } from "./get_object_attributes.ts";
import { listBuckets } from "./list_buckets.ts";
import { listMultipartUploads } from "./list_multipart_uploads.ts";
import { listObjectVersions } from "./list_object_versions.ts";
import { listObjects, listObjectsV2 } from "./list_objects.ts";
import { METADATA, UNORDERED } from "./listing_xml.ts";
import { abortMultipartUpload, createMultipartUpload, listParts } from "./multipart_upload.ts";
import { putObject } from "./put_object.ts";
import type { S3Operation } from "./s3_operation.ts";
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from "./tags.ts";
import { unsetDeletes, unsetObjectReads, unsetReads } from "./unset_settings.ts";
import { uploadPart, uploadPartCopy } from "./upload_part.ts";

type Methods = Readonly<Record<string, readonly S3Operation[]>>;

/** Query parameters that the listings of keys share. */
const LISTING = ["prefix", "delimiter", "encoding-type"];

/**
 * Everything the store does of S3, by what a request names and by its method. A request for anything else is 501.
 */
export const S3_OPERATIONS: Readonly<Record<"service" | "bucket" | "object", Methods>> = {
  service: {
    GET: [{ parameters: ["prefix", "max-buckets", "continuation-token"], handle: listBuckets }],
  },
  bucket: {
    GET: [
      {
        marker: "list-type",
        markerValue: "2",
        parameters: [...LISTING, "continuation-token", "start-after", "max-keys", "fetch-owner", METADATA, UNORDERED],
        handle: listObjectsV2,
      },
      {
        marker: "uploads",
        parameters: [...LISTING, "key-marker", "upload-id-marker", "max-uploads"],
        handle: listMultipartUploads,
      },
      { parameters: [...LISTING, "marker", "max-keys", UNORDERED], handle: listObjects },
      {
        marker: "versions",
        parameters: [...LISTING, "key-marker", "version-id-marker", "max-keys"],
        handle: listObjectVersions,
      },
      { marker: "versioning", handle: getBucketVersioning },
      { marker: "location", handle: getBucketLocation },
      { marker: "cors", handle: getBucketCors },
      { marker: "acl", handle: getBucketAcl },
      ...unsetReads,
    ],
    HEAD: [{ handle: headBucket }],
    PUT: [
      { handle: createBucket },
      { marker: "versioning", handle: putBucketVersioning },
      { marker: "cors", handle: putBucketCors },
      { marker: "acl", handle: putBucketAcl },
    ],
    POST: [{ marker: "delete", handle: deleteObjects }],
    DELETE: [{ handle: deleteBucket }, { marker: "cors", handle: deleteBucketCors }, ...unsetDeletes],
  },
  object: {
    GET: [
      { parameters: READ_PARAMETERS, handle: getObject },
      { marker: "uploadId", parameters: ["max-parts", "part-number-marker"], handle: listParts },
      { marker: "tagging", parameters: ["versionId"], handle: getObjectTagging },
      { marker: "attributes", parameters: ["versionId"], handle: getObjectAttributes },
      { marker: "acl", parameters: ["versionId"], handle: getObjectAcl },
      ...unsetObjectReads,
    ],
    HEAD: [{ parameters: READ_PARAMETERS, handle: getObject }],
    PUT: [
      { handle: putObject },
      { marker: "uploadId", parameters: ["partNumber"], handle: uploadPart },
      { marker: "uploadId", header: "x-amz-copy-source", parameters: ["partNumber"], handle: uploadPartCopy },
      { header: "x-amz-copy-source", handle: copyObject },
      { marker: "tagging", parameters: ["versionId"], handle: putObjectTagging },
      { marker: "acl", parameters: ["versionId"], handle: putObjectAcl },
    ],
    POST: [
      { marker: "uploads", handle: createMultipartUpload },
      { marker: "uploadId", handle: completeMultipartUpload },
    ],
    DELETE: [
      { parameters: ["versionId"], handle: deleteObject },
      { marker: "uploadId", handle: abortMultipartUpload },
      { marker: "tagging", parameters: ["versionId"], handle: deleteObjectTagging },
    ],
  },
};
