import { z } from "zod";
import { badRequest, lengthRequired } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { objectHeaders, readHeaders, uploadHeaders, writeHeaders } from "@/lib/s3/object_headers.ts";
import { deleteObject, getObject, headObject, putObject } from "@/lib/s3/objects.ts";
import type { GatewayOperation } from "./operation.ts";

const TAG = "S3 Objects";
const PATH = "/api/v1/buckets/{bucket}/objects/{key}";

const params = z.object({
  bucket: z.string().min(1).meta({ examples: ["notes"] }),
  key: z.string().min(1).meta({ description: "May hold slashes", examples: ["2026/first page.txt"] }),
});
const asObject = z.literal("object").optional().meta({
  description: "Reads the rest of the path as a key even where it ends in a reserved word",
});
const versioned = z.object({
  version_id: z.string().min(1).optional().meta({ description: "A version other than the current one" }),
  as: asObject,
});

const uploaded = z.object({
  bucket: z.string(),
  key: z.string(),
  status: z.literal("uploaded"),
  etag: z.string().nullable(),
}).meta({ id: "ObjectUploaded" });

const deleted = z.object({ status: z.literal("deleted"), bucket: z.string(), key: z.string() })
  .meta({ id: "ObjectDeleted" });

/** Single objects: written, read, looked at, deleted; bytes stream through both ways. */
export function objectOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return [
    operation({
      id: "put_object",
      method: "PUT",
      path: PATH,
      tag: TAG,
      summary: "Write an object",
      description: "The body is the object. Content headers, `x-amz-meta-*`, If-Match and If-None-Match go with it.",
      params,
      query: z.object({ as: asObject }),
      body: { kind: "raw", description: "The bytes; Content-Length is required" },
      responses: {
        200: { description: "Written, replacing what had the key", schema: uploaded },
        404: { description: "No such bucket" },
        411: { description: "No Content-Length" },
      },
      async handler({ caller, params: { bucket, key } }, c) {
        const { raw } = c.req;
        const headers = await putObject(s3, caller, { bucket, key }, {
          body: raw.body,
          lengthBytes: contentLength(raw.headers),
          headers: uploadHeaders(raw.headers),
        });
        const answer = { bucket, key, status: "uploaded", etag: headers.get("etag") };
        return c.json(answer, 200, writeHeaders(headers));
      },
    }),
    operation({
      id: "get_object",
      method: "GET",
      path: PATH,
      tag: TAG,
      summary: "Read an object, or a range of it",
      params,
      query: versioned,
      responses: {
        200: { description: "The object", mediaType: "application/octet-stream" },
        206: { description: "The range asked for", mediaType: "application/octet-stream" },
        304: { description: "Not modified" },
        404: { description: "No such bucket or object" },
        416: { description: "The range lies outside of the object" },
      },
      async handler({ caller, params: { bucket, key }, query }, c) {
        const response = await getObject(s3, caller, { bucket, key, versionId: query.version_id }, {
          headers: readHeaders(c.req.raw.headers),
        });
        return new Response(response.body, { status: response.status, headers: objectHeaders(response.headers) });
      },
    }),
    operation({
      id: "head_object",
      method: "HEAD",
      path: PATH,
      tag: TAG,
      summary: "The metadata of an object, as headers",
      params,
      query: versioned,
      responses: { 200: { description: "It is there" }, 404: { description: "It is not" } },
      async handler({ caller, params: { bucket, key }, query }, c) {
        const response = await headObject(s3, caller, { bucket, key, versionId: query.version_id }, {
          headers: readHeaders(c.req.raw.headers),
        });
        return new Response(null, { status: response.status, headers: objectHeaders(response.headers) });
      },
    }),
    operation({
      id: "delete_object",
      method: "DELETE",
      path: PATH,
      tag: TAG,
      summary: "Delete an object, or one version of it",
      params,
      query: versioned,
      responses: {
        200: { description: "Deleted", schema: deleted },
        404: { description: "It was not there" },
      },
      async handler({ caller, params: { bucket, key }, query }, c) {
        const headers = await deleteObject(s3, caller, { bucket, key, versionId: query.version_id });
        return c.json({ status: "deleted", bucket, key }, 200, writeHeaders(headers));
      },
    }),
  ];
}

function contentLength(headers: Headers): number {
  const text = headers.get("content-length");
  if (text === null) throw lengthRequired();
  const length = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(length)) throw badRequest("content-length: not a length in bytes");
  return length;
}
