import { abortMultipartUpload } from "./abort_multipart_upload.ts";
import { getBucketAcl, putBucketAcl } from "./bucket_acl.ts";
import { deleteBucketCors, getBucketCors, putBucketCors } from "./bucket_cors.ts";
import { getBucketVersioning, putBucketVersioning } from "./bucket_versioning.ts";
import { completeMultipartUpload } from "./complete_multipart_upload.ts";
import { copyObject } from "./copy_object.ts";
import { createBucket } from "./create_bucket.ts";
import { createMultipartUpload } from "./create_multipart_upload.ts";
import { deleteBucket } from "./delete_bucket.ts";
import { deleteObject } from "./delete_object.ts";
import { deleteObjects } from "./delete_objects.ts";
import { getBucketLocation } from "./get_bucket_location.ts";
import { getObject, headObject } from "./get_object.ts";
import { getObjectAttributes } from "./get_object_attributes.ts";
import { headBucket } from "./head_bucket.ts";
import { listBuckets } from "./list_buckets.ts";
import { listMultipartUploads } from "./list_multipart_uploads.ts";
import { listObjectVersions } from "./list_object_versions.ts";
import { listObjects } from "./list_objects.ts";
import { listObjectsV2 } from "./list_objects_v2.ts";
import { listParts } from "./list_parts.ts";
import { getObjectAcl, putObjectAcl } from "./object_acl.ts";
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from "./object_tagging.ts";
import { putObject } from "./put_object.ts";
import type { S3Operation } from "./s3_operation.ts";
import { unsetSettings } from "./unset_settings.ts";
import { uploadPart } from "./upload_part.ts";
import { uploadPartCopy } from "./upload_part_copy.ts";

/** Everything the store does of S3. A request for anything else is 501. */
export const S3_OPERATIONS: readonly S3Operation[] = [
  listBuckets,
  createBucket,
  headBucket,
  deleteBucket,
  listObjectsV2,
  putObject,
  getObject,
  headObject,
  deleteObject,
  createMultipartUpload,
  uploadPart,
  uploadPartCopy,
  listParts,
  listMultipartUploads,
  completeMultipartUpload,
  abortMultipartUpload,
  listObjects,
  listObjectVersions,
  getBucketVersioning,
  putBucketVersioning,
  getBucketLocation,
  deleteObjects,
  copyObject,
  getObjectTagging,
  putObjectTagging,
  deleteObjectTagging,
  getBucketCors,
  putBucketCors,
  deleteBucketCors,
  getObjectAttributes,
  getBucketAcl,
  putBucketAcl,
  getObjectAcl,
  putObjectAcl,
  ...unsetSettings,
];
