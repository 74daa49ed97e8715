import assert from "node:assert/strict";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { SoftQuotas } from "@/embedded/store/quotas.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { archiveMapi, eventually, namespace } from "./mapi_fixture.ts";
import { leaks, startStore } from "./store_fixture.ts";

Deno.test("soft quotas: warn once for each that is reached, and again after it was left in between", () => {
  const folder = Deno.makeTempDirSync();
  using index = openIndexForWriting(folder);
  index.exec(
    `INSERT INTO tenants (name, folded, record, created_ms) VALUES ('Arc', 'arc', '${record("1 GB", 50)}', 1)`,
  );
  const bucket = (name: string, record: string) =>
    index.exec(
      `INSERT INTO buckets (tenant, name, folded, guid, versioning, record, created_ms)
       VALUES (1, '${name}', '${name}', '${name}', 'off', '${record}', 1)`,
    );
  bucket("small", record("1 MB", 85));
  bucket("parts", record("1 MB", 10));
  bucket("endless", record("None", 0));
  const hold = (name: string, stored: number, parts: number) =>
    index.exec(`UPDATE buckets SET stored_bytes = ${stored}, part_bytes = ${parts} WHERE name = '${name}'`);

  const told: string[] = [];
  const quotas = new SoftQuotas(new Statements(index), (message) => told.push(message));
  const check = () => {
    quotas.check();
    return told.splice(0);
  };
  hold("endless", 1e12, 0);
  hold("small", 0.84 * 1024 * 1024, 0);
  hold("parts", 0, 0.0625 * 1024 * 1024);
  assert.deepEqual(check(), []);
  hold("small", 0.875 * 1024 * 1024, 0);
  assert.deepEqual(check(), ["namespace small of tenant Arc holds 87.5 % of its hardQuota of 1 MB (softQuota 85 %)"]);
  hold("parts", 0.0625 * 1024 * 1024, 0.0625 * 1024 * 1024);
  index.exec(`UPDATE tenants SET used_bytes = ${1024 ** 3}`);
  assert.deepEqual(check(), [
    "tenant Arc holds 100.0 % of its hardQuota of 1 GB (softQuota 50 %)",
    "namespace parts of tenant Arc holds 12.5 % of its hardQuota of 1 MB (softQuota 10 %)",
  ]);
  assert.deepEqual(check(), []);
  hold("small", 0, 0);
  assert.deepEqual(check(), []);
  hold("small", 1024 * 1024, 0);
  assert.equal(check().length, 1);
  index.close();
  Deno.removeSync(folder, { recursive: true });
});

Deno.test("soft quotas: a store warns of a namespace that a change of its quota brought there", leaks, async () => {
  const lines: string[] = [];
  const write = console.error;
  console.error = (line: string) => lines.push(line);
  try {
    await using store = await startStore();
    await namespace(store, "tight", { hardQuota: "1 GB", softQuota: 95 });
    {
      using index = openIndexForWriting(store.folder);
      index.exec(`UPDATE buckets SET stored_bytes = ${0.5 * 1024 ** 3} WHERE name = 'tight'`);
    }
    const warning =
      "embedded store: namespace tight of tenant archive holds 50.0 % of its hardQuota of 1 GB (softQuota 40 %)";
    assert.equal((await archiveMapi(store, "POST", "/namespaces/tight", { softQuota: 40 })).status, 200);
    await eventually(true, async () => {
      await archiveMapi(store, "GET", "/namespaces/tight");
      return lines.includes(warning);
    });
  } finally {
    console.error = write;
  }
});

function record(hardQuota: string, softQuota: number): string {
  return JSON.stringify({ hardQuota, softQuota });
}
