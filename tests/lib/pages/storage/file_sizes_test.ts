import assert from "node:assert/strict";
import { formatBytes } from "@/lib/pages/storage/file_sizes.ts";
import { fileGroup, fileKind } from "@/lib/pages/storage/file_kinds.ts";

Deno.test("file sizes: decimal units, one decimal from megabytes on", () => {
  const shown = [0, 9, 999, 1000, 41_200, 999_499, 999_500, 7_800_000, 99_960_000, 5 * 1024 ** 3, 2e17]
    .map((bytes) => formatBytes(bytes).replace("\u00a0", " "));
  assert.equal(shown.join(", "), "0 B, 9 B, 999 B, 1 kB, 41 kB, 999 kB, 1.0 MB, 7.8 MB, 100 MB, 5.4 GB, 200 PB");
});

Deno.test("file kinds: the ending of a name, where it says anything", () => {
  const names = ["a.TIF", "a.tar.gz", ".profile", "noname", "a.b/", "x.verylongending", "p.p d"];
  assert.deepEqual(names.map(fileKind), ["TIF", "GZ", "", "", "", "", ""]);
  assert.deepEqual(names.map(fileGroup), ["image", "archive", "other", "other", "other", "other", "other"]);
});
