import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { elementText, embeddedServer, S3Wire, textOf } from "@/bench/wire/s3_wire.ts";
import { startApplication, StartError, STORAGE_ONLY } from "@/tests/application.ts";
import { runTask } from "@/tests/task.ts";
import { mountSmallDisk } from "./small_disk.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const BUCKET = "letters";
const MIB = 1024 * 1024;
const WRITERS = 3;

/** Keys with the SHA-256 of their bodies, null once deleted. */
type Acknowledged = Map<string, string | null>;

Deno.test(
  "backup: made under load, a start on it gives back all that was acknowledged before",
  async () => {
    const parent = await Deno.makeTempDir({ prefix: "stackroom-backup-" });
    const dataFolder = `${parent}/data`;
    const copy = `${parent}/copies/new`;
    const before: Acknowledged = new Map();
    let isOver = false;
    let writers: Promise<number>[] = [];
    let application = await startApplication({ dataFolder, env: STORAGE_ONLY });
    let isRunning = true;
    try {
      const wire = new S3Wire(embeddedServer(dataFolder));
      for (let n = 0; n < 12; n++) await put(wire, `kept/${n}`, n % 3 === 0 ? 2000 : 40_000 + n, before);
      await putInParts(wire, "kept/in parts", before);
      wire.close();

      writers = Array.from({ length: WRITERS }, (_, n) => churn(dataFolder, n, () => isOver));
      const { code, output } = await runTask("backup", dataFolder, [copy]);
      assert.equal(code, 0, output);
      const beside = await runTask("verify", dataFolder);
      isOver = true;
      const rounds = await Promise.all(writers);
      assert.ok(rounds.every((count) => count > 0), "the load went on beside the backups");
      assert.deepEqual([beside.code, beside.output.split("\n").length], [0, 2], beside.output);
      await application.stop();
      isRunning = false;
      assert.equal((await runTask("verify", dataFolder)).code, 0);

      const verified = await runTask("verify", copy);
      assert.match(verified.output, /^\S+: all is well \(\d+ bodies, [0-9.]+ MiB\)\.\n$/);
      assert.equal(verified.code, 0);
      assert.deepEqual(openToOthers(copy), []);
      application = await startApplication({ dataFolder: copy, env: STORAGE_ONLY });
      isRunning = true;
      const reader = new S3Wire(embeddedServer(copy));
      for (const [key, digest] of before) {
        const { body } = await reader.succeed({ method: "GET", bucket: BUCKET, key });
        assert.equal(sha256(body), digest, key);
      }
      await put(reader, "kept/after", 40_000, new Map());
      reader.close();
      await application.stop();
      isRunning = false;
      assert.equal((await runTask("verify", copy)).code, 0);
    } finally {
      isOver = true;
      await Promise.allSettled(writers);
      if (isRunning) await application.kill();
      await Deno.remove(parent, { recursive: true });
    }
  },
);

Deno.test("backup: of a stopped store, onto nothing else, and an unfinished one is refused by a start", async () => {
  const parent = await Deno.makeTempDir({ prefix: "stackroom-backup-" });
  const dataFolder = `${parent}/data`;
  using _removal = removeAtEnd(parent);
  assert.deepEqual(await runTask("backup", dataFolder, [`${parent}/none`]), {
    code: 1,
    output: `DATA_DIR: ${dataFolder} holds no data of Stackroom.\n`,
  });
  const application = await startApplication({ dataFolder, env: STORAGE_ONLY });
  await application.kill();
  const names = () => [...Deno.readDirSync(dataFolder)].map(({ name }) => name).sort();
  const before = names();
  for (
    const [target, says] of [
      ["", /^Name the folder/],
      [`${dataFolder}/inside`, /must be outside/],
      [parent, /must be outside/],
      [new URL(".", import.meta.url).pathname, /is not empty/],
    ] as const
  ) {
    const { code, output } = await runTask("backup", dataFolder, [target]);
    assert.equal(code, 1);
    assert.match(output, says);
    assert.match(output, /^[^\n]+\n$/);
  }
  assert.deepEqual(names(), before);

  const copy = `${parent}/copy`;
  assert.equal((await runTask("backup", dataFolder, [copy])).code, 0);
  assert.equal((await runTask("verify", copy)).code, 0);
  await Deno.writeTextFile(`${copy}/revoked-sessions.json`, "{}");
  assert.match((await runTask("verify", copy)).output, /^revoked-sessions\.json: damaged, or .*\n.*1 finding/);
  await Deno.remove(`${copy}/revoked-sessions.json`);
  await Deno.writeTextFile(`${copy}/backup.unfinished`, "");
  assert.match((await runTask("verify", copy)).output, /^backup\.unfinished: .*\n.*1 finding/);
  assert.match((await runTask("backup", dataFolder, [copy])).output, /holds an unfinished backup/);
  await assert.rejects(startApplication({ dataFolder: copy }), (error) => {
    assert.ok(error instanceof StartError);
    assert.match(error.output, /^The data folder \S+ is a backup that was not finished: [^\n]+\n$/);
    return true;
  });
});

