import { z } from "zod";
import { MalformedXml, mustBeUnder, scanXml } from "./xml.ts";
import { count, type Owner, owner, timestamp, urlDecoded } from "./xml_values.ts";

/** A page of an object listing, members of its entries named as in S3. */
export const objectPage = z.object({
  objects: z.array(z.object({
    Key: z.string(),
    Size: z.int().meta({ description: "bytes" }),
    /** ISO 8601 in UTC, a fraction only when it is not zero. */
    LastModified: z.string().nullable(),
    /** With its quotes. */
    ETag: z.string().nullable(),
    StorageClass: z.string().nullable(),
    Owner: owner.nullable(),
  })),
  common_prefixes: z.array(z.string()),
  is_truncated: z.boolean(),
  next_continuation_token: z.string().nullable(),
  key_count: z.int(),
});
export type ObjectPage = z.output<typeof objectPage>;

/**
 * Reads a ListObjectsV2 response in one pass, without a tree. Names with `EncodingType` url are decoded.
 *
 * @throws MalformedXml for any other document
 */
export function parseObjectPage(xml: string): ObjectPage {
  const root = "ListBucketResult";
  const page: ObjectPage = {
    objects: [],
    common_prefixes: [],
    is_truncated: false,
    next_continuation_token: null,
    key_count: 0,
  };
  let counted = false;
  let encoded = false;
  let entry = emptyEntry();
  let keyed = false;
  let ownerOfEntry: Owner | null = null;
  const finish = () => {
    if (!keyed) throw new MalformedXml("an entry without a key");
    entry.Owner = ownerOfEntry;
    page.objects.push(entry);
    entry = emptyEntry();
    keyed = false;
    ownerOfEntry = null;
  };
  scanXml(xml, {
    leaf(path, text) {
      switch (path) {
        case "ListBucketResult/Contents/Key":
          entry.Key = text;
          keyed = true;
          return;
        case "ListBucketResult/Contents/Size":
          entry.Size = count(text);
          return;
        case "ListBucketResult/Contents/LastModified":
          entry.LastModified = timestamp(text);
          return;
        case "ListBucketResult/Contents/ETag":
          entry.ETag = text;
          return;
        case "ListBucketResult/Contents/StorageClass":
          entry.StorageClass = text || null;
          return;
        case "ListBucketResult/Contents/Owner/ID":
          ownerOfEntry = { DisplayName: ownerOfEntry?.DisplayName ?? null, ID: text };
          return;
        case "ListBucketResult/Contents/Owner/DisplayName":
          ownerOfEntry = { DisplayName: text, ID: ownerOfEntry?.ID ?? null };
          return;
        case "ListBucketResult/CommonPrefixes/Prefix":
          page.common_prefixes.push(text);
          return;
        case "ListBucketResult/IsTruncated":
          page.is_truncated = text.trim() === "true";
          return;
        case "ListBucketResult/NextContinuationToken":
          page.next_continuation_token = text || null;
          return;
        case "ListBucketResult/KeyCount":
          page.key_count = count(text);
          counted = true;
          return;
        case "ListBucketResult/EncodingType":
          encoded = text.trim() === "url";
          return;
        case root:
          return;
        default:
          mustBeUnder(path, root);
      }
    },
    close(path) {
      if (path === "ListBucketResult/Contents") finish();
      else mustBeUnder(path, root);
    },
  });
  if (encoded) {
    for (const object of page.objects) object.Key = urlDecoded(object.Key);
    page.common_prefixes = page.common_prefixes.map(urlDecoded);
  }
  if (!counted) page.key_count = page.objects.length + page.common_prefixes.length;
  return page;
}

function emptyEntry(): ObjectPage["objects"][number] {
  return { Key: "", Size: 0, LastModified: null, ETag: null, StorageClass: null, Owner: null };
}
