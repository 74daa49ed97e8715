import { z } from "zod";
import { badRequest, unprocessable } from "@/lib/http/errors.ts";
import { JsonBytes } from "@/lib/http/header_values.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { HeaderRecord, S3 } from "@/lib/s3/s3_client.ts";
import { bothDeleted, bulkDeleted, deleteKeys, deletePrefix } from "@/lib/s3/delete_objects.ts";
import { bucketName, wellFormed } from "@/lib/s3/objects.ts";
import {
  DEFAULT_PRESIGN_SECONDS,
  fitsUrl,
  MAX_PRESIGN_SECONDS,
  PRESIGN_METHODS,
  presigner,
  presignMethod,
  requiredHeaders,
} from "@/lib/s3/presign.ts";
import { yielding } from "@/lib/std/concurrency.ts";
import { bucketParams as params, type GatewayOperation, keyDetails, MAX_KEYS_BODY_BYTES } from "./operation.ts";

const TAG = "S3 Objects";

/** The actions a URL can be presigned for. Any other word is refused by one sentence, not by a list of problems. */
const methodField = z.string().default("get_object").meta({
  description: "`get_object` downloads, `put_object` uploads",
  enum: [...PRESIGN_METHODS],
});

const seconds = z.int().min(1).max(MAX_PRESIGN_SECONDS).nullish();

/** How long presigned URLs are to be good, in a request. */
export const validityFields = {
  expires_in: seconds.meta({ description: `Validity in seconds, ${DEFAULT_PRESIGN_SECONDS} by default` }),
  validity: seconds.meta({ description: "Alias of `expires_in`, which takes precedence" }),
};

/** The same in seconds. */
export function validitySeconds(
  body: { readonly expires_in?: number | null; readonly validity?: number | null },
): number {
  return body.expires_in ?? body.validity ?? DEFAULT_PRESIGN_SECONDS;
}

/** 32 bytes in base64 whose spare bits are 0: each digest has one spelling. */
const SHA256 = /^[A-Za-z0-9+\/]{42}[AEIMQUYcgkosw048]=$/;
/** Longest Content-Type, characters. Spaces stand alone in it, since a signature covers them folded. */
const MAX_CONTENT_TYPE = 255;
const CONTENT_TYPE = /^[!-~]+(?: [!-~]+)*$/;

/** A SHA-256 in a request. */
export const sha256Text = z.string().regex(SHA256, "Input should be the 32 bytes of a SHA-256 in base64").meta({
  examples: ["LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ="],
});

/** The size, type and checksum a presigned write requires of its body. */
export const bodyFields = {
  checksum_sha256: sha256Text.nullish().meta({ description: "SHA-256 of the body, in base64" }),
  content_type: z.string().max(MAX_CONTENT_TYPE).regex(
    CONTENT_TYPE,
    "Input should be ASCII without outer or double spaces",
  )
    .nullish().meta({ description: "Content-Type of the body", examples: ["image/tiff"] }),
};

/** The headers of a URL, in a response. */
export const headersField = z.record(z.string(), z.string()).optional().meta({
  description: "Headers that the request must have, since the URL signs them; absent if there are none",
  examples: [{ "x-amz-checksum-sha256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=" }],
});

/** The part of a schema that says that something goes with writes. */
const ONLY_TO_WRITE = { required: ["method"], properties: { method: { const: "put_object" } } };

/** Clients fold such segments out of URLs; a key that has one is 400. */
const WITHOUT_DOT_SEGMENTS = { pattern: "^(?!(?:[\\s\\S]*/)?\\.{1,2}(?:/|$))" };

const presignRequest = z.object({
  bucket: bucketName,
  key: z.string().min(1).meta({ ...WITHOUT_DOT_SEGMENTS, examples: ["2026/first page.txt"] }),
  method: methodField,
  ...bodyFields,
  ...validityFields,
}).meta({
  id: "PresignRequest",
  anyOf: [{ properties: { checksum_sha256: { type: "null" }, content_type: { type: "null" } } }, ONLY_TO_WRITE],
});

const presigned = z.object({
  url: z.string(),
  bucket: z.string(),
  key: z.string(),
  expires_in: z.int().meta({ description: "seconds" }),
  method: z.enum(["get_object", "put_object"]),
  headers: headersField,
}).meta({ id: "Presigned" });

