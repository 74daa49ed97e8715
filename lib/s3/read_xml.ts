import { badGateway } from "@/lib/http/errors.ts";
import { readCapped } from "@/lib/http/read_capped.ts";
import { s3Failure } from "./errors.ts";
import { MalformedXml } from "./xml.ts";

/** A thousand entries with the longest keys, every byte of them escaped, stay below this. */
const MAX_LISTING_BYTES = 16 * 1024 * 1024;
const ERROR_ROOT = /^\s*(?:<\?[^>]*\?>\s*)?<Error[\s>]/;

/**
 * Reads and parses an XML response. Responses to copies and completions begin before their result is known, so a response
 * with status 200 may hold an error, which is thrown.
 *
 * @param totalMs time limit, for responses that begin before the store's work is done
 * @throws HttpError 502 when the response ends early, is too long or is not valid; by its code when it is an error
 */
export async function readXml<T>(
  response: Response,
  parse: (xml: string) => T,
  resource: string,
  totalMs?: number,
): Promise<T> {
  let text: string;
  try {
    text = await readCapped(response, MAX_LISTING_BYTES, totalMs);
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
