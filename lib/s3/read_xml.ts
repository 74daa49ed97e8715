import { badGateway } from "@/lib/http/errors.ts";
import { readCapped } from "@/lib/http/read_capped.ts";
import { s3Failure } from "./errors.ts";
import { MalformedXml } from "./xml.ts";

/** A thousand entries with the longest keys, every byte of them escaped, stay below this. */
const MAX_LISTING_BYTES = 16 * 1024 * 1024;
const ERROR_ROOT = /^\s*(?:<\?[^>]*\?>\s*)?<Error[\s>]/;

/**
 * Reads and parses an XML answer. Copies and completions begin their answer before they know how they end, so an error
 * may come under status 200: it is an error all the same.
 *
 * @param totalMs longest way of the answer, for those that begin before their work is done
 * @throws HttpError 502 when it breaks off, is too long or is not what was asked for; by its code when it is an error
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
    throw badGateway(`${resource}: the store's answer broke off`, error);
  }
  if (ERROR_ROOT.test(text)) throw await s3Failure(new Response(text), resource);
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof MalformedXml) throw badGateway(`${resource}: the store's answer is not S3's`, error);
    throw error;
  }
}
