import { z } from "zod";
import { bodySource } from "@/lib/http/body.ts";
import { compressibleJson, JsonBytes } from "@/lib/http/header_values.ts";
import { badRequest, HttpError } from "@/lib/http/errors.ts";
import { fileInForm } from "@/lib/http/multipart_form.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { HeaderRecord, S3 } from "@/lib/s3/s3_client.ts";
import { digestHeaders, guardWrite, objectKey, preconditions, uploadHeaders, wellFormed } from "@/lib/s3/objects.ts";
import {
  abortUpload,
  completeUpload,
  createUpload,
  DEFAULT_PART_BYTES,
  listParts,
  MAX_PART_BYTES,
  MAX_PARTS,
  MIN_PART_BYTES,
  partCount,
  partPage,
  sendPart,
  WITH_SHA256,
} from "@/lib/s3/multipart.ts";
import { presigner, requiredHeaders } from "@/lib/s3/presign.ts";
import { MAX_FORM_PART_BYTES, requestBody, sendPartFromSource } from "@/lib/s3/object_upload.ts";
import { FITS_XML } from "@/lib/s3/s3_xml.ts";
import { yielding } from "@/lib/std/concurrency.ts";
import {
  asObject,
  bucketParams,
  conditional,
  CONDITIONS,
  type GatewayOperation,
  objectParams,
  objectTarget,
  statedLength,
} from "./operation.ts";
import { bodyFields, headersField, sha256Text, validityFields, validitySeconds } from "./presign.ts";

const UPLOAD = { path: "/api/v1/buckets/{bucket}/multipart/{key}", tag: "S3 Multipart", params: objectParams };
/** The part of a form that is a part of the object. */
const FILE = "file";
/** Ten thousand parts with long ETags, and room, bytes. */
const MAX_COMPLETE_BYTES = 4 * 1024 * 1024;
/** Ten thousand parts with checksums, and room, bytes. */
const MAX_PRESIGN_BYTES = 2 * 1024 * 1024;
/** Longest upload ID in URLs, characters. Stores issue up to some hundred, and each of ten thousand URLs holds it. */
const MAX_UPLOAD_ID = 1024;
/** Most parts of a page (S3 API, ListParts). */
const MAX_LISTED_PARTS = 1000;

const uploadId = wellFormed.min(1).meta({ description: "`upload_id` of the created upload" });
const place = { bucket: z.string(), key: z.string() };

const createRequest = z.object({
  checksum_algorithm: z.literal("SHA256").nullish().meta({
    description: "Checksum required of each part, which the store verifies",
  }),
  content_type: bodyFields.content_type.meta({
    description: "Content-Type of the object",
    examples: ["image/tiff"],
  }),
}).meta({ id: "UploadCreate" });
const created = z.object({ ...place, upload_id: z.string() }).meta({ id: "UploadCreated" });

const partNumber = z.int().min(1).max(MAX_PARTS);
const presignRequest = z.object({
  file_size: z.int().min(1).meta({ description: "Size in bytes", examples: [157_286_400] }),
  part_size: z.int().min(MIN_PART_BYTES).max(MAX_PART_BYTES).nullish().meta({
    description: `Bytes of each part but the last, ${DEFAULT_PART_BYTES.toLocaleString("en")} by default`,
    examples: [67_108_864],
  }),
  upload_id: wellFormed.min(1).max(MAX_UPLOAD_ID).nullish().meta({
    description: "Existing upload; without it a new one is created",
  }),
  part_numbers: z.array(partNumber).min(1).max(MAX_PARTS).nullish().meta({
    description: "Parts to presign, in this order; all by default",
  }),
  checksums: z.array(z.strictObject({ part_number: partNumber, sha256: sha256Text })).max(MAX_PARTS).nullish().meta({
    description:
      "SHA-256 of parts, in base64. A new upload is created with that algorithm, and needs those of all parts",
  }),
  ...validityFields,
}).meta({ id: "PartPresignRequest" });
const presigned = z.object({
  ...place,
  upload_id: z.string(),
  part_size: z.int().meta({ description: "bytes" }),
  total_parts: z.int(),
  urls: z.array(z.object({ part_number: z.int(), url: z.string(), headers: headersField })).meta({
    description: "In the order of the parts, or of `part_numbers`",
  }),
  expires_in: z.int().meta({ description: "seconds" }),
}).meta({ id: "PartsPresigned" });

