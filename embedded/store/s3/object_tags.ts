import { StoreError } from "@/embedded/store/store_error.ts";
import { utf8Text } from "@/lib/std/header_encoding.ts";
import { percentDecoded } from "@/lib/std/text.ts";
import type { S3Call } from "./caller.ts";
import { bucketByDataAccess } from "./permitted.ts";
import { findObject, versionHeader, versionParameter } from "./read_object.ts";
import { xmlBody } from "./received_body.ts";
import { keyBytes } from "./s3_request.ts";
import { childText, element, type XmlElement, xmlResponse } from "./xml.ts";

/** A tag of an object. */
type Tag = readonly [key: string, value: string];

/** Most tags of one object, and their longest keys and values in characters (S3 API, object tagging). */
const MAX_TAGS = 10;
const MAX_KEY_CHARACTERS = 128;
const MAX_VALUE_CHARACTERS = 256;

/** Characters that S3 allows in tags: letters, digits and spaces of any script, and a few signs. */
const ALLOWED = /^[\p{L}\p{Z}\p{N}_.:/=+\-@]*$/u;

/**
 * Tags as the index stores them, null where there are none.
 *
 * @throws {StoreError} InvalidTag for what S3 forbids
 */
function serializeTags(tags: readonly Tag[]): string | null {
  if (tags.length > MAX_TAGS) throw new StoreError("InvalidTag", `An object may have ${MAX_TAGS} tags at most`);
  if (new Set(tags.map(([key]) => key)).size < tags.length) {
    throw new StoreError("InvalidTag", "The keys of the tags must differ");
  }
  for (const [key, value] of tags) {
    if (key === "" || [...key].length > MAX_KEY_CHARACTERS || !ALLOWED.test(key) || /^aws:/i.test(key)) {
      throw new StoreError("InvalidTag", "The key of a tag is not valid");
    }
    if ([...value].length > MAX_VALUE_CHARACTERS || !ALLOWED.test(value)) {
      throw new StoreError("InvalidTag", "The value of a tag is not valid");
    }
  }
  return tags.length === 0 ? null : JSON.stringify(tags);
}

/**
 * Tags of the header x-amz-tagging, which has the form of a query, as the index stores them; empty pairs are ignored.
 *
 * @throws {StoreError} InvalidArgument or InvalidTag
 */
function statedTags(header: string | null): string | null {
  if (header === null || header === "") return null;
  return serializeTags(
    utf8Text(header).split("&").filter((part) => part !== "").map((part) => {
      const equals = part.indexOf("=");
      return equals < 0 ? [decoded(part), ""] : [decoded(part.slice(0, equals)), decoded(part.slice(equals + 1))];
    }),
  );
}

function decoded(text: string): string {
  const plain = percentDecoded(text.replaceAll("+", " "));
  if (plain === null) throw new StoreError("InvalidArgument", "The header x-amz-tagging is not valid");
  return plain;
}

/**
 * The tags of a write, from x-amz-tagging, as the index stores them; null where it has none. As in S3, an access list
 * that allows writing does not allow setting tags.
 *
 * @throws {StoreError} AccessDenied, InvalidArgument or InvalidTag
 */
export function requestedTags(call: S3Call): string | null {
  const tags = statedTags(call.request.headers.get("x-amz-tagging"));
  if (tags !== null) bucketByDataAccess(call, call.bucket, "WRITE");
  return tags;
}

/** PutObjectTagging: the tags of the body replace all others. */
export async function putObjectTagging(call: S3Call): Promise<Response> {
  bucketByDataAccess(call, call.bucket, "WRITE");
  const document = await xmlBody(call.request, call.caller, "Tagging");
  return await change(call, serializeTags(tagsOf(document)), 200);
}

/** DeleteObjectTagging */
export function deleteObjectTagging(call: S3Call): Promise<Response> {
  return change(call, null, 204);
}

/** GetObjectTagging */
export function getObjectTagging(call: S3Call): Response {
  const { store, request, bucket: name, key } = call;
  const bucket = bucketByDataAccess(call, name, "READ");
  const object = findObject(store, bucket, key, versionParameter(request));
  const stored: Tag[] = JSON.parse(object.tags ?? "[]");
  const tags = stored.map(([name, value]) => `<Tag>${element("Key", name)}${element("Value", value)}</Tag>`);
  return xmlResponse("Tagging", `<TagSet>${tags.join("")}</TagSet>`, versionHeader(object.version));
}

async function change(call: S3Call, tags: string | null, status: number): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const bucket = bucketByDataAccess(call, name, "WRITE");
  const { version } = await store.writer.change("setTags", {
    bucket: bucket.id,
    key: keyBytes(key),
    version: versionParameter(request),
    tags,
  });
  return new Response(null, { status, headers: bucket.versioning === "off" ? {} : versionHeader(version) });
}

function tagsOf(document: XmlElement): Tag[] {
  const [set, ...more] = document.children;
  if (set?.name !== "TagSet" || more.length > 0) throw new StoreError("MalformedXML", "Tagging must hold one TagSet");
  return set.children.map((tag) => {
    const key = childText(tag, "Key");
    const value = childText(tag, "Value");
    if (tag.name !== "Tag" || key === null || value === null) {
      throw new StoreError("MalformedXML", "A TagSet must hold Tag elements with Key and Value");
    }
    return [key, value];
  });
}
