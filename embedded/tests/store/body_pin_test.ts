import assert from "node:assert/strict";
import { pinBodies, sweepBodies } from "@/embedded/store/body_folder.ts";
import { createBucket, deleteObject, putObject, writtenStore } from "./changes_fixture.ts";

const HOUR = "bodies/2026010100";

/** A store whose one object has its body in a file. */
function openStore() {
  const store = writtenStore([createBucket()]);
  Deno.mkdirSync(`${store.folder}/${HOUR}`);
  Deno.writeTextFileSync(`${store.folder}/${HOUR}/body`, "body");
  assert.ok(store.writer.commit([putObject("k", "body", { body: { file: `${HOUR}/body` } })])[0].ok);
  return {
    ...store,
    remove: () => assert.ok(store.writer.commit([deleteObject("k")])[0].ok),
    bodies: () => [...Deno.readDirSync(`${store.folder}/${HOUR}`)].length,
  };
}

Deno.test("pinned bodies: a deleted body stays until the last pin is released, then goes without another change", async () => {
  using store = openStore();
  const [first, second] = [await pinBodies(store.folder), await pinBodies(store.folder)];
  store.remove();
  assert.deepEqual([store.bodies(), store.writer.isPinned], [1, true]);
  first.release();
  store.writer.commit([]);
  assert.deepEqual([store.bodies(), store.writer.isPinned], [1, true]);
  second.release();
  store.writer.commit([]);
  assert.deepEqual([store.bodies(), store.writer.isPinned], [0, false]);
});

Deno.test("pinned bodies: a deletion succeeds when the folder of bodies is missing", () => {
  using store = openStore();
  Deno.removeSync(`${store.folder}/bodies`, { recursive: true });
  store.remove();
  store.writer.commit([]);
  assert.equal(store.index.prepare("SELECT count(*) AS n FROM garbage").get()?.n, 0);
});

Deno.test("pinned bodies: a deleted body stays while the pin cannot be checked", () => {
  using store = openStore();
  const bodies = `${store.folder}/bodies`;
  Deno.renameSync(bodies, `${bodies}.kept`);
  Deno.symlinkSync(bodies, bodies);
  store.remove();
  assert.equal(store.writer.isPinned, true);
  Deno.removeSync(bodies);
  Deno.renameSync(`${bodies}.kept`, bodies);
  store.writer.commit([]);
  assert.deepEqual([store.bodies(), store.writer.isPinned], [0, false]);
});

Deno.test("pinned bodies: a start leaves deleted bodies to a later start", async () => {
  using store = openStore();
  const pin = await pinBodies(store.folder);
  store.remove();
  store.index.exec("UPDATE swept SET through = '2026010100'");
  sweepBodies(store.folder, store.index, new Date("2026-01-01T00:00:00Z"));
  assert.equal(store.bodies(), 1);
  pin.release();
  sweepBodies(store.folder, store.index);
  assert.equal(store.bodies(), 0);
});
