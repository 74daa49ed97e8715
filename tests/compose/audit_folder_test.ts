import assert from "node:assert/strict";
import { openAudit } from "@/compose/audit.ts";
import { backUp } from "@/compose/backup.ts";
import { verifyAuditFolder, verifyDataFolder } from "@/compose/verify.ts";
import { readConfig } from "@/lib/config/mod.ts";
import { ChainFolder } from "@/lib/operations/audit/chain_folder.ts";
import { STORAGE_ONLY } from "@/tests/application.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { NO_LOG } from "@/tests/lib/http/no_log.ts";
import { event, NOON, writeTrail } from "@/tests/lib/operations/audit/audit_fixture.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

testInFolder(
  "audit folder: a backup has a trail outside of the data folder, and verify reads it there and in the copy",
  async (parent) => {
    const [data, audit, copy] = [`${parent}/data`, `${parent}/audit`, `${parent}/copy`];
    Deno.mkdirSync(data);
    await (await startStore(data)).stop();
    await assert.rejects(backUp(data, copy, null, audit), /^DataFolderError: AUDIT_DIR: .* holds no audit trail/);
    const options = { retentionDays: null, now: () => NOON, warn: assert.fail };
    await writeTrail(await ChainFolder.open(audit, options), [NOON, NOON, NOON]);
    await assert.rejects(backUp(data, `${audit}/copy`, null, audit), /it must be outside of .*\/audit\./);
    assert.equal((await backUp(data, copy, null, audit)).isWhole, true);
    assert.equal(verifyDataFolder(copy, () => {}), true);
    // A restored one is as good a source, with or without a trail outside of it.
    assert.equal((await backUp(copy, `${parent}/again`, null, audit)).isWhole, true);
    assert.equal((await backUp(copy, `${parent}/alone`)).isWhole, true);
    assert.match((await backUp(null, `${parent}/trail`, null, audit)).lines.join(), /^Backed up the audit trail/);
    const name = "2026-11-20.jsonl";
    const text = Deno.readTextFileSync(`${audit}/${name}`);
    for (const folder of [copy, `${parent}/again`, `${parent}/alone`, `${parent}/trail`]) {
      assert.equal(Deno.readTextFileSync(`${folder}/audit_dir/${name}`), text, folder);
    }
    const found: string[] = [];
    assert.equal(verifyAuditFolder(audit, (line) => void found.push(line)), true);
    assert.deepEqual(found.splice(0), [`${audit}: all is well (3 records).`]);
    for (const folder of [audit, `${copy}/audit_dir`]) {
      Deno.writeTextFileSync(`${folder}/${name}`, text.replace('"k2"', '"k9"'));
    }
    assert.equal(verifyAuditFolder(audit, (line) => void found.push(line)), false);
    assert.match(found[0], /\/audit: the audit trail of the application: 2026-11-20\.jsonl: line 3 was changed/);
    assert.match(found.splice(0)[1], /: 1 finding \(1 record\)\.$/);
    assert.equal(verifyDataFolder(copy, (line) => void found.push(line)), false);
    assert.match(found[0], /^audit_dir: the audit trail of the application: /);
  },
);

testInFolder(
  "audit folder: verify finds a trail that was cut at its end, removed or exchanged, by the end noted outside",
  async (parent) => {
    const config = readConfig(STORAGE_ONLY);
    for (const hasStore of [true, false]) {
      const data = `${parent}/${hasStore}`;
      Deno.mkdirSync(data);
      if (!hasStore) Deno.writeTextFileSync(`${data}/kubeconfig`, "{}");
      let store: Awaited<ReturnType<typeof startStore>> | null = null;
      /** A start of the application that makes so many records. */
      const run = async (records: number, warn: (line: string) => void = assert.fail) => {
        store = hasStore ? await startStore(data) : null;
        const started = store && {
          auditEnd: {
            read: () => Promise.resolve(store!.server.auditEnd),
            write: (end: Record<string, unknown>) => store!.server.noteAuditEnd(end),
          },
          reportTo() {},
        };
        const audit = await openAudit(config, { path: data }, started && Promise.resolve(started), warn, NO_LOG);
        for (let n = 0; n < records; n++) await audit?.recorder.record(event());
        await audit?.close(60_000);
        await store?.stop();
      };
      const verified = () => {
        const found: string[] = [];
        const isWell = verifyDataFolder(data, (line) => void found.push(line));
        assert.equal(isWell, found.length === 1);
        return found.slice(0, -1).join("\n");
      };
      await run(150);
      assert.equal(verified(), "");
      assert.equal((await backUp(data, `${data}-copy`)).isWhole, true);
      assert.equal(verifyDataFolder(`${data}-copy`, () => {}), true);
      const [file] = [...Deno.readDirSync(`${data}/audit`)].filter(({ name }) => name.endsWith(".jsonl"));
      const path = `${data}/audit/${file.name}`;
      const whole = Deno.readTextFileSync(path);

      Deno.removeSync(`${data}/audit/end.json`);
      Deno.writeTextFileSync(path, whole.split("\n").slice(0, 51).join("\n") + "\n");
      assert.match(verified(), /^audit: .*: records after 50 are missing: there were 150$/);
      // The gap stays, whatever is recorded behind it.
      const warnings: string[] = [];
      await run(3, (line) => void warnings.push(line));
      assert.match(warnings.join(), /records of the audit trail are missing, there were 150/);
      assert.match(verified(), /records 51 to 150 are missing/);

      Deno.renameSync(`${data}/audit`, `${data}-gone`);
      assert.match(
        verified(),
        /^audit: the audit trail of the application: it was removed: trail \w{8} had 153 records$/,
      );
      await run(2, (line) => void warnings.push(line));
      assert.match(verified(), /records 1 to 153 before it are missing/);

      Deno.removeSync(`${data}/audit`, { recursive: true });
      await writeTrail(
        await ChainFolder.open(`${data}/audit`, { retentionDays: null, now: Date.now, warn: assert.fail }),
        [NOON],
      );
      assert.match(verified(), /it was removed or exchanged: trail \w{8} had 155 records/);
      await run(200, (line) => void warnings.push(line));
      assert.match(warnings.at(-1) ?? "", /was exchanged, there was one of 155 records/);
      assert.match(verified(), /it was removed or exchanged: trail \w{8} had 155 records/);
    }
  },
);

testInFolder(
  "audit file: what records cannot be appended to is refused at the start, with its name",
  async (folder) => {
    const open = (file: string) =>
      openAudit(readConfig({ ...STORAGE_ONLY, AUDIT_FILE: file }), null, null, assert.fail, NO_LOG);
    assert.equal((await new Deno.Command("mkfifo", { args: [`${folder}/fifo`] }).output()).success, true);
    for (const path of [folder, `${folder}/fifo`, "/dev/null", "/dev/full"]) {
      await assert.rejects(open(path), {
        name: "ConfigError",
        message: `AUDIT_FILE: the file ${path} of the audit trail cannot be used (it is no regular file)`,
      });
    }
    await assert.rejects(
      open(`${folder}/missing/audit.jsonl`),
      /^ConfigError: AUDIT_FILE: .*\(No such file or directory/,
    );
    await (await open(`${folder}/audit.jsonl`))?.close(60_000);
    assert.equal(Deno.statSync(`${folder}/audit.jsonl`).mode! & 0o777, 0o600);
  },
);
