import { z } from "zod";
import { compressibleJson } from "@/lib/http/compressible.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { type IssuedForms, listVersions, MAX_KEYS } from "@/lib/s3/listing.ts";
import { listUploads, uploadPage } from "@/lib/s3/multipart.ts";
import { versionPage } from "@/lib/s3/version_xml.ts";
import { bucketParams as params } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";

const prefix = z.string().default("").meta({ description: "What the keys begin with" });
const uploadList = z.object({ bucket: z.string(), ...uploadPage.shape }).meta({ id: "UploadList" });

/** Its form is checked here where it is known: alone, the marker does not go to the store. */
function versionIdMarker(forms: IssuedForms | null): z.ZodString {
  return forms === null ? z.string() : z.string().regex(new RegExp(forms.versionIdMarker), "Not a marker of a version");
}

/** What is in a bucket besides its current objects: older versions, delete markers, uploads in progress. */
export function bucketContentOperations(operation: GatewayOperation, s3: S3, forms: IssuedForms | null): Operation[] {
  return [
    operation({
      id: "list_versions",
      method: "GET",
      path: "/api/v1/buckets/{bucket}/versions",
      tag: "S3 Buckets",
      summary: "List versions and delete markers, one page at a time",
      params,
      query: z.object({
        prefix,
        max_keys: z.int().min(0).max(MAX_KEYS).default(MAX_KEYS).meta({ description: "Most entries of the page" }),
        key_marker: z.string().optional().meta({ description: "`next_key_marker` of the page before" }),
        version_id_marker: versionIdMarker(forms).optional().meta({
          description: "`next_version_id_marker` of the page before; without a `key_marker` it says nothing",
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
      tag: "S3 Buckets",
      summary: "List uploads in parts that are neither completed nor aborted, one page at a time",
      params,
      query: z.object({
        prefix,
        max_uploads: z.int().min(1).max(MAX_KEYS).default(MAX_KEYS).meta({ description: "Most uploads of the page" }),
        key_marker: z.string().optional().meta({ description: "`next_key_marker` of the page before" }),
        upload_id_marker: z.string().optional().meta({ description: "`next_upload_id_marker` of the page before" }),
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
