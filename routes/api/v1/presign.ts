import { z } from "zod";
import { unprocessable } from "@/lib/http/errors.ts";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import {
  DEFAULT_PRESIGN_SECONDS,
  MAX_PRESIGN_SECONDS,
  PRESIGN_METHODS,
  presignMethod,
  presignObject,
  requiredHeaders,
} from "@/lib/s3/presign.ts";
import { bucketName } from "@/lib/s3/name_schemas.ts";
import type { GatewayOperation } from "./operation.ts";

/** What a presigned URL does; any other word is refused by one sentence, not by a list of problems. */
export const methodField = z.string().default("get_object").meta({
  description: "get_object reads, put_object writes",
  enum: [...PRESIGN_METHODS],
});

const seconds = z.int().min(1).max(MAX_PRESIGN_SECONDS).nullish();

/** How long presigned URLs are to be good, in a request. */
export const validityFields = {
  expires_in: seconds.meta({ description: `Validity in seconds, ${DEFAULT_PRESIGN_SECONDS} when absent` }),
  validity: seconds.meta({ description: "Another name of expires_in, which wins" }),
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

/** What the body of a presigned write has to be. */
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
  description: "The request must have these headers, since the URL signs them; absent where there are none",
  examples: [{ "x-amz-checksum-sha256": "LPJNul+wow4m6DsqxbninhsWHlwfp0JecwQzYpOLmCQ=" }],
});

/** The part of a schema that says that something goes with writes. */
export const ONLY_TO_WRITE = { required: ["method"], properties: { method: { const: "put_object" } } };

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
      tag: "S3 Objects",
      summary: "A URL that reads or writes one object without credentials",
      description:
        "Any client with the URL may use it until it expires. It is not checked whether the object exists. A URL with " +
        "`checksum_sha256` or `content_type` works for requests with the `headers` of the response only: the store " +
        "rejects another body.",
      body: { kind: "json", schema: presignRequest },
      responses: {
        200: { description: "The URL", schema: presigned },
        400: { description: "A key that no URL can carry" },
        422: { description: "A bad field" },
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
        const url = await presignObject(s3, caller, { bucket, key, headers }, method, seconds);
        return Response.json({ url, bucket, key, expires_in: seconds, method, headers });
      },
    }),
  ];
}
