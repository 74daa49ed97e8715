import { z } from "zod";
import { forceDelete, type ForceDeleteDeps } from "@/lib/store/force_delete.ts";
import { compressibleJson } from "@/lib/http/header_values.ts";
import type { Operation } from "@/lib/http/operation.ts";
import { bucketList, createBucket, deleteBucket, headBucket, listBuckets } from "@/lib/s3/buckets.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import {
  issuedForm,
  type IssuedForms,
  listObjects,
  listVersions,
  MAX_KEYS,
  objectPage,
  versionPage,
} from "@/lib/s3/listing.ts";
import { listUploads, uploadPage } from "@/lib/s3/multipart.ts";
import { bucketParams as params, bucketTarget, type GatewayOperation } from "./operation.ts";

const TAG = "S3 Buckets";
/** The rules of S3, with capital letters as HCP-type stores have them, as JSON Schema: shown in the document, checked by the store. */
const BUCKET_NAME = {
  minLength: 3,
  maxLength: 63,
  pattern: "^(?![Xx][Nn]--)(?!\\d+(?:\\.\\d+){3}$)[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?" +
    "(?:\\.[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?)*$",
} as const;

const bucketStatus = z.object({ status: z.string(), bucket: z.string() }).meta({ id: "BucketStatus" });

const prefix = z.string().default("").meta({ description: "Key prefix" });
const maxKeys = z.int().min(0).max(MAX_KEYS).default(MAX_KEYS).meta({ description: "Maximum number of entries" });

const listQuery = (forms: IssuedForms | null) =>
  z.object({
    prefix,
    max_keys: maxKeys,
    continuation_token: z.string().meta(issuedForm(forms, "continuationToken")).optional().meta({
      description: "`next_continuation_token` of the previous page",
    }),
    start_after: z.string().optional().meta({
      description: "List keys after this one, which need not exist; ignored with a token",
      examples: ["2026/a.txt"],
    }),
    delimiter: z.string().optional().meta({ description: "Groups keys into common prefixes", examples: ["/"] }),
  });

/** Buckets and what is in them. */
export function bucketOperations(
  operation: GatewayOperation,
  s3: S3,
  force: Omit<ForceDeleteDeps, "s3">,
  forms: IssuedForms | null,
): Operation[] {
  return [
    operation({
      id: "list_buckets",
      method: "GET",
      path: "/api/v1/buckets",
      tag: TAG,
      summary: "List the caller's buckets",
      responses: { 200: { description: "The buckets", schema: bucketList.meta({ id: "BucketList" }) } },
      handler: async ({ caller }, { request }) => compressibleJson(request, await listBuckets(s3, caller)),
    }),
    operation({
      id: "create_bucket",
      method: "POST",
      path: "/api/v1/buckets",
      tag: TAG,
      summary: "Create a bucket",
      body: {
        kind: "json",
        schema: z.object({ bucket: z.string().min(1).meta({ ...BUCKET_NAME, examples: ["notes"] }) }).meta({
          id: "BucketCreate",
        }),
      },
      responses: {
        201: { description: "Created", schema: bucketStatus },
        400: { description: "Invalid bucket name, or the limit of buckets is reached" },
        409: { description: "The bucket already exists" },
      },
      audit: { action: "bucket_create", target: ({ body: { bucket } }) => ({ kind: "bucket", bucket }) },
      async handler({ caller, body: { bucket } }) {
        await createBucket(s3, caller, bucket);
        return Response.json({ status: "created", bucket }, { status: 201 });
      },
    }),
    operation({
      id: "head_bucket",
      method: "HEAD",
      path: "/api/v1/buckets/{bucket}",
      tag: TAG,
      summary: "Check whether a bucket exists",
      params,
      responses: { 200: { description: "The bucket exists" }, 404: { description: "No such bucket" } },
      async handler({ caller, params: { bucket } }) {
        await headBucket(s3, caller, bucket);
        return new Response(null, { status: 200 });
      },
    }),
    operation({
      id: "delete_bucket",
      method: "DELETE",
      path: "/api/v1/buckets/{bucket}",
      tag: TAG,
      summary: "Delete a bucket",
      description:
        "Without `force` the bucket must be empty. With it, uploads, versions, delete markers and objects are deleted " +
        "first; an HCP-type store is set to discard its deletion records. It stops when the client disconnects.",
      params,
      query: z.object({
        force: z.boolean().default(false).meta({ description: "Delete the bucket with its contents" }),
      }),
      responses: {
        200: { description: "Deleted", schema: bucketStatus },
        404: { description: "No such bucket" },
        409: { description: "The bucket is not empty or cannot be emptied; `detail` says why" },
      },
      audit: {
        action: "bucket_delete",
        target: bucketTarget,
        details: ({ query: { force } }) => force ? { force } : {},
        isPartial: true,
      },
      async handler({ caller, params: { bucket }, query }) {
        if (query.force) await forceDelete({ s3, ...force }, caller, bucket);
        else await deleteBucket(s3, caller, bucket);
        return Response.json({ status: "deleted", bucket });
      },
    }),
    operation({
      id: "list_objects",
      method: "GET",
      path: "/api/v1/buckets/{bucket}/objects",
      tag: "S3 Objects",
      summary: "List objects, one page at a time",
      params,
      query: listQuery(forms),
      responses: {
        200: { description: "A page of the listing", schema: objectPage.meta({ id: "ObjectList" }) },
        404: { description: "No such bucket" },
      },
      async handler({ caller, params: { bucket }, query }, { request }) {
        const page = await listObjects(s3, caller, bucket, {
          prefix: query.prefix,
          delimiter: query.delimiter,
          continuationToken: query.continuation_token,
          startAfter: query.start_after,
          maxKeys: query.max_keys,
          fetchOwner: true,
        });
        return compressibleJson(request, page);
      },
    }),
  ];
}

