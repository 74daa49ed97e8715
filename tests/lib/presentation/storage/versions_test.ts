import assert from "node:assert/strict";

import { hasHistory, readVersionPage } from "@/lib/presentation/storage/versions.ts";

const version = { id: "7", isLatest: true, isMarker: false, changed: "2026-11-22T11:02:00Z", bytes: 5 };

Deno.test("versions: the gateway's list, with what is missing left open", () => {
  assert.deepEqual(
    readVersionPage({
      versions: [
        { VersionId: "7", IsLatest: true, IsDeleteMarker: false, LastModified: "2026-11-22T11:02:00Z", Size: 5 },
        { IsDeleteMarker: true },
      ],
      is_truncated: true,
    }),
    { versions: [version, { id: null, isLatest: false, isMarker: true, changed: null, bytes: 0 }], isCut: true },
  );
  assert.equal(readVersionPage({ detail: "no" }), null);
});

Deno.test("versions: a single one without an id is no history", () => {
  const page = (...versions: (typeof version | (Omit<typeof version, "id"> & { id: null }))[]) => ({
    versions,
    isCut: false,
  });
  assert.equal(hasHistory(page({ ...version, id: "null" })), false);
  assert.equal(hasHistory(page({ ...version, id: null })), false);
  assert.equal(hasHistory(page(version)), true);
  assert.equal(hasHistory(page({ ...version, isMarker: true })), true);
});
