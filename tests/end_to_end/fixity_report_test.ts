import assert from "node:assert/strict";
import { bodyFiles, BUCKET, check, flipBit, PATH, put, results, type Row, sha256, withBucket } from "./fixity_scene.ts";
import { endOfTask } from "./task_client.ts";

Deno.test("whole application: fixity writes its report, and offers a manifest that it and sha256sum understand", async () => {
  await withBucket(async (curator) => {
    const textOf = async (path: string) => {
      const response = await curator.call("GET", path);
      assert.equal(response.status, 200, path);
      return await response.text();
    };
    const sums = new Map<string, string>();
    for (const [key, size] of [["2025/a.tif", 100_001], ["2025/b/c.tif", 20], ["2025/d%25e.txt", 30]] as const) {
      sums.set(decodeURIComponent(key), sha256(await put(curator, key, size)));
    }
    const { end, id } = await check(curator, { prefix: "2025/", full: true, report_to: "reports/" });
    const keys = ["json", "csv"].map((extension) => `reports/fixity-${id}.${extension}`);
    const written = end.written as Row[];
    assert.deepEqual([written.map(({ key }) => key), end.write_error], [keys, undefined]);
    const [json, csv] = await Promise.all(keys.map((key) => textOf(`${BUCKET}/objects/${key}`)));
    assert.deepEqual([written[0].size, written[0].sha256], [json.length, sha256(json)]);
    const stored = JSON.parse(json);
    assert.deepEqual([stored.task_id, stored.intact, stored.rows.length], [id, 3, 3]);
    assert.equal(csv, await textOf(`${PATH}/${id}/report?format=csv`));

    const download = await curator.call("GET", `${PATH}/${id}/report?format=manifest-sha256`);
    assert.match(download.headers.get("content-disposition") ?? "", /fixity-[^"]*-manifest-sha256\.txt/);
    const manifest = await download.text();
    assert.equal(manifest, [...sums].map(([key, sum]) => `${sum}  ${key.slice(5).replace("%", "%25")}\n`).join(""));
    const sent = await fetch(`${curator.base}${BUCKET}/objects/2025/manifest-sha256.txt`, {
      method: "PUT",
      headers: { authorization: curator.authorization },
      body: manifest,
    });
    assert.equal(sent.status, 200, await sent.text());
    const list = await check(curator, { prefix: "2025/", manifest: "2025/manifest-sha256.txt" });
    assert.deepEqual([list.end.damaged, list.end.not_in_manifest, (list.end.proved_by as Row).manifest], [0, 0, 3]);

    // Without a row of each object there is none, nor with a name that a file system would take for another.
    await put(curator, "2025/b//c.tif", 21);
    const folded = await check(curator, { prefix: "2025/", full: true });
    for (
      const [of, detail] of [[list.id, /does not have all objects/], [
        folded.id,
        /the name of the object '2025\/b\/\/c\.tif' as that of another file/,
      ]] as const
    ) {
      const refused = await curator.call("GET", `${PATH}/${of}/report?format=manifest-sha256`);
      assert.equal(refused.status, 409);
      assert.match((await refused.json()).detail, detail);
    }
    for (const member of [{ write: "manifest" }, { overwrite: false }]) {
      const removed = await curator.call("POST", PATH, member);
      assert.equal(removed.status, 400);
      assert.match((await removed.json()).detail, new RegExp(`^${Object.keys(member)[0]}: checks no longer write`));
    }
  });
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
      ];
      for (const [body, message] of refused) {
        const response = await curator.call("POST", PATH, body);
        assert.equal(response.status, 422, JSON.stringify(body));
        assert.match((await response.json()).detail, message);
      }
    });
  },
});
