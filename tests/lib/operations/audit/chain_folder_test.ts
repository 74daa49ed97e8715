import assert from "node:assert/strict";
import { AuditTrail } from "@/lib/operations/audit/audit_trail.ts";
import { checkChainFolder } from "@/lib/operations/audit/chain_check.ts";
import { ChainFolder } from "@/lib/operations/audit/chain_folder.ts";
import { ChainReader } from "@/lib/operations/audit/chain_reader.ts";
import { exists } from "@/lib/std/files.ts";
import { until } from "@/tests/until.ts";
import { DAY_MS, event, eventually, NOON, sealer, withoutBlockingCalls, writeTrail } from "./audit_fixture.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

const ALL = { retentionDays: null, now: () => NOON, warn: assert.fail };

testInFolder(
  "chain folder: a trail goes on where the process before left it, and loses what a kill cut off",
  async (folder) => {
    await writeTrail(await ChainFolder.open(folder, ALL), [NOON, NOON]);
    const path = `${folder}/2026-11-20.jsonl`;
    for (const torn of ['{"v":1,"id":"', '{"v":1,"id":"0.3","hash":"', "x"]) {
      Deno.writeTextFileSync(path, torn, { append: true });
      assert.deepEqual(checkChainFolder(folder).faults, [], "what was never confirmed is no fault");
      await writeTrail(await ChainFolder.open(folder, ALL), [NOON]);
    }
    assert.deepEqual(checkChainFolder(folder), { records: 5, faults: [] });
    assert.equal(Deno.statSync(path).mode! & 0o777, 0o600);
  },
);

testInFolder("chain folder: a header that a kill cut off is written again", async (folder) => {
  await writeTrail(await ChainFolder.open(folder, ALL), [NOON]);
  Deno.writeTextFileSync(`${folder}/2026-11-21.jsonl`, '{"v":1,"trail":');
  await writeTrail(await ChainFolder.open(folder, ALL), [NOON + DAY_MS]);
  assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] });
});

testInFolder("chain folder: a clock that is set back does not open an older day's file", async (folder) => {
  await writeTrail(await ChainFolder.open(folder, ALL), [NOON, NOON + DAY_MS, NOON, NOON + 2 * DAY_MS]);
  assert.deepEqual(checkChainFolder(folder), { records: 4, faults: [] });
  const { records } = await new ChainReader(folder).page({ endMs: NOON + 1 }, null, 10);
  assert.equal(records.length, 2, "and its record is found by its time");
  // As far as an instant can be written: the day after it has a year of five digits.
  const all = await new ChainReader(folder).page({ startMs: Date.UTC(0), endMs: Date.UTC(9999, 11, 31, 12) }, null, 10);
  assert.equal(all.records.length, 4);
});

testInFolder(
  "chain folder: records of days that a clock was ahead of are found by their time, also once their file is not the newest",
  async (folder) => {
    const days = [0, 30, 1, 2, 31];
    await writeTrail(await ChainFolder.open(folder, ALL), days.map((day) => NOON + day * DAY_MS));
    const found = async (startDay: number, endDay: number) => {
      const filter = { startMs: NOON + startDay * DAY_MS, endMs: NOON + endDay * DAY_MS };
      const { records } = await new ChainReader(folder).page(filter, null, 10);
      return records.map(({ time }) => (Date.parse(time) - NOON) / DAY_MS);
    };
    assert.deepEqual(await found(0, 2), [1, 0]);
    assert.deepEqual(await found(1, 31), [2, 1, 30]);
  },
);

testInFolder("chain folder: old days go, and the rest is checked from where they ended", async (folder) => {
  await writeTrail(await ChainFolder.open(folder, ALL), [0, 1, 2, 3].map((day) => NOON + day * DAY_MS));
  const later = { ...ALL, retentionDays: 1, now: () => NOON + 3 * DAY_MS };
  const before = Deno.readTextFileSync(`${folder}/2026-11-21.jsonl`);
  await (await ChainFolder.open(folder, later)).close();
  const days = [...Deno.readDirSync(folder)].map(({ name }) => name).filter((name) => name.endsWith("l")).sort();
  assert.deepEqual(days, ["2026-11-22.jsonl", "2026-11-23.jsonl"]);
  assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] });
  // A kill between the note and the removal leaves a day that no longer counts; the next start removes it.
  Deno.writeTextFileSync(`${folder}/2026-11-21.jsonl`, before);
  assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] });
  await (await ChainFolder.open(folder, later)).close();
  assert.throws(() => Deno.statSync(`${folder}/2026-11-21.jsonl`), Deno.errors.NotFound);
  Deno.removeSync(`${folder}/2026-11-22.jsonl`);
  assert.deepEqual(checkChainFolder(folder).faults, [
    "2026-11-23.jsonl: records 3 to 3 before it are missing or were changed",
  ]);
});

