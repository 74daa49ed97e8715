import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { LAYOUTS, openIndexForWriting } from "@/embedded/store/index.ts";
import { Writer } from "@/embedded/store/writer/writer.ts";
import { createBucket } from "./changes_fixture.ts";

Deno.test("index: a folder of the seventh layout keeps its audit trail as it was", () => {
  const folder = Deno.makeTempDirSync();
  const old = new DatabaseSync(`${folder}/index.db`);
  old.exec(LAYOUTS.slice(0, 6).join(""));
  old.exec(`CREATE TABLE audit (id INTEGER PRIMARY KEY, action TEXT NOT NULL);
    INSERT INTO audit VALUES (1, 'object_write');
    INSERT INTO identity VALUES ('i', 1);
    PRAGMA user_version = 7`);
  old.close();
  const index = openIndexForWriting(folder);
  assert.ok(new Writer(folder, index).commit([createBucket()])[0].ok);
  assert.deepEqual(index.prepare("SELECT id, action FROM audit").all().map((row) => ({ ...row })), [
    { id: 1, action: "object_write" },
  ]);
  index.close();
  Deno.removeSync(folder, { recursive: true });
});