/** URLs that need no credentials. */
export function presignOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return [
    operation({
      id: "presign",
      method: "POST",
      path: "/api/v1/presign",
      tag: TAG,
      summary: "Create a presigned URL for one object",
      description:
        "Anyone with the URL may use it until it expires. The object need not exist. With `checksum_sha256` or " +
        "`content_type`, requests must have the `headers` of the response, and the store rejects any other body.",
      body: { kind: "json", schema: presignRequest },
      responses: {
        200: { description: "The presigned URL", schema: presigned },
        400: { description: "The key cannot be part of a URL" },
        422: { description: "Invalid field" },
      },
      audit: {
        action: "object_share",
        target: ({ body: { bucket, key } }) => ({ kind: "object", bucket, key }),
        details: ({ body }) => ({ method: body.method, expires_in: validitySeconds(body) }),
      },
      async handler({ caller, body }) {
        const { bucket, key } = body;
        const method = presignMethod(body.method);
        const seconds = validitySeconds(body);
        const headers = requiredHeaders({ sha256: body.checksum_sha256, contentType: body.content_type });
        if (headers && method !== "put_object") {
          throw unprocessable("checksum_sha256 and content_type go with the method put_object");
        }
        const presign = await presigner(s3, caller, { bucket, method, expiresSeconds: seconds });
        const url = presign({ key, headers });
        return Response.json({ url, bucket, key, expires_in: seconds, method, headers });
      },
    }),
  ];
}

/** Most keys of one bulk delete and of one bulk presign. */
const MAX_DELETED_KEYS = 100_000;
const MAX_PRESIGNED_KEYS = 10_000;

const key = z.string().min(1);
const nothing = { deleted: 0, errors: [] };

const deleteRequest = z.object({
  keys: z.array(wellFormed.min(1)).max(MAX_DELETED_KEYS).nullish().meta({
    examples: [["2026/a.txt", "2026/b.txt"]],
  }),
  prefix: wellFormed.nullish().meta({ description: "Key prefix; matching objects are deleted too" }),
  all: z.boolean().nullish().meta({ description: "Required with an empty prefix, which is the whole bucket" }),
}).meta({
  id: "BulkDelete",
  // An empty prefix and the word that it is meant go together.
  anyOf: [
    { properties: { prefix: { not: { const: "" } }, all: { not: { const: true } } } },
    { required: ["prefix", "all"], properties: { prefix: { const: "" }, all: { const: true } } },
  ],
});

const deleted = z.object({ status: z.literal("deleted"), ...bulkDeleted.shape }).meta({ id: "BulkDeleted" });

const bulkPresignRequest = z.object({
  keys: z.array(key).min(1).max(MAX_PRESIGNED_KEYS).optional().meta({ examples: [["2026/a.txt", "2026/b.txt"]] }),
  objects: z.array(z.strictObject({ key, ...bodyFields })).min(1).max(MAX_PRESIGNED_KEYS).nullish().meta({
    description: "Keys with a known checksum or type of the body, for `put_object`",
  }),
  method: methodField,
  ...validityFields,
}).superRefine(({ keys, objects }, context) => {
  if (!keys && !objects) context.addIssue({ code: "invalid_type", expected: "array", path: ["keys"] });
}).meta({
  id: "BulkPresignRequest",
  anyOf: [
    { required: ["keys"], properties: { objects: { type: "null" } } },
    {
      required: ["objects", ...ONLY_TO_WRITE.required],
      properties: { objects: { not: { type: "null" } }, ...ONLY_TO_WRITE.properties },
    },
  ],
});

const bulkPresigned = z.object({
  urls: z.array(z.object({ key: z.string(), url: z.string(), headers: headersField })),
  by_key: z.record(z.string(), z.string()).meta({
    description: "The URLs by key, without those that require `headers`",
  }),
  expires_in: z.int().meta({ description: "seconds" }),
}).meta({ id: "BulkPresigned" });

