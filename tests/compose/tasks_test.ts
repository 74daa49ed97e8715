import assert from "node:assert/strict";
import { taskRunner } from "@/compose/tasks.ts";
import { readConfig } from "@/lib/config/mod.ts";
import { DataFolder } from "@/lib/process/data_folder.ts";

Deno.test("tasks: a damaged file of tasks is replaced by an empty one", async () => {
  const path = await Deno.makeTempDir();
  const folder = DataFolder.open(path);
  try {
    await Deno.writeTextFile(`${path}/tasks.db`, "not a database ".repeat(1000));
    const { gateway } = readConfig({});
    assert.ok(gateway);
    const runner = taskRunner(gateway, { secret: new Uint8Array(32), folder, log: { write() {}, flush() {} } });
    assert.equal(await runner.store.get("d0d0d0d0-0000-4000-8000-000000000000"), null);
    await runner.store.close();
  } finally {
    folder.close();
    await Deno.remove(path, { recursive: true });
  }
});
