import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { cpSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import {
  CompleteMultipartUploadCommand,
  CreateMultipartUploadCommand,
  PutObjectCommand,
  UploadPartCommand,
} from "@aws-sdk/client-s3";
import { backUp } from "@/compose/backup.ts";
import { verifyDataFolder } from "@/compose/verify.ts";
import { damageRounds } from "@/bench/faults/damage.ts";
import { DataFolder, holdFolder } from "@/lib/process/data_folder.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const MIB = 1024 * 1024;
/** The data folder of a stopped store with bodies of every kind; copied for each test. */
async function makeFolder(): Promise<string> {
  const store = await startStore();
  const client = store.client("archive", "curator");
  const put = (Bucket: string, Key: string, size: number) =>
    client.send(new PutObjectCommand({ Bucket, Key, Body: new Uint8Array(randomBytes(size)) }));
  await put("letters", "large", 100_000);
  await put("letters", "small", 1000);
  await put("letters", "empty", 0);
  for (let n = 0; n < 300; n++) await put("maps", "often written", n % 100 === 0 ? 20_000 : 10);
  const at = { Bucket: "letters", Key: "in parts" };
  const { UploadId } = await client.send(new CreateMultipartUploadCommand(at));
  const Parts: { ETag?: string; PartNumber: number }[] = [];
  for (const [i, size] of [5 * MIB, 5 * MIB, 100].entries()) {
    const part = { ...at, UploadId, PartNumber: i + 1, Body: new Uint8Array(randomBytes(size)) };
    Parts.push({ ETag: (await client.send(new UploadPartCommand(part))).ETag, PartNumber: i + 1 });
  }
  await client.send(new CompleteMultipartUploadCommand({ ...at, UploadId, MultipartUpload: { Parts } }));
  const open = await client.send(new CreateMultipartUploadCommand({ ...at, Key: "open" }));
  const part = { Bucket: "letters", Key: "open", UploadId: open.UploadId, PartNumber: 7 };
  await client.send(new UploadPartCommand({ ...part, Body: new Uint8Array(50_000) }));
  await store.stop();
  const folder = DataFolder.open(store.folder);
  folder.secret("token-key");
  folder.close();
  return store.folder;
}

const folder = await makeFolder();
globalThis.addEventListener("unload", () => Deno.removeSync(folder, { recursive: true }));

/** A test with a copy of it, which is gone behind it. */
function testCopy(name: string, run: (copy: string) => Promise<void> | void): void {
  Deno.test(name, async () => {
    const copy = Deno.makeTempDirSync();
    cpSync(folder, copy, { recursive: true });
    using _removal = removeAtEnd(copy);
    await run(copy);
  });
}

function verify(path: string): { isWell: boolean; lines: string[] } {
  const lines: string[] = [];
  const checks = { "checked.json": (text: string) => text !== "{}" };
  return { isWell: verifyDataFolder(path, (line) => lines.push(line), checks), lines };
}

Deno.test("verify: a whole folder is well, and nothing in it changes", () => {
  const before = contents(folder);
  const { isWell, lines } = verify(folder);
  assert.deepEqual([isWell, lines.length], [true, 1], lines.join("\n"));
  assert.match(lines[0], /all is well \(\d{3} bodies, 10\.\d MiB\)/);
  assert.deepEqual(contents(folder), before);
});

type Damage = (folder: string, index: DatabaseSync) => void;

/** The file of an object, or of a part of it. */
function file(index: DatabaseSync, sql: string): string {
  return String(index.prepare(sql).get()?.file);
}

const LARGE = "SELECT file FROM objects WHERE CAST(key AS TEXT) = 'large'";
const PART = "SELECT file FROM part_bodies LIMIT 1";

const damages: Record<string, { damage: Damage; says: RegExp }> = {
  "a byte of a body is another": {
    damage(folder, index) {
      const body = Deno.openSync(`${folder}/${file(index, LARGE)}`, { read: true, write: true });
      body.seekSync(5000, Deno.SeekMode.Start);
      const byte = new Uint8Array(1);
      body.readSync(byte);
      body.seekSync(5000, Deno.SeekMode.Start);
      body.writeSync(new Uint8Array([~byte[0]]));
      body.close();
    },
    says: /^archive\/letters\/large \(version \d+\): bodies\/\S+ is damaged \(its MD5 is/,
  },
  "a body is shorter": {
    damage: (folder, index) => Deno.truncateSync(`${folder}/${file(index, LARGE)}`, 7),
    says: /^archive\/letters\/large .*: bodies\/\S+ has 7 bytes, not 100000$/,
  },
  "a body is missing": {
    damage: (folder, index) => Deno.removeSync(`${folder}/${file(index, LARGE)}`),
    says: /^archive\/letters\/large .*: bodies\/\S+ is missing$/,
  },
  "a part of an object is damaged": {
    damage: (folder, index) => Deno.writeFileSync(`${folder}/${file(index, PART)}`, new Uint8Array(5 * MIB)),
    says: /^archive\/letters\/in parts .*: one of its 3 parts is damaged/,
  },
  "a part of an open upload is missing": {
    damage: (folder, index) => Deno.removeSync(`${folder}/${file(index, "SELECT file FROM parts")}`),
    says: /^archive\/letters\/open \(part 7 of the upload \S+\): bodies\/\S+ is missing$/,
  },
  "an older version is damaged": {
    damage: (folder, index) =>
      Deno.writeFileSync(
        `${folder}/${file(index, "SELECT file FROM history WHERE file IS NOT NULL")}`,
        new Uint8Array(20_000),
      ),
    says: /^archive\/maps\/often written \(version \d+\): bodies\/\S+ is damaged/,
  },
  "a body within the index is another": {
    damage: (_, index) =>
      index.exec(`UPDATE bodies SET data = zeroblob(1000) WHERE id =
        (SELECT body FROM objects WHERE CAST(key AS TEXT) = 'small')`),
    says: /^archive\/letters\/small .*: row \d+ of the index is damaged/,
  },
  "a body within the index is missing": {
    damage: (_, index) =>
      index.exec("DELETE FROM bodies WHERE id = (SELECT body FROM objects WHERE CAST(key AS TEXT) = 'small')"),
    says: /^archive\/letters\/small .*: row \d+ of the index is missing$/,
  },
  "a body within the index is nobody's": {
    damage: (_, index) => index.exec("INSERT INTO bodies (data) VALUES (x'61')"),
    says: /^index\.db: 1 bodies in it belong to no object$/,
  },
  "a file is nobody's": {
    damage: (folder) => Deno.writeTextFileSync(`${folder}/bodies/stray`, ""),
    says: /^bodies\/stray: belongs to no object$/,
  },
  "the index is damaged": {
    damage(folder, index) {
      index.close();
      const db = Deno.openSync(`${folder}/index.db`, { write: true });
      db.seekSync(3 * 4096, Deno.SeekMode.Start);
      db.writeSync(new Uint8Array(8192).fill(0xa5));
      db.close();
    },
    says: /^index\.db: /,
  },
  "the index is missing": {
    damage: (folder) => Deno.removeSync(`${folder}/index.db`),
    says: /^index\.db: missing/,
  },
  "the index is of another version": {
    damage: (_, index) => index.exec("PRAGMA user_version = 99"),
    says: /^index\.db: cannot be read \(it has layout 99/,
  },
  "the index has lost its tie to the bodies": {
    damage: (folder) => Deno.removeSync(`${folder}/bodies.json`),
    says: /^index\.db: the folder does not say .* \(bodies\.json is missing\)$/,
  },
  "the index is that of other bodies": {
    damage: (_, index) => index.exec("UPDATE identity SET id = 'another'"),
    says: /^index\.db: the folder has an index\.db that is not the one of its bodies$/,
  },
  "the index is older than the bodies": {
    damage: (_, index) => index.exec("UPDATE identity SET starts = 0"),
    says: /^index\.db: the folder has an index\.db that is older than its bodies$/,
  },
  "the index is from before it was tied to the bodies": {
    damage(folder, index) {
      index.exec("DELETE FROM identity");
      const mark = JSON.parse(Deno.readTextFileSync(`${folder}/bodies.json`));
      Deno.writeTextFileSync(`${folder}/bodies.json`, JSON.stringify({ ...mark, starts: 2 }));
    },
    says: /^index\.db: the folder has an index\.db that is older than its bodies$/,
  },
  "a file of others is none that they take": {
    damage: (folder) => Deno.writeTextFileSync(`${folder}/checked.json`, "{}"),
    says: /^checked\.json: damaged, or written by another version$/,
  },
  "a secret is damaged": {
    damage: (folder) => Deno.writeTextFileSync(`${folder}/token-key.secret`, "short"),
    says: /^token-key\.secret: damaged$/,
  },
  "the ports are damaged": {
    damage: (folder) => Deno.writeTextFileSync(`${folder}/ports.json`, "{"),
    says: /^ports\.json: damaged$/,
  },
};

for (const [name, { damage, says }] of Object.entries(damages)) {
  testCopy(`verify: says so where ${name}`, (copy) => {
    const index = new DatabaseSync(`${copy}/index.db`);
    damage(copy, index);
    if (index.isOpen) index.close();
    const { isWell, lines } = verify(copy);
    assert.equal(isWell, false);
    assert.ok(lines.slice(0, -1).some((line) => says.test(line)), lines.join("\n"));
    assert.match(lines[lines.length - 1], /: \d+ findings? \(/);
  });
}

testCopy("background tasks: their file is no finding of verify, and not in a backup", async (path) => {
  const target = await Deno.makeTempDir();
  using _removal = removeAtEnd(target);
  for (const name of ["tasks.db", "tasks.db-wal", "tasks.db.damaged", "notifications.db"]) {
    Deno.writeTextFileSync(`${path}/${name}`, "x");
  }
  assert.equal(verify(path).isWell, true);
  await backUp(path, `${target}/copy`);
  assert.deepEqual([...Deno.readDirSync(`${target}/copy`)].filter(({ name }) => name.startsWith("tasks")), []);
});

testCopy("verify: beside a running store, a file that is being received is no finding", (copy) => {
  const running = DataFolder.open(copy);
  Deno.writeTextFileSync(`${copy}/bodies/2026010100`, "half of a bo");
  assert.match(verify(copy).lines[0], /all is well \(.*, 1 arriving\)/);
  running.close();
  assert.equal(verify(copy).isWell, false);
});

/** Where no `lock` is, as in a copy, one is made for the time and gone afterwards. */
for (const hasLock of [true, false]) {
  testCopy(
    `verify: a stopped folder cannot be opened meanwhile, ${hasLock ? "with" : "without"} a lock file`,
    (copy) => {
      if (!hasLock) Deno.removeSync(`${copy}/lock`);
      Deno.writeTextFileSync(`${copy}/bodies/stray`, "");
      const before = contents(copy);
      let starts = 0;
      verifyDataFolder(copy, () => {
        starts++;
        assert.throws(() => DataFolder.open(copy), /is in use by another Stackroom: /);
      });
      assert.equal(starts, 2);
      assert.deepEqual(contents(copy), before);
      DataFolder.open(copy).close();
    },
  );
}

testCopy("verify: a log of the index that holds something stays, with its shared memory", (copy) => {
  Deno.writeTextFileSync(`${copy}/bodies/stray`, "");
  let index: DatabaseSync | null = null;
  verifyDataFolder(copy, () => {
    // Whatever writes beside it, a lock or no lock.
    index ??= new DatabaseSync(`${copy}/index.db`);
    index.exec("INSERT OR IGNORE INTO garbage VALUES ('written meanwhile')");
  });
  const [wal, shm] = ["wal", "shm"].map((name) => Deno.statSync(`${copy}/index.db-${name}`).size);
  assert.ok(wal > 0 && shm > 0);
  (index as DatabaseSync | null)?.close();
  const again = new DatabaseSync(`${copy}/index.db`);
  assert.ok(again.prepare("SELECT 1 FROM garbage WHERE file = 'written meanwhile'").get());
  again.close();
});

Deno.test("verify: the lock of a check that ended opens no folder", () => {
  const copy = Deno.makeTempDirSync();
  const held = holdFolder(copy);
  assert.equal(held.isInUse, false);
  assert.equal(holdFolder(copy).isInUse, true);
  // A start that opened the file just before it was removed.
  const late = Deno.openSync(`${copy}/lock`, { read: true });
  held.release();
  assert.ok(late.tryLockSync(true));
  const first = DataFolder.open(copy);
  assert.throws(() => DataFolder.open(copy), DataFolderError);
  first.close();
  late.close();
  Deno.removeSync(copy, { recursive: true });
});

testCopy("backup: a stopped folder stays as it was, and cannot be opened meanwhile", async (copy) => {
  const target = Deno.makeTempDirSync();
  const before = contents(copy).map(([name]) => name);
  const copying = backUp(copy, target);
  assert.throws(() => DataFolder.open(copy), /is in use by another Stackroom: /);
  assert.ok((await copying).isWhole);
  assert.deepEqual(contents(copy).map(([name]) => name), before);
  DataFolder.open(copy).close();
  Deno.removeSync(target, { recursive: true });
});

Deno.test("verify: a folder without data is refused in one line", () => {
  const file = Deno.makeTempFileSync();
  for (const path of ["/nowhere", file]) assert.throws(() => verify(path), DataFolderError);
  Deno.removeSync(file);
});

function contents(path: string): [string, string][] {
  return [...Deno.readDirSync(path)].sort((a, b) => a.name < b.name ? -1 : 1).flatMap((entry) => {
    const name = `${path}/${entry.name}`;
    const { mtime, mode, size } = Deno.statSync(name);
    if (entry.isDirectory) return [[name, `${mtime?.getTime()}`], ...contents(name)] as [string, string][];
    return [[name, `${mtime?.getTime()} ${mode} ${size}`]] as [string, string][];
  });
}

Deno.test("verify: a damaged page or body is found wherever it is, or has changed nothing", () => {
  const found = [...damageRounds(folder, 12, Date.now() % 1_000_000)].filter(({ finding }) => finding !== null);
  assert.ok(found.length >= 6, "each body, and pages in use");
  for (const { damage, finding } of found) {
    // Of an object in parts the bytes do not say which one is damaged: it names the object.
    const named = /bodies\/|: one of its \d+ parts is damaged/;
    if (damage.startsWith("a body")) assert.match(finding ?? "", named, "it names the file");
  }
  assert.deepEqual(verify(folder).isWell, true, "all is repaired");
});
