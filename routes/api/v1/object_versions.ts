import { z } from "zod";
import { compressibleJson } from "@/lib/http/header_values.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import {
  deleteTags,
  getTags,
  isTagName,
  isTagValue,
  MAX_TAG_NAME,
  MAX_TAG_VALUE,
  MAX_TAGS,
  preconditions,
  putTags,
  type Tag,
  TAG_NAME,
  TAG_VALUE,
  wellFormed,
  writeHeaders,
} from "@/lib/s3/objects.ts";
import { issuedForm, type IssuedForms, keyVersionPage, listKeyVersions, MAX_KEYS } from "@/lib/s3/listing.ts";
import { restoreVersion } from "@/lib/s3/copy.ts";
import { isObject } from "@/lib/std/untrusted.ts";
import { conditional, CONDITIONS, type GatewayOperation, objectParams, objectTarget, versionId } from "./operation.ts";

const OBJECT = { tag: "S3 Objects", params: objectParams };
const PATH = "/api/v1/buckets/{bucket}";

const restoreRequest = (forms: IssuedForms | null) =>
  z.strictObject({
    version_id: wellFormed.min(1).meta({ ...issuedForm(forms, "versionId"), description: "Id of the older version" }),
  }).meta({ id: "RestoreRequest" });

const restored = z.object({
  status: z.literal("restored"),
  bucket: z.string(),
  key: z.string(),
  version_id: z.string().nullable().meta({ description: "Id of the version that is current now" }),
  etag: z.string().nullable(),
}).meta({ id: "ObjectRestored" });

/** The versions of single objects: listed, and made current again. */
export function objectVersionOperations(
  operation: GatewayOperation,
  s3: S3,
  forms: IssuedForms | null,
): Operation[] {
  return [
    operation({
      id: "list_object_versions",
      method: "GET",
      path: `${PATH}/versions/{key}`,
      ...OBJECT,
      summary: "List versions and delete markers of one key, newest first",
      query: z.object({
        max_keys: z.int().min(1).max(MAX_KEYS).default(MAX_KEYS).meta({ description: "Maximum number of entries" }),
        version_id_marker: z.string().min(1).meta(issuedForm(forms, "versionIdMarker")).optional().meta({
          description: "`next_version_id_marker` of the previous page",
        }),
      }),
      responses: {
        200: { description: "A page of the listing", schema: keyVersionPage.meta({ id: "ObjectVersionList" }) },
        404: { description: "No such bucket, or no version of the key" },
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
        "Copies the version onto its key inside the store, with its metadata and tags. Nothing is deleted: the version " +
        "or delete marker that was current becomes an older one. A version that is already current stays unchanged. " +
        CONDITIONS,
      body: { kind: "json", schema: restoreRequest(forms) },
      responses: {
        200: { description: "The version is current", schema: restored },
        400: { description: "The version is a delete marker" },
        404: { description: "No such bucket, object or version" },
        409: { description: "Versioning is not enabled, or the object was changed meanwhile" },
        412: conditional[412],
        501: { description: "The store does not support versioning or this condition" },
      },
      audit: {
        action: "object_restore",
        target: objectTarget,
        details: ({ body: { version_id } }) => ({ from_version: version_id }),
      },
      async handler({ caller, params: { bucket, key }, body }, { request }) {
        const ref = { bucket, key, versionId: body.version_id };
        const { versionId, etag } = await restoreVersion(s3, caller, ref, preconditions(request.headers));
        return Response.json({ status: "restored", bucket, key, version_id: versionId, etag });
      },
    }),
  ];
}

const CHARACTERS = "letters, digits, spaces and + - = . _ : / @";

/** Names and values as they are sent. A record of zod drops the name `__proto__`, which is a valid one. */
const tagsToSet = z.unknown().transform((value, context): Tag[] => {
  const reject = (message: string, path: string[] = []) => context.addIssue({ code: "custom", message, path });
  if (!isObject(value)) {
    context.addIssue({ code: "invalid_type", expected: "record" });
    return z.NEVER;
  }
  const entries = Object.entries(value);
  if (entries.length > MAX_TAGS) reject(`An object has at most ${MAX_TAGS} tags`);
  return entries.map(([name, text]): Tag => {
    if (!isTagName(name)) {
      reject(`A tag's name has 1 to ${MAX_TAG_NAME} characters (${CHARACTERS}) and does not begin with aws:`, [name]);
    } else if (typeof text !== "string" || !isTagValue(text)) {
      reject(`A tag's value has at most ${MAX_TAG_VALUE} characters (${CHARACTERS})`, [name]);
    }
    return [name, String(text)];
  });
}).meta({
  type: "object",
  maxProperties: MAX_TAGS,
  propertyNames: { minLength: 1, maxLength: MAX_TAG_NAME, pattern: TAG_NAME },
  additionalProperties: { type: "string", maxLength: MAX_TAG_VALUE, pattern: TAG_VALUE },
  examples: [{ project: "1700s", "checked by": "Anna" }],
});

const tagsUpdate = z.strictObject({ tags: tagsToSet }).meta({
  id: "ObjectTagsUpdate",
  description: "Replaces all tags of the object",
});
const objectTags = z.object({ tags: z.record(z.string(), z.string()) }).meta({ id: "ObjectTags" });

const lacking = { 501: { description: "The store does not support tags" } };
const missing = { 404: { description: "No such bucket, object or version" } };

/** Tags of objects. */
export function tagOperations(
  operation: GatewayOperation,
  s3: S3,
  forms: IssuedForms | null,
): Operation[] {
  const at = {
    path: `${PATH}/tags/{key}`,
    ...OBJECT,
    query: z.object({ version_id: versionId(forms) }),
  } as const;
  return [
    operation({
      id: "get_object_tags",
      method: "GET",
      ...at,
      summary: "Get the tags of an object or one of its versions",
      responses: {
        200: { description: "The tags; empty if there are none", schema: objectTags },
        ...missing,
        ...lacking,
      },
      async handler({ caller, params: { bucket, key }, query }) {
        const ref = { bucket, key, versionId: query.version_id };
        const tags = await getTags(s3, caller, ref);
        return Response.json({ tags: Object.fromEntries(tags) });
      },
    }),
    operation({
      id: "put_object_tags",
      method: "PUT",
      ...at,
      summary: "Replace the tags of an object or one of its versions",
      body: { kind: "json", schema: tagsUpdate },
      responses: {
        200: { description: "Tags replaced", schema: z.object({ status: z.literal("updated") }) },
        ...missing,
        ...lacking,
      },
      audit: {
        action: "object_tags",
        target: objectTarget,
        details: ({ body: { tags } }) => ({ count: tags.length }),
      },
      async handler({ caller, params: { bucket, key }, query, body }) {
        const ref = { bucket, key, versionId: query.version_id };
        const headers = await putTags(s3, caller, ref, body.tags);
        return Response.json({ status: "updated" }, { headers: writeHeaders(headers) });
      },
    }),
    operation({
      id: "delete_object_tags",
      method: "DELETE",
      ...at,
      summary: "Remove all tags of an object or one of its versions",
      responses: {
        200: { description: "Tags removed", schema: z.object({ status: z.literal("deleted") }) },
        ...missing,
        ...lacking,
      },
      audit: { action: "object_tags", target: objectTarget, details: () => ({ removed: true }) },
      async handler({ caller, params: { bucket, key }, query }) {
        const ref = { bucket, key, versionId: query.version_id };
        const headers = await deleteTags(s3, caller, ref);
        return Response.json({ status: "deleted" }, { headers: writeHeaders(headers) });
      },
    }),
  ];
}
