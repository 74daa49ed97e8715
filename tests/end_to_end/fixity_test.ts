import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import {
  bodyFiles,
  BUCKET,
  check,
  curatorOf,
  flipBit,
  MIB,
  PATH,
  put,
  putInParts,
  results,
  type Row,
  sha256,
  withBucket,
  withData,
} from "./fixity_scene.ts";
import { logIn, madeBody } from "./gateway_client.ts";
import { endOfTask, taskEvents } from "./task_client.ts";

Deno.test({
  name: "whole application: fixity finds a flipped bit, a cut and a lost body, and proves what is intact",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await withBucket(async (curator, { site, dataFolder }) => {
      const sound = await put(curator, "a/sound.tif", 100_001);
      await put(curator, "a/summed.tif", 100_002, {
        "x-amz-checksum-sha256": createHash("sha256").update(
          Buffer.concat([...madeBody(100_002, "a/summed.tif".length)]),
        ).digest("base64"),
      });
      await put(curator, "b/flipped.tif", 100_003);
      await put(curator, "b/cut.tif", 100_004);
      await put(curator, "b/lost.tif", 100_005);
      await put(curator, "b/small.txt", 12);
      await putInParts(curator, "c/parts.tif", 11 * MIB + 6, 5 * MIB);
      await putInParts(curator, "c/flipped-parts.tif", 11 * MIB + 7, 5 * MIB);

      const before = await check(curator, { full: true });
      assert.deepEqual([before.end.status, before.end.intact, before.end.damaged], ["done", 8, 0]);
      assert.equal(before.rows.find(({ key }) => key === "a/sound.tif")?.sha256, sha256(sound));
      assert.deepEqual(
        Object.fromEntries(before.rows.map(({ key, proved_by }) => [key, proved_by])),
        {
          "a/sound.tif": "checksum",
          "a/summed.tif": "checksum",
          "b/cut.tif": "checksum",
          "b/flipped.tif": "checksum",
          "b/lost.tif": "checksum",
          "b/small.txt": "checksum",
          "c/flipped-parts.tif": "checksum",
          "c/parts.tif": "checksum",
        },
      );

      const files = await bodyFiles(dataFolder);
      const path = (size: number) => files.get(size) ?? assert.fail(`no body of ${size} bytes`);
      await flipBit(path(100_003), 77_000);
      await flipBit(path(MIB + 7), 3);
      await Deno.truncate(path(100_004), 50_000);
      await Deno.remove(path(100_005));

      const { id, end, rows, report } = await check(curator);
      assert.deepEqual(results(rows), {
        "b/cut.tif": "unreadable",
        "b/flipped.tif": "changed",
        "b/lost.tif": "unreadable",
        "c/flipped-parts.tif": "changed",
      });
      const { intact, changed, unreadable, damaged, files: read } = end;
      assert.deepEqual([intact, changed, unreadable, damaged, read], [4, 2, 2, 4, 6]);
      assert.equal(report.damaged, 4);
      const flipped = rows.find(({ key }) => key === "b/flipped.tif");
      assert.equal(flipped?.algorithm, "crc64nvme");
      assert.notEqual(flipped?.actual, flipped?.expected);

      const csv = await curator.call("GET", `${PATH}/${id}/report?format=csv`);
      assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8");
      const lines = (await csv.text()).trimEnd().split("\r\n");
      assert.equal(lines.length, 5);
      assert.match(lines[2], /^b\/flipped\.tif,,changed,checksum,100003,/);

      const listed = await curator.json("GET", PATH);
      assert.deepEqual((listed.tasks as Row[]).map(({ task_id }) => task_id), [id, before.id]);
      const reader = await logIn(site, "archive/reader");
      for (const what of [`/${id}`, `/${id}/report`]) {
        const foreign = await reader.call("GET", PATH + what);
        assert.deepEqual([foreign.status, await foreign.json()], [404, { detail: "Task not found" }]);
      }
    });
  },
});

Deno.test({
  name: "whole application: fixity reads older versions where asked to, and a slow check is canceled",
  async fn() {
    await withBucket(async (curator) => {
      await curator.json("PUT", `${BUCKET}/versioning`, { status: "enabled" });
      await put(curator, "twice.txt", 20_000);
      await put(curator, "twice.txt", 30_000);
      const { end: latest } = await check(curator);
      assert.deepEqual([latest.status, latest.intact, latest.bytes], ["done", 1, 30_000]);
      const { end: all, rows } = await check(curator, { all_versions: true, full: true });
      assert.deepEqual([all.status, all.intact, all.bytes], ["done", 2, 50_000]);
      assert.equal(new Set(rows.map(({ version_id }) => version_id)).size, 2);

      // Its routes take no key away from objects.
      await put(curator, "fixity/twice.txt", 10);
      assert.equal((await curator.call("DELETE", `${BUCKET}/objects/fixity/twice.txt`)).status, 200);

      const refused = await curator.call("POST", PATH, { rate: 1 });
      assert.equal(refused.status, 422);
      assert.match(await refused.text(), /rate/);
      // At the lowest rate it takes minutes.
      await put(curator, "large.tif", 20 * MIB);
      const { task_id } = await curator.json("POST", PATH, { rate: 65_536 });
      await curator.json("DELETE", `${PATH}/${task_id}`);
      const canceled = await endOfTask(curator, `${PATH}/${task_id}`);
      assert.equal(canceled.status, "canceled");
      assert.ok(Number(canceled.bytes) < 20 * MIB);
    });
  },
});

Deno.test({
  name: "whole application: fixity goes on after kill -9 and counts each object once",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await withData(async (start) => {
      const first = await start({ FIXITY_RATE: "400000" });
      const curator = await curatorOf(first.site);
      for (let n = 0; n < 30; n++) await put(curator, `k${String(n).padStart(2, "0")}`, 50_000);
      const { task_id } = await curator.json("POST", PATH, { full: true });
      for await (const { data } of taskEvents(curator, `${PATH}/${task_id}`)) if (Number(data.files) > 5) break;
      await first.kill();

      const second = await start();
      const again = await logIn(second.site, "archive/curator");
      const { status, files, bytes, intact } = await endOfTask(again, `${PATH}/${task_id}`);
      assert.deepEqual([status, files, bytes, intact], ["done", 30, 1_500_000, 30]);
      const { rows } = await again.json("GET", `${PATH}/${task_id}/report`);
      assert.equal(new Set((rows as Row[]).map(({ key }) => key)).size, 30);
      assert.equal((rows as Row[]).length, 30);
    });
  },
});