const completeRequest = z.object({
  upload_id: uploadId,
  parts: z.array(z.object({
    PartNumber: partNumber,
    ETag: z.string().min(1).meta({
      ...FITS_XML,
      description: "ETag that the part's upload returned",
      examples: ['"5d41402abc4b2a76"'],
    }),
    ChecksumSHA256: sha256Text.nullish().meta({
      description: "SHA-256 of the part in base64; required by stores for uploads with that algorithm",
    }),
  })).min(1).max(MAX_PARTS).meta({ description: "In ascending order" }),
}).meta({ id: "CompleteRequest" });
const completed = z.object({ ...place, etag: z.string().nullable() }).meta({ id: "UploadCompleted" });

const abortRequest = z.object({ upload_id: uploadId }).meta({ id: "AbortRequest" });

const partList = z.object({ ...place, upload_id: z.string(), ...partPage.shape }).meta({ id: "PartList" });

const unknown = { 404: { description: "No such bucket or upload" } };

/** Operations of uploads in parts: create, presign the parts, complete or abort. */
export function multipartOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return [
    operation({
      id: "create_multipart_upload",
      method: "POST",
      ...UPLOAD,
      summary: "Create a multipart upload",
      description:
        "Content headers, `x-amz-meta-*` and `x-amz-tagging` apply to the object, except for a JSON Content-Type. The body is " +
        "read only if it is JSON.",
      query: z.object({ as: asObject }),
      body: { kind: "json", schema: createRequest.nullish(), ignoresOtherTypes: true },
      responses: { 201: { description: "Upload created", schema: created }, 404: { description: "No such bucket" } },
      async handler({ caller, params: place, body }, context) {
        const headers = {
          ...futureHeaders(context.request.headers),
          ...body?.checksum_algorithm && WITH_SHA256,
          ...body?.content_type && { "content-type": body.content_type },
        };
        const { uploadId } = await createUpload(s3, caller, place, headers);
        return Response.json({ ...place, upload_id: uploadId }, { status: 201 });
      },
    }),
    operation({
      id: "presign_parts",
      method: "POST",
      ...UPLOAD,
      path: `${UPLOAD.path}/presign`,
      summary: "Create presigned URLs for the parts of a file",
      description:
        "Creates a new upload unless `upload_id` is given. The URL of a part with a checksum requires the `headers` beside " +
        "it. Once the checksum of another part is known, presign that part with `upload_id`.",
      params: bucketParams.extend({ key: objectKey.meta({ ...objectKey.meta(), ...objectParams.shape.key.meta() }) }),
      body: { kind: "json", schema: presignRequest, limitBytes: MAX_PRESIGN_BYTES },
      responses: {
        200: { description: "The presigned URLs", schema: presigned },
        400: {
          description:
            "More than 10,000 parts, an invalid part number or checksum, missing checksums for a new upload, or a key that " +
            "cannot be part of a URL. No upload was created",
        },
        404: { description: "No such bucket" },
      },
      audit: {
        action: "object_share",
        target: ({ params }) => objectTarget({ params }),
        details: ({ body }) => ({
          method: "put_object",
          expires_in: validitySeconds(body),
          parts: body.part_numbers?.length ?? partCount(body.file_size, body.part_size ?? DEFAULT_PART_BYTES),
        }),
      },
      async handler({ caller, params: place, body }) {
        const part_size = body.part_size ?? DEFAULT_PART_BYTES;
        const total_parts = partCount(body.file_size, part_size);
        const parts = body.part_numbers ?? Array.from({ length: total_parts }, (_, index) => index + 1);
        const excess = parts.find((number) => number > total_parts);
        if (excess) throw badRequest(`part_numbers: part ${excess} is not one of the ${total_parts} parts`);
        const headers = partHeaders(body.checksums ?? [], total_parts);
        const expires_in = validitySeconds(body);
        const { bucket, key } = place;
        const presign = await presigner(s3, caller, { bucket, method: "put_object", expiresSeconds: expires_in });
        // Reject a key that no URL can contain before creating the upload.
        presign({ key });
        if (!body.upload_id) requireAll(headers, total_parts);
        const algorithm = headers.size > 0 ? WITH_SHA256 : undefined;
        const upload_id = body.upload_id ?? (await createUpload(s3, caller, place, algorithm)).uploadId;
        const json = new JsonBytes();
        json.text(
          JSON.stringify({ ...place, upload_id, part_size, total_parts, expires_in }).slice(0, -1) + ',"urls":[',
        );
        await yielding(parts.length, (index) => {
          const part_number = parts[index];
          const required = headers.get(part_number);
          const query = [["uploadId", upload_id], ["partNumber", String(part_number)]] as const;
          const url = presign({ key, query, headers: required });
          json.text((index === 0 ? "" : ",") + JSON.stringify({ part_number, url, headers: required }));
        });
        json.text("]}");
        return json.response();
      },
    }),
    operation({
      id: "complete_multipart_upload",
      method: "POST",
      ...UPLOAD,
      path: `${UPLOAD.path}/complete`,
      summary: "Complete a multipart upload",
      description: CONDITIONS,
      body: { kind: "json", schema: completeRequest, limitBytes: MAX_COMPLETE_BYTES },
      responses: {
        200: { description: "The object was created", schema: completed },
        400: { description: "A part is missing, too small or out of order" },
        ...conditional,
        ...unknown,
      },
      audit: {
        action: "object_write",
        target: ({ params }) => objectTarget({ params }),
        details: ({ body: { parts } }) => ({ parts: parts.length }),
      },
      async handler({ caller, params: place, body }, { request }) {
        const upload = { ...place, uploadId: body.upload_id };
        const given = { writes: ["complete"], conditions: preconditions(request.headers) } as const;
        const conditions = await guardWrite(s3, caller, place, given);
        const { etag } = await completeUpload(s3, caller, upload, { parts: body.parts, conditions });
        return Response.json({ ...place, etag });
      },
    }),
    operation({
      id: "abort_multipart_upload",
      method: "POST",
      ...UPLOAD,
      path: `${UPLOAD.path}/abort`,
      summary: "Abort a multipart upload and delete its parts",
      body: { kind: "json", schema: abortRequest },
      responses: {
        200: { description: "Aborted", schema: z.object({ status: z.literal("aborted") }) },
        ...unknown,
      },
      async handler({ caller, params: place, body }) {
        await abortUpload(s3, caller, { ...place, uploadId: body.upload_id });
        return Response.json({ status: "aborted" });
      },
    }),
    operation({
      id: "list_parts",
      method: "GET",
      ...UPLOAD,
      path: `${UPLOAD.path}/parts`,
      summary: "List the uploaded parts, one page at a time",
      query: z.object({
        upload_id: uploadId,
        max_parts: z.int().min(1).max(MAX_LISTED_PARTS).default(MAX_LISTED_PARTS).meta({
          description: "Maximum number of parts",
        }),
        part_number_marker: z.int().min(0).max(MAX_PARTS).optional().meta({
          description: "`next_part_number_marker` of the previous page",
        }),
      }),
      responses: { 200: { description: "A page of the listing", schema: partList }, ...unknown },
      async handler({ caller, params: place, query }, { request }) {
        const page = await listParts(s3, caller, { ...place, uploadId: query.upload_id }, {
          maxParts: query.max_parts,
          partNumberMarker: query.part_number_marker,
        });
        return compressibleJson(request, { ...place, upload_id: query.upload_id, ...page });
      },
    }),
    operation({
      id: "upload_part",
      method: "PUT",
      ...UPLOAD,
      summary: "Upload one part through the gateway",
      query: z.object({ as: asObject, upload_id: uploadId, part_number: partNumber }),
      description:
        `\`Content-MD5\` and \`x-amz-checksum-*\` are passed on. The body may also be a form with a part \`file\` of up to ` +
        `${MAX_FORM_PART_BYTES / 1024 ** 2} MiB.`,
      body: { kind: "raw", description: "Content of the part; Content-Length is required" },
      responses: {
        200: {
          description: "Part written",
          schema: z.object({ part_number: z.int(), etag: z.string() }).meta({ id: "PartUploaded" }),
        },
        411: { description: "Content-Length is missing" },
        413: { description: "The file in the form is too large" },
        422: { description: "Exactly one part `file` is required" },
        ...unknown,
      },
      async handler({ caller, params: place, query }, context) {
        const { request: raw } = context;
        const { upload_id, part_number } = query;
        const upload = { ...place, uploadId: upload_id };
        const { ETag } = isForm(raw.headers)
          ? await sendPartFromSource(s3, caller, upload, { number: part_number, ...await partInForm(s3, raw) })
          : await sendPart(s3, caller, upload, {
            number: part_number,
            ...await requestBody(s3, raw.body, partLength(raw.headers)),
            headers: digestHeaders(raw.headers),
          });
        return Response.json({ part_number, etag: ETag });
      },
    }),
  ];
}

