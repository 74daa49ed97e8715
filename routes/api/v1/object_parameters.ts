import { z } from "zod";
import { badRequest } from "@/lib/http/errors.ts";
import { issuedForm, type IssuedForms } from "@/lib/s3/listing.ts";
import { bucketName } from "@/lib/s3/objects.ts";

/** Which bucket, in the path. */
export const bucketParams = z.object({ bucket: bucketName });

/** Where an object is, in the path. */
export const objectParams = bucketParams.extend({
  key: z.string().min(1).meta({ description: "May contain slashes", examples: ["2026/first page.txt"] }),
});

/** Which version of an object, in the query. */
export const versionId = (forms: IssuedForms | null) =>
  z.string().min(1).meta(issuedForm(forms, "versionId")).optional().meta({
    description: "Version id; default: the current version",
  });

/** Largest body that lists keys, bytes. */
export const MAX_KEYS_BODY_BYTES = 8 * 1024 * 1024;

/** Describes the conditions of an operation. */
export const CONDITIONS = "If-Match, If-None-Match and If-Unmodified-Since apply to the object that is changed.";

/** The responses of operations with conditions. */
export const conditional = {
  412: { description: "A condition does not hold; nothing changed" },
  501: { description: "The store does not support this condition here" },
};

/** The way to keys that end in a reserved word. */
export const asObject = z.literal("object").optional().meta({
  description: "Treats the rest of the path as a key, even if it ends in a reserved word",
});

/** The Content-Length of a request, bytes; null where it has none. @throws HttpError 400 for what is no length */
export function statedLength(headers: Headers): number | null {
  const text = headers.get("content-length");
  if (text === null) return null;
  const length = /^\d{1,16}$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(length)) throw badRequest("content-length: not a length in bytes");
  return length;
}