const uploadList = z.object({ bucket: z.string(), ...uploadPage.shape }).meta({ id: "UploadList" });

/** Its form is checked here where it is known: alone, the marker does not go to the store. */
function versionIdMarker(forms: IssuedForms | null): z.ZodString {
  return forms === null ? z.string() : z.string().regex(new RegExp(forms.versionIdMarker), "Not a marker of a version");
}

/** Hidden contents of a bucket: older versions, delete markers, uploads in progress. */
export function bucketContentOperations(operation: GatewayOperation, s3: S3, forms: IssuedForms | null): Operation[] {
  return [
    operation({
      id: "list_versions",
      method: "GET",
      path: "/api/v1/buckets/{bucket}/versions",
      tag: TAG,
      summary: "List versions and delete markers, one page at a time",
      params,
      query: z.object({
        prefix,
        max_keys: maxKeys,
        key_marker: z.string().optional().meta({ description: "`next_key_marker` of the previous page" }),
        version_id_marker: versionIdMarker(forms).optional().meta({
          description: "`next_version_id_marker` of the previous page; ignored without `key_marker`",
        }),
      }),
      responses: {
        200: { description: "A page of the listing", schema: versionPage.meta({ id: "VersionList" }) },
        404: { description: "No such bucket" },
      },
      handler: async ({ caller, params: { bucket }, query }, { request }) =>
        compressibleJson(
          request,
          await listVersions(s3, caller, bucket, {
            prefix: query.prefix,
            keyMarker: query.key_marker,
            versionIdMarker: query.key_marker ? query.version_id_marker : undefined,
            maxKeys: query.max_keys,
          }),
        ),
    }),
    operation({
      id: "list_uploads",
      method: "GET",
      path: "/api/v1/buckets/{bucket}/uploads",
      tag: TAG,
      summary: "List unfinished multipart uploads, one page at a time",
      params,
      query: z.object({
        prefix,
        max_uploads: z.int().min(1).max(MAX_KEYS).default(MAX_KEYS).meta({ description: "Maximum number of uploads" }),
        key_marker: z.string().optional().meta({ description: "`next_key_marker` of the previous page" }),
        upload_id_marker: z.string().optional().meta({ description: "`next_upload_id_marker` of the previous page" }),
      }),
      responses: {
        200: { description: "A page of the listing", schema: uploadList },
        404: { description: "No such bucket" },
      },
      async handler({ caller, params: { bucket }, query }, { request }) {
        const page = await listUploads(s3, caller, bucket, {
          prefix: query.prefix,
          keyMarker: query.key_marker,
          uploadIdMarker: query.upload_id_marker,
          maxUploads: query.max_uploads,
        });
        return compressibleJson(request, { bucket, ...page });
      },
    }),
  ];
}
