import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { AuditDetails } from "@/lib/http/audit_event.ts";
import { bodySource } from "@/lib/http/body.ts";
import { boundedBody } from "@/lib/http/upstream.ts";
import { contentDisposition, fileNameOf } from "@/lib/http/header_values.ts";
import { fileInForm } from "@/lib/http/multipart_form.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/s3_client.ts";
import {
  bucketName,
  createFolder,
  deleteObject,
  formUploadHeaders,
  getObject,
  guardWrite,
  headObject,
  objectHeaders,
  preconditions,
  readHeaders,
  sourcePreconditions,
  uploadHeaders,
  writeHeaders,
  type WrittenObject,
} from "@/lib/s3/objects.ts";
import { copyObject } from "@/lib/s3/copy.ts";
import type { IssuedForms } from "@/lib/s3/listing.ts";
import { UPLOAD_SIZES, type UploadSizes, writeFromSource, writeObject } from "@/lib/s3/object_upload.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import {
  asObject,
  bucketParams,
  bucketTarget,
  conditional,
  CONDITIONS,
  type GatewayOperation,
  objectParams,
  objectTarget,
  statedLength,
  versionId,
  versionNote,
} from "./operation.ts";

const OBJECT = { path: "/api/v1/buckets/{bucket}/objects/{key}", tag: "S3 Objects", params: objectParams };

const versioned = (forms: IssuedForms | null) => z.object({ version_id: versionId(forms), as: asObject });

const MAX_FILENAME = 1024;

const read = (forms: IssuedForms | null) =>
  versioned(forms).extend({
    disposition: z.enum(["attachment", "inline"]).optional().meta({
      description: "Sets Content-Disposition, with the last segment of the key or `filename`",
    }),
    filename: z.string().min(1).max(MAX_FILENAME).optional().meta({
      description: "File name for Content-Disposition; implies `attachment`",
    }),
  });

const deleted = z.object({ status: z.literal("deleted"), bucket: z.string(), key: z.string() })
  .meta({ id: "ObjectDeleted" });

/** Single objects: read, looked at, deleted; bytes stream through. */
export function objectOperations(operation: GatewayOperation, s3: S3, forms: IssuedForms | null): Operation[] {
  return [
    operation({
      id: "get_object",
      method: "GET",
      ...OBJECT,
      summary: "Download an object or a range of it",
      query: read(forms),
      responses: {
        200: { description: "The content of the object", mediaType: "*/*" },
        206: { description: "The requested range", mediaType: "*/*" },
        304: { description: "Not modified" },
        404: { description: "No such bucket or object" },
        416: { description: "The range is outside the object" },
      },
      async handler({ caller, params: { bucket, key }, query }, context) {
        const ref = { bucket, key, versionId: query.version_id };
        const response = await getObject(s3, caller, ref, readHeaders(context.request.headers));
        return new Response(boundedBody(response, context.info, s3.bounds), {
          status: response.status,
          headers: shown(response, key, query),
        });
      },
    }),
    operation({
      id: "head_object",
      method: "HEAD",
      ...OBJECT,
      summary: "Get the metadata of an object as headers",
      query: read(forms),
      responses: { 200: { description: "The object exists" }, 404: { description: "No such bucket or object" } },
      async handler({ caller, params: { bucket, key }, query }, context) {
        const ref = { bucket, key, versionId: query.version_id };
        const response = await headObject(s3, caller, ref, readHeaders(context.request.headers));
        return new Response(null, { status: response.status, headers: shown(response, key, query) });
      },
    }),
    operation({
      id: "delete_object",
      method: "DELETE",
      ...OBJECT,
      summary: "Delete an object or one of its versions",
      description: CONDITIONS,
      query: versioned(forms),
      responses: {
        200: { description: "Deleted", schema: deleted },
        404: { description: "No such bucket or object" },
        ...conditional,
      },
      audit: { action: "object_delete", target: objectTarget },
      async handler({ caller, params: { bucket, key }, query }, context) {
        const ref = { bucket, key, versionId: query.version_id };
        const headers = await deleteObject(s3, caller, ref, preconditions(context.request.headers));
        context.noted = versionNote(headers);
        return Response.json({ status: "deleted", bucket, key }, { headers: writeHeaders(headers) });
      },
    }),
  ];
}

