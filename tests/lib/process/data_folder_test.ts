import assert from "node:assert/strict";
import { PutObjectCommand } from "@aws-sdk/client-s3";
import { DataFolder } from "@/lib/process/data_folder.ts";
import { startStore } from "@/embedded/tests/store/store_fixture.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

/** Every entry below a folder with its mode. */
function modes(folder: string, below = ""): [string, string][] {
  return [...Deno.readDirSync(`${folder}/${below}`)].flatMap((entry) => {
    const path = `${below}${entry.name}`;
    const mode = ((Deno.lstatSync(`${folder}/${path}`).mode ?? 0) & 0o7777).toString(8);
    const own: [string, string] = [entry.isDirectory ? `${path}/` : path, mode];
    return entry.isDirectory ? [own, ...modes(folder, `${path}/`)] : [own];
  });
}

function openToOthers(folder: string): [string, string][] {
  return modes(folder).filter(([path, mode]) => mode !== (path.endsWith("/") ? "700" : "600"));
}

Deno.test("data folder: all that a store keeps is its owner's only, whatever the umask", async () => {
  const umask = Deno.umask(0);
  const folder = Deno.makeTempDirSync();
  Deno.chmodSync(folder, 0o777);
  try {
    using _held = held(DataFolder.open(folder));
    await using store = await startStore(folder);
    const client = store.client("archive", "curator");
    await client.send(new PutObjectCommand({ Bucket: "letters", Key: "k", Body: new Uint8Array(100_000) }));
    const names = modes(folder).map(([path]) => path);
    assert.ok(["index.db", "index.db-wal", "index.db-shm", "ports.json"].every((name) => names.includes(name)));
    assert.deepEqual(openToOthers(folder), []);
  } finally {
    Deno.umask(umask);
  }
});

testInFolder("data folder: what was left open to others is closed to them at the start", (folder) => {
  Deno.mkdirSync(`${folder}/bodies/2026010100`, { recursive: true });
  for (const name of ["index.db", "index.db-wal", "a.secret", "bodies/2026010100/one"]) {
    Deno.writeTextFileSync(`${folder}/${name}`, "");
    Deno.chmodSync(`${folder}/${name}`, 0o644);
  }
  for (const name of ["bodies", "bodies/2026010100"]) Deno.chmodSync(`${folder}/${name}`, 0o755);
  DataFolder.open(folder).close();
  assert.deepEqual(openToOthers(folder), []);
});

testInFolder("data folder: one that others may look into is warned of, with the command", (folder) => {
  const warnings = (mode: number) => {
    Deno.chmodSync(folder, mode);
    using opened = held(DataFolder.open(folder));
    return opened.folder.warnings;
  };
  assert.deepEqual(warnings(0o700), []);
  assert.deepEqual(warnings(0o755), [
    `The data folder ${folder} is open to other users (mode 0755): run chmod 700 ${Deno.realPathSync(folder)}`,
  ]);
  assert.equal(warnings(0o710).length, 1);
  using made = held(DataFolder.open(`${folder}/made`));
  assert.deepEqual(made.folder.warnings, []);
});

testInFolder(
  "data folder: a start takes one that its process releases meanwhile, and refuses one that stays taken",
  async (folder) => {
    const first = DataFolder.open(folder);
    const message = new RegExp(`^The data folder ${folder} is in use by another Stackroom: .* DATA_DIR .*$`);
    assert.throws(() => DataFolder.open(folder), { name: "DataFolderError", message });
    const waiting = DataFolder.openOnRelease(folder);
    first.close();
    const second = await waiting;
    await assert.rejects(DataFolder.openOnRelease(folder, 0), /is in use by another Stackroom: /);
    second.close();
  },
);

function held(folder: DataFolder) {
  return { folder, [Symbol.dispose]: () => folder.close() };
}
