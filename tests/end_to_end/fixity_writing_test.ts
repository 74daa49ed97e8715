import assert from "node:assert/strict";
import { bodyFiles, BUCKET, check, flipBit, PATH, put, results, type Row, sha256, withBucket } from "./fixity_scene.ts";
import type { GatewayClient } from "./gateway_client.ts";
import { endOfTask } from "./task_client.ts";

async function textOf(client: GatewayClient, key: string): Promise<string> {
  const response = await client.call("GET", `${BUCKET}/objects/${key}`);
  assert.equal(response.status, 200, key);
  return await response.text();
}

Deno.test("whole application: fixity writes a manifest that it and sha256sum understand, and replaces none unasked", async () => {
  await withBucket(async (curator) => {
    const bytes = { "2025/a.tif": 100_001, "2025/b/c.tif": 20, "2025/d%25e.txt": 30 };
    const sums = new Map<string, string>();
    for (const [key, size] of Object.entries(bytes)) {
      sums.set(decodeURIComponent(key), sha256(await put(curator, key, size)));
    }

    const { end, id } = await check(curator, { prefix: "2025/", write: "manifest", full: true, report_to: "reports/" });
    const text = [...sums].map(([key, sum]) => `${sum}  ${key.slice(5).replace("%", "%25")}\n`).join("");
    assert.equal(await textOf(curator, "2025/manifest-sha256.txt"), text);
    const written = end.written as Row[];
    assert.deepEqual(written.map(({ key }) => key), [
      "2025/manifest-sha256.txt",
      `reports/fixity-${id}.json`,
      `reports/fixity-${id}.csv`,
    ]);
    assert.deepEqual([written[0].size, written[0].sha256], [text.length, sha256(text)]);
    assert.equal(end.write_error, undefined);
    const stored = JSON.parse(await textOf(curator, `reports/fixity-${id}.json`));
    assert.deepEqual([stored.task_id, stored.intact, stored.rows.length], [id, 3, 3]);
    const csv = await textOf(curator, `reports/fixity-${id}.csv`);
    assert.equal(csv, await (await curator.call("GET", `${PATH}/${id}/report?format=csv`)).text());

    const download = await curator.call("GET", `${PATH}/${id}/report?format=manifest-sha256`);
    assert.match(download.headers.get("content-disposition") ?? "", /fixity-[^"]*-manifest-sha256\.txt/);
    assert.equal(await download.text(), text);

    // The same again is no conflict, other bytes are.
    const same = await check(curator, { prefix: "2025/", write: "manifest" });
    assert.deepEqual([same.end.status, same.end.write_error], ["done", undefined]);
    const none = await curator.call("GET", `${PATH}/${same.id}/report?format=manifest-sha256`);
    assert.equal(none.status, 409, await none.text());
    await put(curator, "2025/new.txt", 40);
    const other = await check(curator, { prefix: "2025/", write: "manifest" });
    assert.equal(other.end.status, "done");
    assert.match(String(other.end.write_error), /'2025\/manifest-sha256\.txt' is there already/);
    assert.equal(await textOf(curator, "2025/manifest-sha256.txt"), text);
    const replaced = await check(curator, { prefix: "2025/", write: "manifest", overwrite: true });
    assert.equal(replaced.end.write_error, undefined);
    assert.match(await textOf(curator, "2025/manifest-sha256.txt"), / {2}new\.txt\n/);

    const list = await check(curator, { prefix: "2025/", manifest: "2025/manifest-sha256.txt" });
    assert.deepEqual([list.end.damaged, list.end.not_in_manifest, (list.end.proved_by as Row).manifest], [0, 0, 4]);

    // A file system would take both for the same name.
    await put(curator, "2025/b//c.tif", 21);
    const folded = await check(curator, { prefix: "2025/", write: "manifest", full: true, overwrite: true });
    assert.deepEqual(folded.end.written, []);
    const unwritten = /read the name of the object '2025\/b\/\/c\.tif' as that of another file/;
    assert.match(String(folded.end.write_error), unwritten);
    const refused = await curator.call("GET", `${PATH}/${folded.id}/report?format=manifest-sha256`);
    assert.equal(refused.status, 409);
    assert.match((await refused.json()).detail, unwritten);
  });
});

Deno.test({
  name: "whole application: fixity makes a bag that is valid, and writes nothing where something is damaged",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await withBucket(async (curator, { dataFolder }) => {
      const none = await check(curator, { prefix: "bag/", write: "bag" });
      assert.match(String(none.end.write_error), /no object lies below 'bag\/data\/'/);
      await put(curator, "bag/data/a.tif", 100_001);
      await put(curator, "bag/data/in/b.tif", 100_002);
      await put(curator, "bag/readme.txt", 10);
      const made = await check(curator, { prefix: "bag/", write: "bag" });
      assert.equal(made.end.write_error, undefined);
      assert.deepEqual((made.end.written as Row[]).map(({ key }) => key), [
        "bag/manifest-sha256.txt",
        "bag/bag-info.txt",
        "bag/tagmanifest-sha256.txt",
        "bag/bagit.txt",
      ]);
      assert.match(await textOf(curator, "bag/bag-info.txt"), /^Payload-Oxum: 200003\.2$/m);
      const valid = await check(curator, { prefix: "bag/", bag: true, full: true });
      assert.deepEqual(valid.end.bag, { valid: true, problems: [], problem_codes: [] });
      assert.equal((valid.end.proved_by as Row).manifest, 6);

      await flipBit((await bodyFiles(dataFolder)).get(100_002) ?? assert.fail("no body"), 7);
      await put(curator, "bag/data/c.tif", 10);
      const damaged = await check(curator, { prefix: "bag/", write: "bag", overwrite: true });
      assert.deepEqual([damaged.end.damaged, damaged.end.written], [1, []]);
      assert.match(String(damaged.end.write_error), /was not written, since 1 objects are damaged/);
    });
  },
});

Deno.test({
  name:
    "whole application: fixity proves objects by an earlier check, which finds what is gone, and leaves out what was overwritten",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await withBucket(async (curator, { dataFolder }) => {
      for (const [key, size] of [["a", 100_001], ["b", 100_002], ["c", 100_003], ["d", 100_004]] as const) {
        await put(curator, key, size);
      }
      const first = await check(curator, { full: true, etags: "ignore" });
      assert.deepEqual([first.end.unproven, first.end.intact], [0, 4]);
      await flipBit((await bodyFiles(dataFolder)).get(100_002) ?? assert.fail("no body"), 7);
      await curator.json("DELETE", `${BUCKET}/objects/c`);
      await put(curator, "d", 50);
      await put(curator, "e", 60);
      const second = await check(curator, { baseline: first.id, full: true, etags: "ignore" });
      assert.deepEqual(results(second.rows), {
        a: "intact",
        b: "changed",
        c: "missing",
        d: "intact",
        e: "intact",
      });
      assert.deepEqual([second.end.baseline, (second.end.proved_by as Row).baseline], [first.id, 1]);

      const part = await curator.json("POST", PATH, { prefix: "a" });
      await endOfTask(curator, `${PATH}/${part.task_id}`);
      const refused: [Record<string, unknown>, RegExp][] = [
        [{ baseline: part.task_id }, /^baseline: that check has no rows of all objects/],
        [{ baseline: "6f0e0000-0000-4000-8000-000000000000" }, /^baseline: there is no such check/],
        [{ baseline: first.id, all_versions: true }, /^all_versions: /],
        [{ overwrite: true }, /^overwrite: has no meaning without write/],
        [{ write: "bag", prefix: "x" }, /^prefix: that of a bag/],
      ];
      for (const [body, message] of refused) {
        const response = await curator.call("POST", PATH, body);
        assert.equal(response.status, 422, JSON.stringify(body));
        assert.match((await response.json()).detail, message);
      }
    });
  },
});
