import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { bindBodies, BODY_MARK, sweepBodies } from "@/embedded/store/body_folder.ts";
import { openIndexForWriting } from "@/embedded/store/index.ts";
import { Statements } from "@/embedded/store/statements.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const HOUR = "bodies/2026010100";

/** What a start does with a folder's index and bodies, before it serves. */
function start(folder: string): void {
  const index = openIndexForWriting(folder);
  try {
    bindBodies(folder, new Statements(index));
    sweepBodies(folder, index);
  } finally {
    index.close();
  }
}

/** A folder that was started twice, with a body that its index names. */
function usedFolder(): string {
  const folder = Deno.makeTempDirSync();
  start(folder);
  const index = openIndexForWriting(folder);
  index.exec(`INSERT INTO parts VALUES ('u', 1, 4, '', NULL, 0, NULL, '${HOUR}/named')`);
  index.close();
  Deno.mkdirSync(`${folder}/${HOUR}`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/${HOUR}/named`, "body");
  start(folder);
  return folder;
}

function bodies(folder: string): string[] {
  return [...Deno.readDirSync(`${folder}/${HOUR}`)].map(({ name }) => name);
}

const damages: Record<string, { damage: (folder: string) => void; says: RegExp }> = {
  "is missing": { damage: (folder) => Deno.removeSync(`${folder}/index.db`), says: /index\.db is missing.*backup/ },
  "is empty": { damage: (folder) => Deno.truncateSync(`${folder}/index.db`), says: /index\.db is empty.*backup/ },
  "has no tables": {
    damage(folder) {
      Deno.removeSync(`${folder}/index.db`);
      const index = new DatabaseSync(`${folder}/index.db`);
      index.exec("PRAGMA journal_mode = WAL");
      index.close();
    },
    says: /index\.db is empty.*backup/,
  },
  "was made after them": {
    damage(folder) {
      const other = usedFolder();
      Deno.copyFileSync(`${other}/index.db`, `${folder}/index.db`);
      Deno.removeSync(other, { recursive: true });
    },
    says: /not the one of its bodies/,
  },
  "is from before": {
    damage(folder) {
      Deno.copyFileSync(`${folder}/index.db`, `${folder}/kept`);
      start(folder);
      Deno.renameSync(`${folder}/kept`, `${folder}/index.db`);
    },
    says: /older than its bodies/,
  },
  "is from before it was tied to them": {
    damage(folder) {
      const index = new DatabaseSync(`${folder}/index.db`);
      index.exec("DELETE FROM identity");
      index.close();
    },
    says: /older than its bodies/,
  },
  "has lost its tie to them": {
    damage: (folder) => Deno.removeSync(`${folder}/${BODY_MARK}`),
    says: /bodies\.json is missing/,
  },
};

for (const [name, { damage, says }] of Object.entries(damages)) {
  Deno.test(`index: where the one beside the bodies ${name}, the start ends and every body stays`, () => {
    const folder = usedFolder();
    using _removal = removeAtEnd(folder);
    damage(folder);
    assert.throws(() => start(folder), { name: "DataFolderError", message: says });
    assert.throws(() => start(folder), { name: "DataFolderError", message: /^[^\n]+ backup[^\n]+$/ });
    assert.deepEqual(bodies(folder), ["named"]);
  });
}

testInFolder("index: a missing index is not created again beside its log", (folder) => {
  Deno.writeTextFileSync(`${folder}/index.db-wal`, "all there is");
  assert.throws(() => start(folder), /index\.db is missing/);
  assert.equal(Deno.readTextFileSync(`${folder}/index.db-wal`), "all there is");
});

testInFolder("index: an interrupted first start continues", (folder) => {
  Deno.createSync(`${folder}/index.db`).close();
  openIndexForWriting(folder).close();
  Deno.writeTextFileSync(`${folder}/${BODY_MARK}`, JSON.stringify({ index: "made", starts: 1 }));
  start(folder);
  Deno.removeSync(`${folder}/${BODY_MARK}`);
  start(folder);
  start(folder);
});

testInFolder("index: a new index removes no bodies", (folder) => {
  const index = openIndexForWriting(folder);
  Deno.mkdirSync(`${folder}/${HOUR}`, { recursive: true });
  Deno.writeTextFileSync(`${folder}/${HOUR}/unknown`, "body");
  sweepBodies(folder, index);
  assert.deepEqual(bodies(folder), ["unknown"]);
  index.close();
});
