import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { checkChain } from "@/embedded/store/audit_record.ts";
import { LAYOUTS, openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { Writer } from "@/embedded/store/writer/writer.ts";
import { createBucket } from "./changes_fixture.ts";

Deno.test("index: a folder of the sixth layout begins its audit trail with its first change", () => {
  const folder = Deno.makeTempDirSync();
  const old = new DatabaseSync(`${folder}/index.db`);
  old.exec(LAYOUTS.slice(0, 6).join(""));
  old.exec("INSERT INTO identity VALUES ('i', 1); PRAGMA user_version = 6");
  old.close();
  const index = openIndexForWriting(folder);
  const statements = new Statements(index);
  assert.deepEqual(checkChain(statements), { records: 0, fault: null });
  assert.ok(new Writer(folder, index).commit([createBucket()])[0].ok);
  assert.deepEqual(checkChain(statements), { records: 1, fault: null });
  index.close();
  Deno.removeSync(folder, { recursive: true });
});
