import assert from "node:assert/strict";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { fileURLToPath } from "node:url";
import { backUp } from "@/compose/backup.ts";
import { DataFolderError } from "@/lib/std/start_errors.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const LARGE = new Uint8Array(40_000);
/** A folder of another disk than temporary files, where this machine has one. */
const OTHER_DISK = ["/dev/shm", "/run"].find((path) => {
  try {
    const isOther = Deno.statSync(path).dev !== Deno.statSync(Deno.env.get("TMPDIR") ?? "/tmp").dev;
    if (isOther) Deno.removeSync(Deno.makeTempDirSync({ dir: path }));
    return isOther;
  } catch {
    return false;
  }
});

/** A stopped data folder with large bodies, in a folder of its own. */
async function dataFolder(...keys: string[]): Promise<string> {
  const parent = Deno.makeTempDirSync({ prefix: "stackroom-backup-" });
  const path = `${parent}/data`;
  Deno.mkdirSync(path);
  await add(path, ...keys);
  return path;
}

async function add(path: string, ...keys: string[]): Promise<void> {
  const store = await startStore(path);
  const client = store.client("archive", "curator");
  for (const Key of keys) await client.send(new PutObjectCommand({ Bucket: "letters", Key, Body: LARGE }));
  client.destroy();
  await store.stop();
}

/** The inodes of the bodies below a folder. */
function inodes(folder: string): Set<number | null> {
  const found = new Set<number | null>();
  const walk = (path: string) => {
    for (const { name, isDirectory } of Deno.readDirSync(path)) {
      if (isDirectory) walk(`${path}/${name}`);
      else found.add(Deno.statSync(`${path}/${name}`).ino);
    }
  };
  walk(`${folder}/bodies`);
  return found;
}

Deno.test("backup: on another disk, bodies that an earlier backup has are links to it, and only new ones are copied", {
  ignore: OTHER_DISK === undefined,
}, async () => {
  const data = await dataFolder("a", "b");
  const target = Deno.makeTempDirSync({ dir: OTHER_DISK, prefix: "stackroom-backup-" });
  using _removal = removeAtEnd(target, `${data}/..`);
  const [first, second] = [`${target}/1`, `${target}/2`];
  assert.match((await backUp(data, first)).lines.join(), /: 2 large bodies\.$/);
  await add(data, "c");
  const { isWhole, lines } = await backUp(data, second, first);
  assert.deepEqual([isWhole, lines.length], [true, 1]);
  assert.match(lines[0], new RegExp(`: 3 large bodies, 2 of them in ${first} too\\.$`));
  const shared = inodes(second).intersection(inodes(first));
  assert.deepEqual([inodes(first).size, inodes(second).size, shared.size], [2, 3, 2]);
  for (const earlier of [`${target}/none`, target]) {
    await assert.rejects(backUp(data, `${target}/3`, earlier), (error) => {
      assert.ok(error instanceof DataFolderError);
      assert.match(error.message, /is no whole backup/);
      return true;
    });
  }
});

Deno.test("deploy/backup: each run adds a checked backup, and removes the oldest ones beyond the number to keep", async () => {
  const data = await dataFolder("a");
  const target = Deno.makeTempDirSync({ prefix: "stackroom-backups-" });
  const run = async (args: string[], DATA_DIR = data) => {
    const PATH = `${Deno.execPath().replace(/\/[^/]*$/, "")}:${Deno.env.get("PATH")}`;
    const { code, stdout, stderr } = await new Deno.Command(`${ROOT}deploy/backup`, {
      args,
      env: { DATA_DIR, PATH, NO_COLOR: "1" },
    }).output();
    return { code, output: new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr) };
  };
  const names = () => [...Deno.readDirSync(target)].map(({ name }) => name).sort();
  using _removal = removeAtEnd(target, `${data}/..`);
  for (const name of ["20260101T000000Z", "20260102T000000Z"]) await backUp(data, `${target}/${name}`);
  Deno.mkdirSync(`${target}/unfinished`);
  Deno.writeTextFileSync(`${target}/notes.txt`, "of the operator");
  const { code, output } = await run([target, "2"]);
  assert.equal(code, 0, output);
  assert.match(output, /^Backed up .*: 1 large bodies.*\n.*unfinished: all is well \(.*\)\.\n$/);
  const [older, newest, notes, ...others] = names();
  assert.deepEqual([older, notes, others], ["20260102T000000Z", "notes.txt", []]);
  assert.match(newest, /^20\d{6}T\d{6}Z$/);

  const failed = await run([target, "1"], `${data}/none`);
  assert.equal(failed.code, 1);
  assert.deepEqual(names(), [older, newest, notes], "a backup that fails removes none");
  assert.deepEqual([(await run([])).code, (await run([target, "0"])).code, (await run([target], "data")).code], [
    2,
    2,
    2,
  ]);
});

Deno.test("deploy/backup: where the one before it has damaged bodies, a backup is repeated without links to it", () => {
  const folder = Deno.makeTempDirSync({ prefix: "stackroom-backups-" });
  const target = `${folder}/backups`;
  const newest = "20260101T000000Z";
  using _removal = removeAtEnd(folder);
  Deno.mkdirSync(`${target}/${newest}`, { recursive: true });
  // In place of the tasks: a backup with links to an earlier one is damaged, and so is every one where DAMAGED is set.
  const tasks = `#!/bin/sh
case $3 in
backup) mkdir "$4" && echo "\${5:-}" > "$4/earlier" ;;
verify) [ -z "$(cat "$DATA_DIR/earlier")$DAMAGED" ] ;;
esac
`;
  // Written by another process: one that this one starts meanwhile would inherit the open file, which then cannot run.
  const write = ["-c", 'printf %s "$1" > "$0" && chmod 700 "$0"', `${folder}/deno`, tasks];
  assert.ok(new Deno.Command("sh", { args: write }).outputSync().success);
  const run = (DAMAGED: string) => {
    const env = { DATA_DIR: "/data", PATH: `${folder}:${Deno.env.get("PATH")}`, DAMAGED };
    const { code, stderr } = new Deno.Command(`${ROOT}deploy/backup`, { args: [target], env }).outputSync();
    const names = [...Deno.readDirSync(target)].map(({ name }) => name).filter((name) => name !== "unfinished");
    return { code, stderr: new TextDecoder().decode(stderr), names: names.sort() };
  };
  const damaged = run("1");
  assert.deepEqual([damaged.code, damaged.names], [1, [newest]], "it is damaged either way");
  const { code, stderr, names } = run("");
  assert.equal(code, 0, stderr);
  assert.match(stderr, new RegExp(`^The backup is repeated without links to ${newest}: .*\\n$`));
  assert.equal(names.length, 2);
  assert.equal(Deno.readTextFileSync(`${target}/${names[1]}/earlier`), "\n");
});
