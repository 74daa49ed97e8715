import { z } from "zod";
import type { Operation } from "@/lib/http/operation.ts";
import type { S3 } from "@/lib/s3/client.ts";
import {
  DEFAULT_PRESIGN_SECONDS,
  MAX_PRESIGN_SECONDS,
  PRESIGN_METHODS,
  presignMethod,
  presignObject,
} from "@/lib/s3/presign.ts";
import { bucketName } from "./object_parameters.ts";
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

/** Clients fold such segments out of URLs; a key that has one is 400. */
const WITHOUT_DOT_SEGMENTS = { pattern: "^(?!(?:[\\s\\S]*/)?\\.{1,2}(?:/|$))" };

const presignRequest = z.object({
  bucket: bucketName,
  key: z.string().min(1).meta({ ...WITHOUT_DOT_SEGMENTS, examples: ["2026/first page.txt"] }),
  method: methodField,
  ...validityFields,
}).meta({ id: "PresignRequest" });

const presigned = z.object({
  url: z.string(),
  bucket: z.string(),
  key: z.string(),
  expires_in: z.int().meta({ description: "seconds" }),
  method: z.enum(["get_object", "put_object"]),
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
      description: "Any client with the URL may use it until it expires. It is not checked whether the object exists.",
      body: { kind: "json", schema: presignRequest },
      responses: {
        200: { description: "The URL", schema: presigned },
        400: { description: "A key that no URL can carry" },
        422: { description: "A bad field" },
      },
      async handler({ caller, body }) {
        const { bucket, key } = body;
        const method = presignMethod(body.method);
        const seconds = validitySeconds(body);
        const url = await presignObject(s3, caller, { bucket, key }, method, seconds);
        return Response.json({ url, bucket, key, expires_in: seconds, method });
      },
    }),
  ];
}
