import assert from "node:assert/strict";
import { fileSink } from "@/lib/operations/audit/file_sink.ts";
import { event, sealer, withoutBlockingCalls } from "./audit_fixture.ts";
import { testInFolder } from "@/tests/test_in_folder.ts";

const HOSTILE = "two\nlines <34>1 \u2028\u202e\u0085 ÅÄÖ 😀\u0000";
const hostile = event({ target: { kind: "object", bucket: "letters", key: HOSTILE } });

testInFolder("file sink: a file that was renamed is created anew, and what is in it stays", async (folder) => {
  const path = `${folder}/audit.jsonl`;
  const sink = fileSink(path);
  const seal = sealer("00000000");
  await sink.append([seal(hostile), seal(event())]);
  Deno.renameSync(path, `${path}.1`);
  await sink.append([seal(event())]);
  await sink.close?.();
  await fileSink(path).append([seal(event())]);
  const ids = (path: string) =>
    Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => JSON.parse(line).id.slice("00000000.".length));
  assert.deepEqual([ids(`${path}.1`), ids(path)], [["1", "2"], ["3", "4"]]);
  assert.equal(JSON.parse(Deno.readTextFileSync(`${path}.1`).split("\n")[0]).target.key, HOSTILE);
  assert.equal(Deno.statSync(path).mode! & 0o777, 0o600);
});

testInFolder("file sink: no call blocks the process, neither for a new file nor for a record", async (folder) => {
  const sink = fileSink(`${folder}/audit.jsonl`);
  const seal = sealer("00000000");
  {
    using _ = withoutBlockingCalls();
    await sink.append([seal(event())]);
    await sink.append([seal(event())]);
    await sink.close?.();
  }
});

testInFolder("file sink: a record does not follow half a line that a loss of power left", async (folder) => {
  const path = `${folder}/audit.jsonl`;
  Deno.writeTextFileSync(path, '{"v":1,"id":"00000');
  const sink = fileSink(path);
  await sink.append([sealer("00000000")(event())]);
  await sink.close?.();
  const lines = Deno.readTextFileSync(path).trimEnd().split("\n");
  assert.equal(lines.length, 2);
  assert.equal(JSON.parse(lines[1]).id, "00000000.1");
});

Deno.test("file sink: a disk without room is an error, and the record can be passed again", async () => {
  const sink = fileSink("/dev/full");
  const record = sealer("00000000")(event());
  await assert.rejects(sink.append([record]), /No space left/);
  await assert.rejects(sink.append([record]), /No space left/);
  await sink.close?.();
});
