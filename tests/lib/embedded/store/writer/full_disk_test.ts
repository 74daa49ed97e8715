import assert from "node:assert/strict";
import { openIndexForWriting, Statements } from "@/lib/embedded/store/index.ts";
import { Objects } from "@/lib/embedded/store/objects.ts";
import type { Change } from "@/lib/embedded/store/writer/changes.ts";
import { Writer } from "@/lib/embedded/store/writer/writer.ts";

const BUCKET = 1;

Deno.test("store writer: where the disk is full a write is refused as NoSpace, reads go on, and nothing is lost", () => {
  const folder = Deno.makeTempDirSync();
  const index = openIndexForWriting(folder);
  try {
    const writer = new Writer(folder, index);
    const objects = new Objects(folder, new Statements(index));
    const made = writer.commit([bucket(), put("kept", "first"), put("also kept", "second")]);
    assert.ok(made.every(({ ok }) => ok));

    // SQLite says the same, word for word, of a file that may not grow and of a disk that is full.
    index.exec("PRAGMA max_page_count = 1");
    const large = "x".repeat(16_384);
    const noSpace = { ok: false, refusal: "NoSpace" };
    assert.deepEqual(writer.commit([put("new", large), put("kept", large)]), [noSpace, noSpace]);
    assert.deepEqual(keys(objects), ["also kept", "kept"]);
    assert.equal(etagOf(objects, "kept"), "first");
    // What makes room is let through, also beside what finds none.
    const [removed, refused] = writer.commit([remove("also kept"), put("new", large)]);
    assert.deepEqual([removed.ok, refused], [true, noSpace]);
    assert.deepEqual(keys(objects), ["kept"]);

    index.exec("PRAGMA max_page_count = 1000000");
    assert.ok(writer.commit([put("new", large)])[0].ok);
    assert.deepEqual(keys(objects), ["kept", "new"]);
    assert.deepEqual(new Statements(index).rows("PRAGMA integrity_check"), [["ok"]]);
  } finally {
    index.close();
    Deno.removeSync(folder, { recursive: true });
  }
});

function bucket(): Change {
  return {
    kind: "createBucket",
    given: {
      tenant: 0,
      name: "b",
      guid: "g",
      owner: null,
      ownerPermissions: 0,
      versioning: "off",
      record: "{}",
      atMs: 1,
    },
  };
}

function put(key: string, text: string): Change {
  const data = new TextEncoder().encode(text);
  return {
    kind: "putObject",
    given: {
      bucket: BUCKET,
      key: new TextEncoder().encode(key),
      body: { data },
      size: data.length,
      etag: text,
      contentType: "text/plain",
      headers: null,
      checksums: null,
      tags: null,
      acl: null,
      owner: null,
      condition: null,
      atMs: 1,
    },
  };
}

function remove(key: string): Change {
  return {
    kind: "deleteObject",
    given: { bucket: BUCKET, key: new TextEncoder().encode(key), version: null, atMs: 2 },
  };
}

function keys(objects: Objects): string[] {
  const none = new Uint8Array();
  return objects.list(BUCKET, none, none, none, 10).objects.map(({ key }) => new TextDecoder().decode(key));
}

function etagOf(objects: Objects, key: string): string | null {
  const found = objects.find(BUCKET, "off", new TextEncoder().encode(key), null);
  return found && !("marker" in found) ? found.etag : null;
}