/** Many objects of a bucket in one request. */
export function bulkOperations(operation: GatewayOperation, s3: S3): Operation[] {
  return [
    operation({
      id: "delete_objects",
      method: "POST",
      path: "/api/v1/buckets/{bucket}/objects/delete",
      tag: TAG,
      summary: "Delete many objects",
      description:
        "Takes keys, a prefix, or both; an empty prefix requires `all`. Failures are listed in `errors`, under status " +
        "200.",
      params,
      body: { kind: "json", schema: deleteRequest, limitBytes: MAX_KEYS_BODY_BYTES },
      responses: {
        200: { description: "Number of deleted objects, and failures", schema: deleted },
        400: { description: "An empty prefix without `all`" },
        404: { description: "No such bucket" },
      },
      audit: {
        action: "object_delete",
        target: ({ params: { bucket }, body: { prefix } }) => ({
          kind: "objects",
          bucket,
          ...(typeof prefix === "string" ? { prefix } : {}),
        }),
        details: ({ body: { keys, all } }) => ({ ...keyDetails(keys ?? []), ...(all ? { all } : {}) }),
        isPartial: true,
      },
      async handler({ caller, params: { bucket }, body: { keys, prefix, all } }, context) {
        if (prefix === "" && !all) {
          throw badRequest("prefix: an empty prefix is the whole bucket; say so with all: true");
        }
        if (all && prefix !== "") throw badRequest('all: means the whole bucket, and goes with prefix: ""');
        const byKey = keys && keys.length > 0 ? await deleteKeys(s3, caller, bucket, keys) : nothing;
        const byPrefix = typeof prefix === "string" ? await deletePrefix(s3, caller, bucket, prefix) : nothing;
        const both = bothDeleted(byKey, byPrefix);
        context.noted = { deleted: both.deleted, not_deleted: both.errors.length };
        return Response.json({ status: "deleted", ...both });
      },
    }),
    operation({
      id: "presign_objects",
      method: "POST",
      path: "/api/v1/buckets/{bucket}/objects/presign",
      tag: TAG,
      summary: "Create presigned URLs for many objects",
      description:
        "Anyone with a URL may use it until it expires. The objects need not exist. Keys with `.` or `..` segments are " +
        "left out, since no URL can carry them. URLs of `objects` require the `headers` beside them.",
      params,
      body: { kind: "json", schema: bulkPresignRequest, limitBytes: MAX_KEYS_BODY_BYTES },
      responses: {
        200: { description: "The presigned URLs", schema: bulkPresigned },
        422: { description: "Invalid field" },
      },
      audit: {
        action: "object_share",
        target: ({ params: { bucket } }) => ({ kind: "objects", bucket }),
        details: ({ body }) => ({
          method: body.method,
          expires_in: validitySeconds(body),
          ...keyDetails([...body.keys ?? [], ...(body.objects ?? []).map(({ key }) => key)]),
        }),
      },
      async handler({ caller, params: { bucket }, body }) {
        const method = presignMethod(body.method);
        const seconds = validitySeconds(body);
        if (body.objects && method !== "put_object") throw unprocessable("objects go with the method put_object");
        const objects: { readonly key: string; readonly headers?: HeaderRecord }[] = [
          ...(body.keys ?? []).map((key) => ({ key })),
          ...(body.objects ?? []).map(({ key, checksum_sha256, content_type }) => ({
            key,
            headers: requiredHeaders({ sha256: checksum_sha256, contentType: content_type }),
          })),
        ];
        const json = new JsonBytes();
        const byKey = new JsonBytes();
        const members = new Set<string>();
        let isFirst = true;
        json.text('{"urls":[');
        byKey.text('],"by_key":{');
        const presign = await presigner(s3, caller, { bucket, method, expiresSeconds: seconds });
        await yielding(objects.length, (index) => {
          const { key, headers } = objects[index];
          if (!fitsUrl(key)) return;
          const url = presign({ key, headers });
          json.text((isFirst ? "" : ",") + JSON.stringify({ key, url, headers }));
          isFirst = false;
          // The map has no headers, without which such a URL is rejected.
          if (headers || members.has(key)) return;
          byKey.text(`${members.size > 0 ? "," : ""}${JSON.stringify(key)}:${JSON.stringify(url)}`);
          members.add(key);
        });
        json.append(byKey);
        json.text(`},"expires_in":${seconds}}`);
        return json.response();
      },
    }),
  ];
}
