import { badGateway } from "@/lib/http/errors.ts";
import { readCapped } from "@/lib/http/read_capped.ts";
import { MalformedXml } from "./xml.ts";

/** A thousand entries with the longest keys, every byte of them escaped, stay below this. */
const MAX_LISTING_BYTES = 16 * 1024 * 1024;
const STALL_MS = 60_000;

/** Reads and parses an XML answer. @throws HttpError 502 when it breaks off, is too long or is not what was asked for */
export async function readXml<T>(response: Response, parse: (xml: string) => T, resource: string): Promise<T> {
  let text: string;
  try {
    text = await readCapped(response, MAX_LISTING_BYTES, STALL_MS);
  } catch (error) {
    throw badGateway(`${resource}: the store's answer broke off`, error);
  }
  try {
    return parse(text);
  } catch (error) {
    if (error instanceof MalformedXml) throw badGateway(`${resource}: the store's answer is not S3's`, error);
    throw error;
  }
}