/** The headers of an object, and the name to save it under where the query has one. */
function shown(
  response: Response,
  key: string,
  { disposition, filename }: z.output<ReturnType<typeof read>>,
): Record<string, string> {
  const headers = objectHeaders(response.headers);
  if (disposition ?? filename) {
    headers["content-disposition"] = contentDisposition(disposition ?? "attachment", filename ?? fileNameOf(key));
  }
  return headers;
}

/** The part of a form that is the object. */
const FILE = "file";

const WRITTEN_OBJECT = { ...OBJECT, query: z.object({ as: asObject }) };

const uploaded = z.object({
  bucket: z.string(),
  key: z.string(),
  status: z.literal("uploaded"),
  etag: z.string().nullable(),
}).meta({ id: "ObjectUploaded" });

const rejections = {
  400: { description: "Invalid key, header, digest or form" },
  403: { description: "The account may not write here" },
  404: { description: "No such bucket" },
  413: { description: "The object is too large" },
  ...conditional,
  503: { description: "Too many requests at a time; retry after `Retry-After`" },
};

/** Objects written through the gateway: bytes stream through, nothing is spooled. */
export function objectUploadOperations(
  operation: GatewayOperation,
  s3: S3,
  sizes: UploadSizes = UPLOAD_SIZES,
): Operation[] {
  return [
    operation({
      id: "put_object",
      method: "PUT",
      ...WRITTEN_OBJECT,
      summary: "Upload an object",
      description: "The body is the object; content headers, `x-amz-meta-*`, `x-amz-tagging`, `Content-MD5` and " +
        "`x-amz-checksum-*` apply to it. Bodies without a Content-Length, above 5 GiB, or for a store that may keep " +
        "truncated ones are written in parts. " + CONDITIONS,
      body: { kind: "raw", description: "Content of the object" },
      responses: {
        200: { description: "Object written; an existing object is replaced", schema: uploaded },
        ...rejections,
      },
      audit: { action: "object_write", target: ({ params }) => objectTarget({ params }) },
      async handler({ caller, params }, context) {
        const { request: raw } = context;
        const written = await writeObject(s3, caller, params, {
          body: raw.body,
          lengthBytes: contentLength(raw),
          headers: { ...uploadHeaders(raw.headers), ...await guard(s3, caller, params, raw.headers) },
          sizes,
        });
        context.noted = writtenNote(raw, written);
        return Response.json(uploadedBody(params, written), { headers: headers(written) });
      },
    }),
    operation({
      id: "post_object",
      method: "POST",
      ...WRITTEN_OBJECT,
      summary: "Upload an object from a form",
      description:
        "The part `file` is the object, with its Content-Type. `x-amz-meta-*`, `x-amz-tagging` and conditions are request " +
        `headers. Other form fields are ignored. ${CONDITIONS}`,
      body: { kind: "raw", description: "A form with exactly one file", formField: FILE },
      responses: {
        201: { description: "Object written; an existing object is replaced", schema: uploaded },
        ...rejections,
        422: { description: "Exactly one part `file` is required" },
      },
      audit: { action: "object_write", target: ({ params }) => objectTarget({ params }) },
      async handler({ caller, params }, context) {
        const { request: raw } = context;
        const body = bodySource(raw.body, { lengthBytes: announcedLength(raw), bounds: s3.bounds });
        const { contentType, source } = await fileInForm(body, raw.headers.get("content-type"), FILE);
        const written = await writeFromSource(s3, caller, params, {
          source,
          lengthBytes: null,
          headers: {
            ...formUploadHeaders(raw.headers, contentType),
            ...await guard(s3, caller, params, raw.headers),
          },
          sizes,
        });
        context.noted = versionNote(written.headers);
        return Response.json(uploadedBody(params, written), { status: 201, headers: headers(written) });
      },
    }),
  ];
}

