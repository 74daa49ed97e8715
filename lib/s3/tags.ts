import type { Caller } from "@/lib/auth/store_credentials.ts";
import { encodeRfc3986 } from "@/lib/std/text.ts";
import type { S3 } from "./s3_client.ts";
import { S3Failure } from "./s3_errors.ts";
import type { VersionRef } from "./objects.ts";
import { callSdk, callSdkForHeaders } from "./sdk.ts";
import { MalformedXml } from "./s3_xml.ts";

/** A tag of an object. */
export type Tag = readonly [name: string, value: string];

/** Most tags of an object, and their longest names and values, in characters (S3 API, object tagging). */
export const MAX_TAGS = 10;
export const MAX_TAG_NAME = 128;
export const MAX_TAG_VALUE = 256;

/** The spaces of `\\p{Z}`, written out: some readers of the document take that for any white space. */
const SPACES = " \\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
/** Characters that S3 allows in tags: letters, digits and spaces of any script, and a few signs. `aws:` is for AWS itself. */
const CHARACTERS = `[\\p{L}\\p{N}${SPACES}_.:/=+\\-@]`;
export const TAG_NAME = `^(?![Aa][Ww][Ss]:)${CHARACTERS}+$`;
export const TAG_VALUE = `^${CHARACTERS}*$`;
const NAME = new RegExp(TAG_NAME, "u");
const VALUE = new RegExp(TAG_VALUE, "u");

/** Whether S3 allows a text as the name of a tag. */
export function isTagName(text: string): boolean {
  return NAME.test(text) && [...text].length <= MAX_TAG_NAME;
}

/** Whether S3 allows a text as the value of a tag. */
export function isTagValue(text: string): boolean {
  return VALUE.test(text) && [...text].length <= MAX_TAG_VALUE;
}

/** The tags of an object, or of one version of it. @throws HttpError as {@link callSdk} */
export async function getTags(s3: S3, caller: Caller, ref: VersionRef): Promise<Tag[]> {
  try {
    return await callSdk(s3, caller, { operation: "GetObjectTagging", ...ref }, ({ TagSet = [] }) => TagSet.map(tagOf));
  } catch (error) {
    // Some stores have an error for an object without tags.
    if (error instanceof S3Failure && error.code === "NoSuchTagSet") return [];
    throw error;
  }
}

function tagOf({ Key, Value }: { Key?: string; Value?: string }): Tag {
  if (!Key) throw new MalformedXml("a tag without a name");
  return [Key, Value ?? ""];
}

/** Replaces all tags. @returns the store's headers @throws HttpError as {@link callSdk} */
export async function putTags(s3: S3, caller: Caller, ref: VersionRef, tags: readonly Tag[]): Promise<Headers> {
  const Tagging = { TagSet: tags.map(([Key, Value]) => ({ Key, Value })) };
  return await callSdkForHeaders(s3, caller, { operation: "PutObjectTagging", ...ref, input: { Tagging } });
}

/** Removes all tags. @returns the store's headers @throws HttpError as {@link callSdk} */
export async function deleteTags(s3: S3, caller: Caller, ref: VersionRef): Promise<Headers> {
  return await callSdkForHeaders(s3, caller, { operation: "DeleteObjectTagging", ...ref });
}

/** The value of the header `x-amz-tagging`, which sets the tags of a new object. */
export function tagHeader(tags: readonly Tag[]): string {
  return tags.map(([name, value]) => `${encodeRfc3986(name)}=${encodeRfc3986(value)}`).join("&");
}
