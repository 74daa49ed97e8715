import { findObject, versionHeader, versionParameter } from "./object_version.ts";
import { bucketByDataAccess } from "./permitted.ts";
import { childText, type XmlElement } from "./read_xml.ts";
import { S3Error } from "./s3_error.ts";
import type { S3Call, S3Operation } from "./s3_operation.ts";
import { parseTags, serializeTags, type Tag } from "./tags.ts";
import { element, xmlResponse } from "./xml.ts";
import { xmlBody } from "./xml_body.ts";

const tagging = { level: "object", marker: ["tagging"], parameters: ["versionId"] } as const;

/** GetObjectTagging */
export const getObjectTagging: S3Operation = { name: "GetObjectTagging", method: "GET", ...tagging, handle: read };

/** PutObjectTagging: the given tags replace all others. */
export const putObjectTagging: S3Operation = {
  name: "PutObjectTagging",
  method: "PUT",
  ...tagging,
  handle: async (call) => {
    bucketByDataAccess(call, call.bucket, "WRITE");
    const document = await xmlBody(call.request, call.caller, "Tagging");
    return await change(call, serializeTags(tagsOf(document)), 200);
  },
};

/** DeleteObjectTagging */
export const deleteObjectTagging: S3Operation = {
  name: "DeleteObjectTagging",
  method: "DELETE",
  ...tagging,
  handle: (call) => change(call, null, 204),
};

function read(call: S3Call): Response {
  const { store, request, bucket: name, key } = call;
  const bucket = bucketByDataAccess(call, name, "READ");
  const object = findObject(store, bucket, key, versionParameter(request));
  const tags = parseTags(object.tags).map(([name, value]) =>
    `<Tag>${element("Key", name)}${element("Value", value)}</Tag>`
  );
  return xmlResponse("Tagging", `<TagSet>${tags.join("")}</TagSet>`, versionHeader(object.version));
}

async function change(call: S3Call, tags: string | null, status: number): Promise<Response> {
  const { store, request, bucket: name, key } = call;
  const bucket = bucketByDataAccess(call, name, "WRITE");
  const { version } = await store.writer.change("setTags", {
    bucket: bucket.id,
    key: new TextEncoder().encode(key),
    version: versionParameter(request),
    tags,
  });
  return new Response(null, { status, headers: bucket.versioning === "off" ? {} : versionHeader(version) });
}

function tagsOf(document: XmlElement): Tag[] {
  const [set, ...more] = document.children;
  if (set?.name !== "TagSet" || more.length > 0) throw new S3Error("MalformedXML", "Tagging must hold one TagSet");
  return set.children.map((tag) => {
    const key = childText(tag, "Key");
    const value = childText(tag, "Value");
    if (tag.name !== "Tag" || key === null || value === null) {
      throw new S3Error("MalformedXML", "A TagSet must hold Tag elements with Key and Value");
    }
    return [key, value];
  });
}