/** The size and checksum each part's URL requires, by part number. @throws HttpError 400 for a part that is not of the upload, or twice */
function partHeaders(
  checksums: readonly { readonly part_number: number; readonly sha256: string }[],
  parts: number,
): Map<number, HeaderRecord> {
  const headers = new Map<number, HeaderRecord>();
  for (const { part_number, sha256 } of checksums) {
    if (part_number > parts) throw badRequest(`checksums: part ${part_number} is not one of the ${parts} parts`);
    const required = requiredHeaders({ sha256 });
    if (headers.has(part_number)) throw badRequest(`checksums: part ${part_number} is named twice`);
    if (required) headers.set(part_number, required);
  }
  return headers;
}

/** S3 rejects parts without a checksum where the upload has an algorithm. @throws HttpError 400 where some have one, not all */
function requireAll(headers: ReadonlyMap<number, HeaderRecord>, parts: number): void {
  if (headers.size === 0 || headers.size === parts) return;
  let missing = 1;
  while (headers.has(missing)) missing++;
  throw badRequest(`checksums: part ${missing} has none, and a new upload needs those of all ${parts} parts`);
}

function futureHeaders(request: Headers): HeaderRecord {
  const { "content-md5": _, "content-type": type, ...headers } = uploadHeaders(request);
  return type === undefined || /^application\/json\b/i.test(type) ? headers : { ...headers, "content-type": type };
}

/** Taken for bytes, a form would silently become part of the object with all its delimiters. */
function isForm(headers: Headers): boolean {
  return /^\s*multipart\/form-data\b/i.test(headers.get("content-type") ?? "");
}

async function partInForm({ bounds }: S3, { body, headers }: Request) {
  const lengthBytes = headers.has("content-length") ? partLength(headers) : null;
  const { source } = await fileInForm(bodySource(body, { lengthBytes, bounds }), headers.get("content-type"), FILE);
  return { source, atMostBytes: lengthBytes };
}

function partLength(headers: Headers): number {
  const length = statedLength(headers);
  if (length === null) throw new HttpError(411, "Content-Length is required");
  if (length > MAX_PART_BYTES) throw badRequest(`content-length: a part has at most ${MAX_PART_BYTES} bytes`);
  return length;
}
