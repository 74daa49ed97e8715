import assert from "node:assert/strict";

import { textPreview } from "@/lib/pages/storage/preview/object_preview.ts";
import { decidingType, previewKind } from "@/lib/pages/storage/file_kinds.ts";

Deno.test("preview kind: the media type decides, and the name where that says nothing", () => {
  const kinds: [name: string, type: string, kind: string | null][] = [
    ["a.png", "application/octet-stream", "image"],
    ["a.TIF", "", "tiff"],
    ["a.jp2", "", "jp2"],
    ["a", "image/jpx", "jp2"],
    ["a.txt", "text/html; charset=utf-8", "text"],
    ["page.html", "text/plain", "text"],
    ["table.csv", "text/plain", "csv"],
    ["a.bin", "application/ld+json", "json"],
    ["a.svg", "image/svg+xml", "image"],
    ["a.xml", "application/alto+xml", "text"],
    ["a.png", "application/zip", null],
    ["a", "", null],
    ["constructor", "binary/octet-stream", null],
    ["a.pdf", "application/pdf", "pdf"],
    ["a.mp3", "audio/mpeg", "audio"],
    ["a", "video/mp4", "video"],
    ["a.heic", "image/heic", null],
  ];
  for (const [name, type, kind] of kinds) assert.equal(previewKind(name, type), kind, `${name} ${type}`);
});

Deno.test("preview kind: what decided is the type, unless that says nothing", () => {
  assert.equal(decidingType("Text/Plain; charset=utf-8"), "text/plain");
  assert.equal(decidingType("application/octet-stream"), null);
  assert.equal(decidingType(""), null);
});

Deno.test("preview: text, JSON and tables by their content, with the viewers that show more of them", () => {
  const bytes = (text: string) => new TextEncoder().encode(text);
  const viewer = (text: string, kind: "text" | "json") => {
    const preview = textPreview(bytes(text), kind, false);
    return preview?.kind === "text" ? preview.viewer : undefined;
  };
  assert.equal(
    viewer('<?xml version="1.0"?>\n<a:alto xmlns:a="http://www.loc.gov/standards/alto/ns-v4#">', "text"),
    "alto",
  );
  assert.equal(viewer("<p>alto</p>", "text"), null);
  const manifest = '{"@context":"http://iiif.io/api/presentation/3/context.json","type":"Manifest"}';
  assert.equal(viewer(manifest, "json"), "manifest");
  assert.equal(viewer(manifest.replace("Manifest", "Collection"), "json"), null);
  assert.equal(textPreview(bytes("a,b\n1,2"), "csv", false)?.kind, "table");
  assert.equal(textPreview(bytes("no table"), "csv", false)?.kind, "text");
  assert.equal(textPreview(bytes("not json"), "json", false)?.kind, "text");
  assert.deepEqual(textPreview(new Uint8Array([0, 1, 2]), "text", false), null);
});
