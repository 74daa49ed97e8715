import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import type { GatewayClient } from "./gateway_client.ts";
import { bodyFiles, BUCKET, check, flipBit, PATH, results, sha256, withBucket } from "./fixity_scene.ts";

const md5 = (text: string) => createHash("md5").update(text).digest("hex");

/** Stores a text under a key. */
async function putText(client: GatewayClient, key: string, text: string): Promise<void> {
  const response = await fetch(
    `${client.base}${BUCKET}/objects/${key.split("/").map(encodeURIComponent).join("/")}`,
    { method: "PUT", headers: { authorization: client.authorization }, body: text },
  );
  assert.equal(response.status, 200, await response.text());
}

Deno.test({
  name: "whole application: fixity compares a list of sha256sum and tells what is missing, changed and not named",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await withBucket(async (curator) => {
      for (const name of ["one.txt", "two words.txt", "back\\slash.txt", "replaced.txt", "extra.txt"]) {
        await putText(curator, `scans/${name}`, `bytes of ${name}`);
      }
      await putText(curator, "other.txt", "outside of the prefix");
      const line = (name: string, text = `bytes of ${name}`) => `${sha256(text)}  ${name}\n`;
      const list = line("one.txt") + `${md5("bytes of two words.txt")} *./two words.txt\n` +
        `\\${sha256("bytes of back\\slash.txt")}  back\\\\slash.txt\n` + line("replaced.txt", "other bytes") +
        line("lost.txt") + line("../other.txt") + line("zz/lost too.txt");
      await putText(curator, "lists/SHA256SUMS", list);

      const { end, rows, report } = await check(curator, {
        prefix: "scans/",
        manifest: "lists/SHA256SUMS",
        manifest_root: "scans/",
      });
      assert.deepEqual(results(rows), {
        "scans/extra.txt": "not_in_manifest",
        "scans/lost.txt": "missing",
        "scans/replaced.txt": "changed",
        "scans/zz/lost too.txt": "missing",
      });
      const { intact, changed, missing, not_in_manifest, damaged, files } = end;
      assert.deepEqual([intact, changed, missing, not_in_manifest, damaged, files], [3, 1, 2, 1, 3, 5]);
      assert.deepEqual(end.proved_by, {
        manifest: 3,
        baseline: 0,
        checksum: 0,
        checksum_of_parts: 0,
        etag: 0,
        etag_of_parts: 0,
      });
      const manifest = {
        bucket: "fixity-bits",
        keys: ["lists/SHA256SUMS"],
        root: "scans/",
        entries: 6,
        invalid_lines: 1,
      };
      assert.deepEqual([end.manifest, report.manifest], [manifest, manifest]);
      // The bytes are those that were stored: no damage of the disk.
      assert.match(String(rows.find(({ result }) => result === "changed")?.detail), /as they were stored/);
    });
  },
});

/** Long enough to be a file of its own in the data folder. */
const SECOND = "second".repeat(20_000);

/** A bag of BagIt 1.0 with two payload files and a name with a percent sign. */
async function putBag(client: GatewayClient, root: string, tags: Record<string, string> = {}): Promise<void> {
  const payload: Record<string, string> = { "data/a.txt": "first", "data/in/100% b.txt": SECOND };
  const names = Object.keys(payload);
  const manifest = names.map((name) => `${sha256(payload[name])}  ${name.replace("%", "%25")}\n`).join("");
  const bag: Record<string, string> = {
    "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
    "bag-info.txt": "Source-Organization: Archive\nPayload-Oxum: 120005.2\n",
    "manifest-sha256.txt": manifest,
    "manifest-md5.txt": names.map((name) => `${md5(payload[name])} ${name.replace("%", "%25")}\r\n`).join(""),
    ...tags,
  };
  bag["tagmanifest-sha256.txt"] = Object.keys(bag).map((name) => `${sha256(bag[name])}  ${name}\n`).join("");
  for (const [name, text] of Object.entries({ ...payload, ...bag })) await putText(client, root + name, text);
}

