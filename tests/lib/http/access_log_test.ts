import assert from "node:assert/strict";
import { batchedLog } from "@/lib/http/app.ts";

Deno.test("log: lines are handed on together, at flush or by themselves, and none is lost or doubled", async () => {
  const written: string[] = [];
  const arrived = Promise.withResolvers<void>();
  const log = batchedLog((text) => {
    written.push(text);
    if (text.includes("third")) arrived.resolve();
  }, () => 0);
  log.write({ level: "info", word: "first" });
  log.write({ level: "warn", word: "second\n" });
  assert.deepEqual(written, []);
  log.flush();
  const ts = "1970-01-01T00:00:00.000Z";
  assert.deepEqual(written, [
    `{"ts":"${ts}","level":"info","word":"first"}\n{"ts":"${ts}","level":"warn","word":"second\\n"}\n`,
  ]);
  log.flush();
  assert.equal(written.length, 1);
  log.write({ level: "info", word: "third" });
  await arrived.promise;
  assert.equal(written.length, 2);
  log.write({ level: "info", word: "x".repeat(70_000) });
  assert.equal(written.length, 3, "a full buffer does not wait");
});