function uploadedBody(
  { bucket, key }: z.output<typeof objectParams>,
  { etag }: WrittenObject,
): z.output<typeof uploaded> {
  return { bucket, key, status: "uploaded", etag };
}

function writtenNote(request: Request, { headers }: WrittenObject): AuditDetails {
  const bytes = contentLength(request);
  return { ...(bytes === null ? {} : { bytes }), ...versionNote(headers) };
}

/** The headers for the request's conditions on a write, which may be one PUT or end in a completion. */
async function guard(s3: S3, caller: Caller, place: z.output<typeof objectParams>, request: Headers) {
  return await guardWrite(s3, caller, place, { writes: ["put", "complete"], conditions: preconditions(request) });
}

function headers({ etag, headers }: WrittenObject): Record<string, string> {
  const all = new Headers(headers);
  if (etag !== null) all.set("etag", etag);
  return writeHeaders(all);
}

/** The length of a body, null where only its end tells. A request without any framing has none (RFC 9112, section 6.3). */
function contentLength({ headers, body }: Request): number | null {
  return statedLength(headers) ?? (body === null ? 0 : null);
}

const copyRequest = z.object({
  source_bucket: bucketName,
  source_key: z.string().min(1).meta({ examples: ["2026/a.txt"] }),
}).meta({ id: "CopyRequest" });
const copied = z.object({ status: z.literal("copied"), bucket: z.string(), key: z.string() }).meta({ id: "Copied" });

const folderRequest = z.object({
  folder_name: z.string().regex(/[^/]/, "must be more than slashes").meta({ examples: ["2026/spring"] }),
}).meta({ id: "FolderCreate" });
const folder = z.object({ bucket: z.string(), key: z.string(), status: z.literal("created") }).meta({ id: "Folder" });

/** Objects that come from no client's bytes: copies and folders. */
export function copyOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return [
    operation({
      id: "copy_object",
      method: "POST",
      path: "/api/v1/buckets/{bucket}/objects/{key}/copy",
      tag: OBJECT.tag,
      summary: "Copy an object to this key",
      description: "Copies metadata and tags inside the store, above 5 GiB in parts. " +
        `${CONDITIONS} With the prefix \`x-amz-copy-source-\` they apply to the source.`,
      params: objectParams,
      body: { kind: "json", schema: copyRequest },
      responses: {
        200: { description: "Copied; `bucket` and `key` name the copy", schema: copied },
        404: { description: "No such source or bucket" },
        ...conditional,
      },
      audit: {
        action: "object_copy",
        target: objectTarget,
        details: ({ body }) => ({ from_bucket: body.source_bucket, from_key: body.source_key }),
      },
      async handler({ caller, params: target, body }, { request: { headers } }) {
        await copyObject(s3, caller, {
          source: { bucket: body.source_bucket, key: body.source_key },
          target,
          ofSource: sourcePreconditions(headers),
          ofTarget: preconditions(headers),
        });
        return Response.json({ status: "copied", bucket: target.bucket, key: target.key });
      },
    }),
    operation({
      id: "create_folder",
      method: "POST",
      path: "/api/v1/buckets/{bucket}/objects/folder",
      tag: OBJECT.tag,
      summary: "Create a folder",
      description:
        "Creates an empty object whose key ends with a slash, which is added if missing. An existing folder " +
        `stays unchanged. ${CONDITIONS}`,
      params: bucketParams,
      body: { kind: "json", schema: folderRequest },
      responses: {
        201: { description: "The folder exists now", schema: folder },
        404: { description: "No such bucket" },
        409: { description: "An object with content has this key" },
        ...conditional,
      },
      audit: { action: "object_write", target: bucketTarget },
      async handler({ caller, params: { bucket }, body }, context) {
        const conditions = preconditions(context.request.headers);
        const key = await createFolder(s3, caller, { bucket, name: body.folder_name }, conditions);
        context.noted = { folder: key };
        return Response.json({ bucket, key, status: "created" }, { status: 201 });
      },
    }),
  ];
}