const mountPoint = await Deno.makeTempDir({ prefix: "stackroom-backup-" });
const disk = await mountSmallDisk(mountPoint, 4 * MIB);
if (!disk) await Deno.remove(mountPoint);

Deno.test(
  `backup: onto another disk bodies are copied, and one that the disk cannot take stays unfinished${
    disk ? "" : " (this kernel lets nobody mount a disk here)"
  }`,
  { ignore: disk === null },
  async () => {
    assert.ok(disk);
    const application = await startApplication({ env: STORAGE_ONLY });
    const { dataFolder } = application;
    try {
      const wire = new S3Wire(embeddedServer(dataFolder));
      for (let n = 0; n < 6; n++) await put(wire, `kept/${n}`, MIB, new Map());
      wire.close();
      const cut = await runTask("backup", dataFolder, [`${mountPoint}/cut`], disk.within);
      assert.equal(cut.code, 1);
      assert.match(cut.output, /^The backup in \S+ is unfinished \(.*\): remove it, [^\n]+\n$/);
      const again = await runTask("backup", dataFolder, [`${mountPoint}/cut`], disk.within);
      assert.match(again.output, /holds an unfinished backup/);
      await disk.resize(64 * MIB);
      const whole = await runTask("backup", dataFolder, [`${mountPoint}/whole`], disk.within);
      assert.deepEqual([whole.code, whole.output.includes("hard links")], [0, false], whole.output);
      const verified = await runTask("verify", `${mountPoint}/whole`, [], disk.within);
      assert.deepEqual([verified.code, verified.output.includes("all is well")], [0, true], verified.output);
      assert.deepEqual(openToOthers(`${disk.outside}/whole`), []);
    } finally {
      await application.stop();
      await disk.remove();
      await Deno.remove(mountPoint, { recursive: true });
    }
  },
);

/** Writes, overwrites and deletes until it is told to stop; answers how many rounds there were. */
async function churn(dataFolder: string, writer: number, isOver: () => boolean): Promise<number> {
  const wire = new S3Wire(embeddedServer(dataFolder));
  let round = 0;
  for (; !isOver(); round++) {
    const key = `load/${writer}/${round % 7}`;
    await put(wire, key, 20_000 + round, new Map());
    await put(wire, `${key} again`, 1 + round % 30_000, new Map());
    await wire.succeed({ method: "DELETE", bucket: BUCKET, key: `load/${writer}/${(round + 3) % 7}` });
  }
  wire.close();
  return round;
}

async function put(wire: S3Wire, key: string, size: number, acknowledged: Acknowledged): Promise<void> {
  const body = new Uint8Array(randomBytes(size));
  await wire.succeed({ method: "PUT", bucket: BUCKET, key, body });
  acknowledged.set(key, sha256(body));
}

async function putInParts(wire: S3Wire, key: string, acknowledged: Acknowledged): Promise<void> {
  const begun = await wire.succeed({ method: "POST", bucket: BUCKET, key, query: [["uploads", ""]] });
  const uploadId = elementText(textOf(begun), "UploadId");
  const parts = [new Uint8Array(randomBytes(5 * MIB)), new Uint8Array(randomBytes(3000))];
  let named = "";
  for (const [i, body] of parts.entries()) {
    const query = [["partNumber", String(i + 1)], ["uploadId", uploadId]] as const;
    await wire.succeed({ method: "PUT", bucket: BUCKET, key, query, body });
    const etag = createHash("md5").update(body).digest("hex");
    named += `<Part><PartNumber>${i + 1}</PartNumber><ETag>"${etag}"</ETag></Part>`;
  }
  const body = new TextEncoder().encode(`<CompleteMultipartUpload>${named}</CompleteMultipartUpload>`);
  await wire.succeed({ method: "POST", bucket: BUCKET, key, query: [["uploadId", uploadId]], body });
  acknowledged.set(key, createHash("sha256").update(parts[0]).update(parts[1]).digest("hex"));
}

function openToOthers(path: string): string[] {
  const { mode, isDirectory } = Deno.statSync(path);
  const own = ((mode ?? 0) & 0o077) === 0 ? [] : [path];
  if (!isDirectory) return own;
  return [...own, ...[...Deno.readDirSync(path)].flatMap(({ name }) => openToOthers(`${path}/${name}`))];
}

function sha256(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}
