import { isObject } from "@/lib/std/untrusted.ts";
import { imageServiceOf } from "./image_service.ts";
import { addressOf, extentOf, type Json, listOf, type Reading, wordOf } from "./json.ts";
import { LIMITS } from "./limits.ts";
import type { ImageSource } from "./manifest.ts";

/** Reads images that stand for something: thumbnails and logos. Each is an address or an object. */
export function imageSourcesOf(value: unknown, reading: Reading): readonly ImageSource[] {
  return listOf(value, LIMITS.images).flatMap((entry) =>
    imageSourceOf(isObject(entry) ? entry : { id: entry }, reading) ?? []
  );
}

/** Reads an image resource; null where neither the file nor a service has an address. */
export function imageSourceOf(node: Json, reading: Reading): ImageSource | null {
  const service = imageServiceOf(node.service, reading);
  const href = addressOf(node, reading);
  if (service === null && href === null) return null;
  return { href, format: wordOf(node.format), width: extentOf(node.width), height: extentOf(node.height), service };
}
