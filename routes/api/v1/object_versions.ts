import { z } from "zod";
import { compressibleJson } from "@/lib/http/compressible.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { preconditions } from "@/lib/s3/conditions.ts";
import { supported } from "@/lib/s3/errors.ts";
import { keyVersionPage, listKeyVersions } from "@/lib/s3/key_versions.ts";
import { issuedForm, type IssuedForms, MAX_KEYS } from "@/lib/s3/listing.ts";
import { restoreVersion } from "@/lib/s3/restore.ts";
import { wellFormed } from "@/lib/s3/name_schemas.ts";
import type { StorageBackend } from "./capabilities.ts";
import { objectTarget } from "./audited_objects.ts";
import { conditional, CONDITIONS, objectParams } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";

const OBJECT = { tag: "S3 Objects", params: objectParams };
const PATH = "/api/v1/buckets/{bucket}";

const restoreRequest = (forms: IssuedForms | null) =>
  z.strictObject({
    version_id: wellFormed.min(1).meta({ ...issuedForm(forms, "versionId"), description: "Of an older version" }),
  }).meta({ id: "RestoreRequest" });

const restored = z.object({
  status: z.literal("restored"),
  bucket: z.string(),
  key: z.string(),
  version_id: z.string().nullable().meta({ description: "What is current now: a copy with an id of its own" }),
  etag: z.string().nullable(),
}).meta({ id: "ObjectRestored" });

/** The versions of single objects: listed, and made current again. */
export function objectVersionOperations(
  operation: GatewayOperation,
  s3: S3,
  backend: StorageBackend,
  forms: IssuedForms | null,
): Operation[] {
  return [
    operation({
      id: "list_object_versions",
      method: "GET",
      path: `${PATH}/versions/{key}`,
      ...OBJECT,
      summary: "List the versions and delete markers of one key, the newest first",
      query: z.object({
        max_keys: z.int().min(1).max(MAX_KEYS).default(MAX_KEYS).meta({ description: "Most entries of the page" }),
        version_id_marker: z.string().min(1).meta(issuedForm(forms, "versionIdMarker")).optional().meta({
          description: "`next_version_id_marker` of the page before",
        }),
      }),
      responses: {
        200: { description: "A page of the listing", schema: keyVersionPage.meta({ id: "ObjectVersionList" }) },
        404: { description: "No such bucket, or the key has no version" },
      },
      async handler({ caller, params, query }, { request }) {
        const page = await listKeyVersions(s3, caller, params, {
          maxKeys: query.max_keys,
          versionIdMarker: query.version_id_marker,
        });
        return compressibleJson(request, page);
      },
    }),
    operation({
      id: "restore_object_version",
      method: "POST",
      path: `${PATH}/restore/{key}`,
      ...OBJECT,
      summary: "Make an older version of an object the current one",
      description:
        "The version is copied onto its key inside the store, with its metadata and tags. Nothing is deleted: what was " +
        "current, or a delete marker, becomes an older version. A version that is current already stays as it is. " +
        CONDITIONS,
      body: { kind: "json", schema: restoreRequest(forms) },
      responses: {
        200: { description: "It is the current version", schema: restored },
        400: { description: "The version is a delete marker" },
        404: { description: "No such bucket, object or version" },
        409: { description: "Versioning is not switched on, or the object was changed meanwhile" },
        412: conditional[412],
        501: { description: "The store has no versioning, or does not support the condition" },
      },
      audit: {
        action: "object_restore",
        target: objectTarget,
        details: ({ body: { version_id } }) => ({ from_version: version_id }),
      },
      async handler({ caller, params: { bucket, key }, body }, { request }) {
        const ref = { bucket, key, versionId: body.version_id };
        const work = restoreVersion(s3, caller, ref, preconditions(request.headers));
        const { versionId, etag } = await supported("restore_object_version", backend, work);
        return Response.json({ status: "restored", bucket, key, version_id: versionId, etag });
      },
    }),
  ];
}
