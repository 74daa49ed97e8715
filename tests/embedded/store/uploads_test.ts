import assert from "node:assert/strict";
import fc from "fast-check";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { type UploadMarker, Uploads } from "@/embedded/store/uploads.ts";

const utf8 = (text: string) => new TextEncoder().encode(text);
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("uploads: pages of any size are together what a plain filter returns", () => {
  const folder = Deno.makeTempDirSync();
  const index = openIndexForWriting(folder);
  const uploads = new Uploads(new Statements(index));
  const key = fc.stringMatching(/^[ab/]{1,5}$/);
  const insert = index.prepare(
    "INSERT INTO uploads (id, bucket, key, content_type, started_ms) VALUES (?, 1, ?, '', 0)",
  );
  fc.assert(
    fc.property(
      fc.array(key, { maxLength: 20 }),
      fc.stringMatching(/^[ab/]{0,2}$/),
      fc.constantFrom("", "/", "ab"),
      fc.integer({ min: 1, max: 4 }),
      (keys, prefix, delimiter, limit) => {
        index.exec("DELETE FROM uploads");
        for (const [i, one] of keys.entries()) insert.run(String(i).padStart(3, "0"), utf8(one));
        const expected: string[] = [];
        const ordered = keys.map((one, i) => ({ one, id: String(i).padStart(3, "0") }))
          .sort((a, b) => a.one < b.one ? -1 : a.one > b.one ? 1 : a.id < b.id ? -1 : 1);
        for (const { one, id } of ordered) {
          if (!one.startsWith(prefix)) continue;
          const cut = delimiter === "" ? -1 : one.indexOf(delimiter, prefix.length);
          const entry = cut < 0 ? `${one} ${id}` : `${one.slice(0, cut + delimiter.length)} *`;
          if (expected.at(-1) !== entry) expected.push(entry);
        }
        const seen: string[] = [];
        let after: UploadMarker | null = { key: utf8(""), upload: "" };
        while (after) {
          const page = uploads.list(1, utf8(prefix), utf8(delimiter), after, limit);
          const entries = [
            ...page.uploads.map((upload) => `${text(upload.key)} ${upload.id}`),
            ...page.prefixes.map((common) => `${text(common)} *`),
          ];
          assert.ok(entries.length <= limit);
          seen.push(...entries);
          after = page.next;
        }
        assert.deepEqual(seen.toSorted(), expected.toSorted());
      },
    ),
    { numRuns: 300 },
  );
  index.close();
  Deno.removeSync(folder, { recursive: true });
});