Deno.test({
  name: "whole application: fixity says whether a bag is valid, and what is wrong with it",
  sanitizeOps: false,
  sanitizeResources: false,
  async fn() {
    await withBucket(async (curator, { dataFolder }) => {
      await putBag(curator, "bags/one/");
      const folder = await curator.call("POST", `${BUCKET}/folders`, { folder_name: "bags/one/data/empty" });
      await folder.body?.cancel();
      const valid = await check(curator, { prefix: "bags/one/", bag: true, full: true });
      assert.deepEqual([valid.end.status, valid.end.bag], ["done", { valid: true, problems: [], problem_codes: [] }]);
      const proofs = Object.fromEntries(
        valid.rows.map(({ key, proved_by, algorithm }) => [key, [proved_by, algorithm]]),
      );
      assert.deepEqual(proofs["bags/one/data/in/100% b.txt"], ["manifest", "sha256"]);
      assert.deepEqual(proofs["bags/one/bagit.txt"], ["manifest", "sha256"]);
      assert.deepEqual(proofs["bags/one/tagmanifest-sha256.txt"], ["checksum", "crc64nvme"]);

      await putText(curator, "bags/one/data/extra.txt", "is not named");
      const body = (await bodyFiles(dataFolder)).get(SECOND.length) ?? assert.fail("it is no file");
      await flipBit(body, 70_000);
      await putText(curator, "bags/one/manifest-md5.txt", `${md5("first")}  data/a.txt\nrubbish\n`);
      const { end, rows } = await check(curator, { prefix: "bags/one/", bag: true });
      assert.deepEqual(results(rows), {
        "bags/one/data/extra.txt": "not_in_manifest",
        "bags/one/data/in/100% b.txt": "changed",
        "bags/one/manifest-md5.txt": "changed",
      });
      const faulty = end.bag as { readonly problem_codes: readonly { readonly code: string }[] };
      const codes = faulty.problem_codes.map(({ code }) => code);
      assert.deepEqual(codes, ["bag_oxum_differs", "bag_manifest_invalid_lines", "bag_manifest_fewer_files"]);
      assert.deepEqual({ ...faulty, problem_codes: [] }, {
        valid: false,
        problem_codes: [],
        problems: [
          "Payload-Oxum says 2 files of 120005 bytes: there are 3 of 120017 bytes",
          "manifest-md5.txt has 1 lines that name no file of the bag",
          "manifest-md5.txt names 1 files, another payload manifest 2",
        ],
      });
      await curator.json("DELETE", `${BUCKET}/objects/bags/one/data/a.txt`);
      const lost = await check(curator, { prefix: "bags/one/", bag: true });
      assert.equal(results(lost.rows)["bags/one/data/a.txt"], "missing");
      assert.equal(lost.end.damaged, 3);
    });
  },
});

Deno.test("whole application: fixity refuses what does not fit together, and manifests and bags that are not there", async () => {
  await withBucket(async (curator) => {
    await putText(curator, "m/manifest-sha3.txt", "x");
    await putText(curator, "m/SUMS", Buffer.alloc(100, "x").toString());
    const refused: [Record<string, unknown>, RegExp][] = [
      [{ manifest: "no/such" }, /^manifest: there is no object 'no\/such'/],
      [{ manifest: "m/manifest-sha3.txt" }, /^manifest: its name says an algorithm other than/],
      [{ manifest: "m/SUMS", bag: true }, /^manifest: a bag has manifests of its own/],
      [{ manifest: "m/SUMS", all_versions: true }, /^all_versions: manifests and earlier checks say nothing/],
      [{ manifest_root: "x/" }, /^manifest_root: has no meaning without manifest/],
      [{ manifest_bucket: "fixity-bits" }, /^manifest_bucket: has no meaning without manifest/],
      [{ bag: true, prefix: "m" }, /^prefix: that of a bag is empty or ends with a slash/],
      [{ bag: true, prefix: "m/" }, /^bag: there is no object 'm\/bagit.txt'/],
    ];
    for (const [body, message] of refused) {
      const response = await curator.call("POST", PATH, body);
      assert.equal(response.status, 422, JSON.stringify(body));
      assert.match((await response.json()).detail, message);
    }
    const elsewhere = await curator.call("POST", PATH, { manifest: "m/SUMS", manifest_bucket: "no-such-bucket" });
    assert.equal(elsewhere.status, 422, await elsewhere.text());
    // Lines that say nothing are counted, and name nothing.
    const { end } = await check(curator, { prefix: "m/", manifest: "m/SUMS" });
    assert.deepEqual([end.not_in_manifest, (end.manifest as Record<string, unknown>).invalid_lines], [1, 1]);
  });
});
