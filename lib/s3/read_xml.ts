import type { Caller } from "@/lib/auth/store_credentials.ts";
import { badGateway } from "@/lib/http/errors.ts";
import { readCapped } from "@/lib/http/read_capped.ts";
import { callS3, resourceOf, type S3, type S3Call } from "./client.ts";
import { s3Failure } from "./errors.ts";
import { MalformedXml } from "./xml.ts";

/** A thousand entries with the longest keys, every byte of them escaped, stay below this. */
const MAX_LISTING_BYTES = 16 * 1024 * 1024;
const ERROR_ROOT = /^\s*(?:<\?[^>]*\?>\s*)?<Error[\s>]/;

/**
 * Sends a request whose response is XML, and parses that. Responses to copies and completions begin before their result is
 * known, so a response with status 200 may hold an error, which is thrown. Where the store may work for long
 * (`workMs`), it may take as long again for the body.
 *
 * @throws HttpError as {@link callS3}; 502 when the response ends early, is too long or is not valid
 */
export async function callS3ForXml<T>(s3: S3, caller: Caller, call: S3Call, parse: (xml: string) => T): Promise<T> {
  return await parsedXml(await callS3(s3, caller, call), call, parse);
}

/** The body of a response as {@link callS3ForXml} reads it, for callers that need its headers too. */
export async function parsedXml<T>(
  response: Response,
  call: Pick<S3Call, "bucket" | "key" | "workMs" | "resource">,
  parse: (xml: string) => T,
  maxBytes = MAX_LISTING_BYTES,
): Promise<T> {
  const resource = resourceOf(call);
  let text: string;
  try {
    text = await readCapped(response, maxBytes, call.workMs);
  } catch (error) {
    throw badGateway(`${resource}: the store's response ended early`, error);
  }
  if (ERROR_ROOT.test(text)) throw await s3Failure(new Response(text), resource);
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof MalformedXml) throw badGateway(`${resource}: the store's response is not valid`, error);
    throw error;
  }
}
