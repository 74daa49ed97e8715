import { z } from "zod";
import type { Caller } from "@/lib/auth/store_credentials.ts";
import type { AuditDetails } from "@/lib/http/audit_event.ts";
import { bodySource } from "@/lib/http/body_source.ts";
import { badRequest } from "@/lib/http/errors.ts";
import { fileInForm } from "@/lib/http/multipart_form.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import { guardWrite, preconditions } from "@/lib/s3/conditions.ts";
import { formUploadHeaders, uploadHeaders, writeHeaders } from "@/lib/s3/object_headers.ts";
import type { WrittenObject } from "@/lib/s3/objects.ts";
import { UPLOAD_SIZES, type UploadSizes, writeFromSource, writeObject } from "@/lib/s3/upload/object_upload.ts";
import { announcedLength } from "@/lib/std/body_reader.ts";
import { objectTarget, versionNote } from "./audited_objects.ts";
import { asObject, conditional, CONDITIONS, objectParams } from "./object_parameters.ts";
import type { GatewayOperation } from "./operation.ts";

/** The part of a form that is the object. */
const FILE = "file";

const OBJECT = {
  path: "/api/v1/buckets/{bucket}/objects/{key}",
  tag: "S3 Objects",
  params: objectParams,
  query: z.object({ as: asObject }),
};

const uploaded = z.object({
  bucket: z.string(),
  key: z.string(),
  status: z.literal("uploaded"),
  etag: z.string().nullable(),
}).meta({ id: "ObjectUploaded" });

const rejections = {
  400: { description: "A key, header, digest or form that cannot be" },
  403: { description: "No permission to write" },
  404: { description: "No such bucket" },
  413: { description: "Longer than an object can be" },
  ...conditional,
  503: { description: "Too many requests at a time" },
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
      ...OBJECT,
      summary: "Write an object",
      description: "The body is the object. Content headers, `x-amz-meta-*`, `x-amz-tagging`, `Content-MD5`, " +
        "`x-amz-checksum-*` go with it. Without a Content-Length, above 5 GiB, or where the store may store a truncated " +
        "body, it is written in parts. " + CONDITIONS,
      body: { kind: "raw", description: "The bytes" },
      responses: { 200: { description: "Written, replacing what had the key", schema: uploaded }, ...rejections },
      audit: { action: "object_write", target: ({ params }) => objectTarget({ params }) },
      async handler({ caller, params }, context) {
        const { request: raw } = context;
        const written = await writeObject(s3, caller, params, {
          body: raw.body,
          lengthBytes: contentLength(raw),
          headers: await guarded(s3, caller, params, raw, uploadHeaders(raw.headers)),
        }, sizes);
        context.noted = writtenNote(raw, written);
        return Response.json(uploadedBody(params, written), { headers: headers(written) });
      },
    }),
    operation({
      id: "post_object",
      method: "POST",
      ...OBJECT,
      summary: "Write an object from a form",
      description:
        "The part `file` is the object, and its type is the object's. `x-amz-meta-*`, `x-amz-tagging` and conditions are headers of " +
        `the request. Other fields are passed over. ${CONDITIONS}`,
      body: { kind: "raw", description: "A form with one file", formField: FILE },
      responses: {
        201: { description: "Written, replacing what had the key", schema: uploaded },
        ...rejections,
        422: { description: "No part `file`, or more than one" },
      },
      audit: { action: "object_write", target: ({ params }) => objectTarget({ params }) },
      async handler({ caller, params }, context) {
        const { request: raw } = context;
        const body = bodySource(raw.body, { lengthBytes: announcedLength(raw), bounds: s3.bounds });
        const { contentType, source } = await fileInForm(body, raw.headers.get("content-type"), FILE);
        const written = await writeFromSource(s3, caller, params, {
          source,
          lengthBytes: null,
          headers: await guarded(s3, caller, params, raw, formUploadHeaders(raw.headers, contentType)),
        }, sizes);
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

/** Adds the conditions of a request to the headers of a write, which may be one PUT or end in a completion. */
async function guarded(
  s3: S3,
  caller: Caller,
  place: z.output<typeof objectParams>,
  request: Request,
  headers: Headers,
): Promise<Headers> {
  const guard = await guardWrite(s3, caller, place, ["put", "complete"], preconditions(request.headers));
  for (const [name, value] of Object.entries(guard)) headers.set(name, value);
  return headers;
}

function headers({ etag, headers }: WrittenObject): Record<string, string> {
  const all = new Headers(headers);
  if (etag !== null) all.set("etag", etag);
  return writeHeaders(all);
}

/** The length of a body, null where only its end tells. A request without any framing has none (RFC 9112, section 6.3). */
function contentLength(request: Request): number | null {
  const text = request.headers.get("content-length");
  if (text === null) return request.body === null ? 0 : null;
  const length = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(length)) throw badRequest("content-length: not a length in bytes");
  return length;
}