testInFolder(
  "chain folder: the last day stays however old it is, since the trail goes on behind it",
  async (folder) => {
    await writeTrail(await ChainFolder.open(folder, ALL), [NOON]);
    const later = { ...ALL, retentionDays: 1, now: () => NOON + 30 * DAY_MS };
    await (await ChainFolder.open(folder, later)).close();
    await writeTrail(await ChainFolder.open(folder, later), [NOON + 30 * DAY_MS]);
    assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] });
    const next = { ...later, now: () => NOON + 31 * DAY_MS };
    await writeTrail(await ChainFolder.open(folder, next), [NOON + 31 * DAY_MS]);
    assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] }, "the oldest is gone");
  },
);

testInFolder(
  "chain folder: a clock that is years ahead removes no day, neither at an open nor with a record of its day",
  async (folder) => {
    await writeTrail(await ChainFolder.open(folder, ALL), [0, 1, 2].map((day) => NOON + day * DAY_MS));
    const ahead = { ...ALL, retentionDays: 365, now: () => NOON + 3650 * DAY_MS };
    await (await ChainFolder.open(folder, ahead)).close();
    assert.deepEqual(checkChainFolder(folder), { records: 3, faults: [] });
    await writeTrail(await ChainFolder.open(folder, ahead), [NOON + 3650 * DAY_MS]);
    assert.deepEqual(checkChainFolder(folder), { records: 4, faults: [] });
    const right = { ...ALL, retentionDays: 365, now: () => NOON + 3 * DAY_MS };
    await writeTrail(await ChainFolder.open(folder, right), [NOON + 3 * DAY_MS]);
    assert.deepEqual(checkChainFolder(folder), { records: 5, faults: [] });
  },
);

testInFolder("chain folder: records that are passed again are written once", async (folder) => {
  const chain = await ChainFolder.open(folder, ALL);
  const seal = sealer(chain.trail);
  const records = [seal(event()), seal(event())];
  await chain.append(records.slice(0, 1));
  await chain.append(records);
  await chain.close();
  assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] });
});

testInFolder("chain folder: what notes its end is flushed before it replaces the note before", async (folder) => {
  const chain = await ChainFolder.open(folder, ALL);
  const { sync } = Deno.FsFile.prototype;
  let flushes = 0;
  Deno.FsFile.prototype.sync = function () {
    flushes++;
    return sync.call(this);
  };
  try {
    await chain.close();
  } finally {
    Deno.FsFile.prototype.sync = sync;
  }
  assert.equal(flushes, 2, "the file and its folder");
});

testInFolder(
  "chain folder: the name of a new day's file is flushed before its first record is confirmed",
  async (folder) => {
    // So that no end is noted, which flushes the folder as well.
    Deno.mkdirSync(`${folder}/end.json.new`);
    const chain = await ChainFolder.open(folder, ALL);
    const seal = sealer(chain.trail);
    const { sync } = Deno.FsFile.prototype;
    let flushes = 0;
    Deno.FsFile.prototype.sync = async function () {
      await sync.call(this);
      flushes++;
    };
    try {
      for (const [day, expected] of [[0, 1], [0, 1], [1, 2]]) {
        await chain.append([seal(event(), NOON + day * DAY_MS)]);
        assert.equal(flushes, expected);
      }
    } finally {
      Deno.FsFile.prototype.sync = sync;
    }
    await chain.close();
  },
);

