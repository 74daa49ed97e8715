import type { ObjectFacts } from "@/lib/presentation/storage/object_facts.ts";
import { type ObjectPreview, PREVIEW_BYTES, textPreview } from "@/lib/presentation/storage/preview/object_preview.ts";
import { decidingType, previewKind } from "@/lib/presentation/storage/preview/preview_kind.ts";
import { IMAGE_HEAD_BYTES, imageSize } from "@/lib/presentation/storage/preview/image_size.ts";
import { tiffSize } from "@/lib/presentation/storage/preview/tiff_size.ts";
import { type ObjectTag, readTags } from "@/lib/presentation/storage/object_tags.ts";
import { readVersionPage, type VersionPage } from "@/lib/presentation/storage/versions.ts";
import type { ObjectAddress } from "@/lib/presentation/storage/storage_paths.ts";
import type { RawTarget } from "@/lib/http/raw_path.ts";
import { readObjectPart } from "@/lib/storage/object_start.ts";
import type { StorageGateway } from "@/lib/storage/storage_gateway.ts";
import { LoginEnded, type StorageVisit } from "./storage_page.tsx";

/** Versions that a page lists. */
const PAGE_VERSIONS = 200;

/** What is shown of an object's content: of texts the beginning, of images the size. */
export async function loadPreview(
  gateway: StorageGateway,
  { login, context }: StorageVisit,
  target: RawTarget,
  name: string,
  { bytes, type, encoding }: ObjectFacts,
): Promise<ObjectPreview> {
  const read = (from: number, length: number) => readObjectPart(gateway, target, login, { from, length }, context);
  const readAny = async (from: number, length: number) => await read(from, length) ?? new Uint8Array();
  const kind = previewKind(name, type);
  if (kind === null) return { kind: "none", reason: "unknown" };
  if (bytes === 0) return { kind: "none", reason: "empty" };
  switch (kind) {
    case "image":
      return { kind, size: imageSize(await readAny(0, IMAGE_HEAD_BYTES)) };
    case "tiff":
      return { kind: "hidden image", format: "TIFF", size: await tiffSize(readAny) };
    case "jp2":
      return { kind: "hidden image", format: "JPEG 2000", size: imageSize(await readAny(0, IMAGE_HEAD_BYTES)) };
    case "text":
    case "json":
    case "csv": {
      if (encoding !== null) return { kind: "none", reason: "encoded" };
      const beginning = await read(0, PREVIEW_BYTES);
      if (beginning === null) return { kind: "none", reason: "unreadable" };
      return textPreview(beginning, kind, bytes > beginning.length) ?? { kind: "not text", type: decidingType(type) };
    }
    default:
      return { kind };
  }
}

/** The versions of an object; a status where the store lists none: 403, 404, 501 … */
export async function loadVersions(
  gateway: StorageGateway,
  { login, context }: StorageVisit,
  { bucket, key }: ObjectAddress,
): Promise<VersionPage | number> {
  const path = `/buckets/${encodeURIComponent(bucket)}/versions/${encodeURIComponent(key)}?max_keys=${PAGE_VERSIONS}`;
  const { status, json } = await gateway.read(path, login, context);
  if (status === 401) throw new LoginEnded();
  const page = status === 200 ? readVersionPage(json) : null;
  return page ?? status;
}

/** The tags of an object or a version of it; null where the login may not read them, or the store has none. */
export async function loadTags(
  gateway: StorageGateway,
  { login, context }: StorageVisit,
  { bucket, key, version }: ObjectAddress,
): Promise<ObjectTag[] | null> {
  const query = version === undefined ? "" : `?version_id=${encodeURIComponent(version)}`;
  const path = `/buckets/${encodeURIComponent(bucket)}/tags/${encodeURIComponent(key)}${query}`;
  const { status, json } = await gateway.read(path, login, context);
  return status === 200 ? readTags(json) : null;
}
