import { abortMultipartUpload } from "@/lib/embedded/store/s3/abort_multipart_upload.ts";
import { completeMultipartUpload } from "@/lib/embedded/store/s3/complete_multipart_upload.ts";
import { createBucket } from "@/lib/embedded/store/s3/create_bucket.ts";
import { createMultipartUpload } from "@/lib/embedded/store/s3/create_multipart_upload.ts";
import { deleteBucket } from "@/lib/embedded/store/s3/delete_bucket.ts";
import { deleteObject } from "@/lib/embedded/store/s3/delete_object.ts";
import { getObject, headObject } from "@/lib/embedded/store/s3/get_object.ts";
import { headBucket } from "@/lib/embedded/store/s3/head_bucket.ts";
import { listBuckets } from "@/lib/embedded/store/s3/list_buckets.ts";
import { listMultipartUploads } from "@/lib/embedded/store/s3/list_multipart_uploads.ts";
import { listObjectsV2 } from "@/lib/embedded/store/s3/list_objects_v2.ts";
import { listParts } from "@/lib/embedded/store/s3/list_parts.ts";
import { putObject } from "@/lib/embedded/store/s3/put_object.ts";
import { getBucketVersioning, putBucketVersioning } from "@/lib/embedded/store/s3/bucket_versioning.ts";
import { copyObject } from "@/lib/embedded/store/s3/copy_object.ts";
import { deleteObjects } from "@/lib/embedded/store/s3/delete_objects.ts";
import { getBucketLocation } from "@/lib/embedded/store/s3/get_bucket_location.ts";
import { listObjectVersions } from "@/lib/embedded/store/s3/list_object_versions.ts";
import { listObjects } from "@/lib/embedded/store/s3/list_objects.ts";
import { deleteObjectTagging, getObjectTagging, putObjectTagging } from "@/lib/embedded/store/s3/object_tagging.ts";
import { deleteBucketCors, getBucketCors, putBucketCors } from "@/lib/embedded/store/s3/bucket_cors.ts";
import { getObjectAttributes } from "@/lib/embedded/store/s3/get_object_attributes.ts";
import { getBucketAcl, putBucketAcl } from "@/lib/embedded/store/s3/bucket_acl.ts";
import { getObjectAcl, putObjectAcl } from "@/lib/embedded/store/s3/object_acl.ts";
import type { S3Operation } from "@/lib/embedded/store/s3/s3_operation.ts";
import { unsetSettings } from "@/lib/embedded/store/s3/unset_settings.ts";
import { uploadPart } from "@/lib/embedded/store/s3/upload_part.ts";
import { uploadPartCopy } from "@/lib/embedded/store/s3/upload_part_copy.ts";

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