/** An open chain that keeps the records of one day, by a clock that the test sets. */
async function dayKeepingChain(folder: string) {
  const clock = { now: NOON };
  const warnings: string[] = [];
  const warn = (line: string) => void warnings.push(line);
  const chain = await ChainFolder.open(folder, { retentionDays: 1, now: () => clock.now, warn });
  return { clock, warnings, chain, seal: sealer(chain.trail) };
}

testInFolder(
  "chain folder: no call blocks the process, neither for a record, a new day and old ones, nor at its end",
  async (folder) => {
    const { warnings, chain, seal, clock } = await dayKeepingChain(folder);
    {
      using _ = withoutBlockingCalls();
      for (let day = 0; day < 4; day++) {
        clock.now = NOON + day * DAY_MS;
        await chain.append([seal(event(), clock.now)]);
      }
      await chain.close();
      assert.equal((await new ChainReader(folder).page({}, null, 10)).records.length, 2);
    }
    assert.deepEqual(warnings, []);
    assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] });
    assert.equal(JSON.parse(Deno.readTextFileSync(`${folder}/end.json`)).number, 4);
  },
);

/** A pipe in place of a file: to open it waits for a reader, as a network share that is gone lets a file wait. */
async function hungFile(path: string): Promise<void> {
  assert.equal((await new Deno.Command("mkfifo", { args: [path] }).output()).success, true);
}

/** What is written to such a pipe, whose writer goes on. */
async function readPipe(path: string): Promise<string> {
  using reader = await Deno.open(path);
  const bytes = new Uint8Array(1000);
  return new TextDecoder().decode(bytes.subarray(0, await reader.read(bytes) ?? 0));
}

testInFolder(
  "chain folder: a record is confirmed whose day is flushed, though a note of its end hangs, which a stop does not wait for and which is made once the disk is back",
  async (folder) => {
    const pipe = `${folder}/end.json.new`;
    await hungFile(pipe);
    const chain = await ChainFolder.open(folder, ALL);
    const { trail, end } = chain;
    const recorder = new AuditTrail({
      ...{ trail, end, chain, file: null, isRequired: true, now: () => NOON, warn: assert.fail },
    });
    {
      using _ = withoutBlockingCalls();
      for (let n = 0; n < 2; n++) await recorder.record(event());
      recorder.requireRoom();
      await recorder.close(200);
    }
    assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] });
    await assert.rejects(ChainFolder.open(folder, ALL), /another process has it/);
    assert.equal(JSON.parse(await readPipe(pipe)).number, 1, "as far as the trail had got when the note began");
    await until(
      "the folder is closed",
      () => ChainFolder.open(folder, ALL).then((chain) => chain.close().then(() => true), () => null),
    );
    assert.equal(JSON.parse(Deno.readTextFileSync(`${folder}/end.json`)).number, 2, "a stop notes it again");
  },
);

testInFolder(
  "chain folder: records go on while old days cannot be removed, and the end is noted after their removal",
  async (folder) => {
    const { warnings, chain, seal, clock } = await dayKeepingChain(folder);
    await chain.append([seal(event(), clock.now)]);
    await eventually(() => exists(`${folder}/end.json`));
    const pipe = `${folder}/anchor.json.new`;
    await hungFile(pipe);
    for (let day = 1; day < 6; day++) {
      clock.now = NOON + day * DAY_MS;
      await chain.append([seal(event(), clock.now)]);
    }
    assert.deepEqual(checkChainFolder(folder), { records: 6, faults: [] });
    assert.equal(JSON.parse(Deno.readTextFileSync(`${folder}/end.json`)).number, 1);
    const { open } = Deno;
    let notes = 0;
    Deno.open = (path, options) => {
      if (String(path).endsWith("/end.json.new")) notes++;
      return open(path, options);
    };
    try {
      const closed = chain.close();
      assert.equal(JSON.parse(await readPipe(pipe)).day, "2026-11-20");
      await closed;
    } finally {
      Deno.open = open;
    }
    assert.equal(notes, 2, "one for all records meanwhile, and one at the end");
    assert.equal(warnings.length, 1, "a pipe cannot be flushed");
    assert.equal(JSON.parse(Deno.readTextFileSync(`${folder}/end.json`)).number, 6);
    assert.deepEqual(checkChainFolder(folder), { records: 2, faults: [] }, "what was due meanwhile is removed as well");
  },
);
