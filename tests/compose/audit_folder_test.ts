import assert from "node:assert/strict";
import { backUp } from "@/compose/backup.ts";
import { verifyDataFolder } from "@/compose/verify.ts";
import { ChainFolder } from "@/lib/audit/chain_folder.ts";
import { startStore } from "@/tests/embedded/store/store_fixture.ts";
import { NOON, writeTrail } from "@/tests/lib/audit/audit_fixture.ts";

Deno.test("audit folder: a backup has the trail, and verify finds what was changed in it", async () => {
  const parent = Deno.makeTempDirSync();
  const [data, copy] = [`${parent}/data`, `${parent}/copy`];
  Deno.mkdirSync(data);
  await (await startStore(data)).stop();
  const options = { retentionDays: null, now: () => NOON, warn: assert.fail };
  await writeTrail(ChainFolder.open(`${data}/audit`, options), [NOON, NOON, NOON]);
  assert.equal((await backUp(data, copy)).isWhole, true);
  const file = `${copy}/audit/2026-11-20.jsonl`;
  const text = Deno.readTextFileSync(file);
  assert.equal(text, Deno.readTextFileSync(`${data}/audit/2026-11-20.jsonl`));
  const found: string[] = [];
  assert.equal(verifyDataFolder(copy, (line) => void found.push(line)), true, found.join("\n"));
  Deno.writeTextFileSync(file, text.replace('"k2"', '"k9"'));
  found.length = 0;
  assert.equal(verifyDataFolder(copy, (line) => void found.push(line)), false);
  assert.match(found[0], /^audit: the audit trail of the application: 2026-11-20\.jsonl: line 3 was changed/);
  Deno.removeSync(parent, { recursive: true });
});
