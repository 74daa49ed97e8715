import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import {
  endOfTask,
  type GatewayClient,
  logIn,
  madeBody,
  sendParts,
  taskEvents,
} from "@/tests/end_to_end/gateway_client.ts";
import { sharedStorage } from "./applications.ts";

const MIB = 1024 * 1024;

/** An account with a bucket for one test. */
interface Curator extends GatewayClient {
  readonly bucket: string;
  /** Of the bucket, below the API. */
  readonly at: string;
  /** Of its fixity checks. */
  readonly checks: string;
}

async function curatorOf(site: string, bucket: string): Promise<Curator> {
  const client = await logIn(site, "archive/curator");
  await client.json("POST", "/buckets", { bucket });
  return { ...client, bucket, at: `/buckets/${bucket}`, checks: `/buckets/${bucket}/fixity` };
}

/** A test of the shared application, of whose data folder it may damage what is its own: bodies are told by their sizes. */
function fixity(
  what: string,
  bucket: string,
  body: (curator: Curator, scene: { readonly site: string; readonly dataFolder: string }) => Promise<void>,
): void {
  Deno.test(`whole application: fixity ${what}`, async () => {
    const { site, dataFolder } = await sharedStorage();
    await body(await curatorOf(site, bucket), { site, dataFolder });
  });
}

const md5 = (text: string) => createHash("md5").update(text).digest("hex");
const sha256 = (bytes: string | Uint8Array) => createHash("sha256").update(bytes).digest("hex");

async function send(client: Curator, key: string, body: string | Uint8Array, headers = {}): Promise<void> {
  const response = await client.call("PUT", `${client.at}/objects/${encodeURIComponent(key)}?as=object`, body, headers);
  assert.equal(response.status, 200, await response.text());
}

async function put(client: Curator, key: string, size: number, headers = {}): Promise<Buffer<ArrayBuffer>> {
  const body = Buffer.concat([...madeBody(size, key.length)]) as Buffer<ArrayBuffer>;
  await send(client, key, body, headers);
  return body;
}

async function putInParts(client: Curator, key: string, size: number, partBytes: number): Promise<void> {
  const whole = Buffer.concat([...madeBody(size, key.length)]);
  const { uploadId, parts } = await sendParts(client, {
    bucket: client.bucket,
    key,
    sizeBytes: size,
    partBytes,
    breaksOnce: 0,
    bytes: (number, length) => Buffer.from(whole.subarray((number - 1) * partBytes, (number - 1) * partBytes + length)),
  });
  await client.json("POST", `${client.at}/multipart/${key}/complete`, { upload_id: uploadId, parts });
}

/** The paths of the files that hold bodies, by their sizes. */
async function bodyFiles(dataFolder: string): Promise<Map<number, string>> {
  const files = new Map<number, string>();
  for await (const hour of Deno.readDir(`${dataFolder}/bodies`)) {
    if (!hour.isDirectory) continue;
    for await (const { name } of Deno.readDir(`${dataFolder}/bodies/${hour.name}`)) {
      const path = `${dataFolder}/bodies/${hour.name}/${name}`;
      files.set((await Deno.stat(path)).size, path);
    }
  }
  return files;
}

async function flipBit(path: string, at: number): Promise<void> {
  const bytes = await Deno.readFile(path);
  bytes[at] ^= 1;
  await Deno.writeFile(path, bytes);
}

type Row = Record<string, unknown>;

async function check(client: Curator, body: Record<string, unknown> = {}) {
  const { task_id } = await client.json("POST", client.checks, body);
  const end = await endOfTask(client, `${client.checks}/${task_id}`);
  const report = await client.json("GET", `${client.checks}/${task_id}/report`);
  return { id: String(task_id), end, report, rows: report.rows as Row[] };
}

/** The keys of rows with their results. */
const results = (rows: readonly Row[]) => Object.fromEntries(rows.map(({ key, result }) => [key, result]));

fixity(
  "finds a flipped bit, a cut and a lost body, and proves what is intact",
  "bits-1",
  async (curator, { site, dataFolder }) => {
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
    assert.deepEqual(new Set(before.rows.map(({ proved_by }) => proved_by)), new Set(["checksum"]));

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

    const csv = await curator.call("GET", `${curator.checks}/${id}/report?format=csv`);
    assert.equal(csv.headers.get("content-type"), "text/csv; charset=utf-8");
    const lines = (await csv.text()).trimEnd().split("\r\n");
    assert.equal(lines.length, 5);
    assert.match(lines[2], /^b\/flipped\.tif,,changed,checksum,100003,/);

    const listed = await curator.json("GET", curator.checks);
    assert.deepEqual((listed.tasks as Row[]).map(({ task_id }) => task_id), [id, before.id]);
    const reader = await logIn(site, "archive/reader");
    for (const what of [`/${id}`, `/${id}/report`]) {
      const foreign = await reader.call("GET", curator.checks + what);
      assert.deepEqual([foreign.status, await foreign.json()], [404, { detail: "Task not found" }]);
    }
  },
);

fixity("reads older versions where asked to, and a slow check is canceled", "bits-2", async (curator) => {
  await curator.json("PUT", `${curator.at}/versioning`, { status: "enabled" });
  await put(curator, "twice.txt", 20_000);
  await put(curator, "twice.txt", 30_000);
  const { end: latest } = await check(curator);
  assert.deepEqual([latest.status, latest.intact, latest.bytes], ["done", 1, 30_000]);
  const { end: all, rows } = await check(curator, { all_versions: true, full: true });
  assert.deepEqual([all.status, all.intact, all.bytes], ["done", 2, 50_000]);
  assert.equal(new Set(rows.map(({ version_id }) => version_id)).size, 2);

  // Its routes take no key away from objects.
  await put(curator, "fixity/twice.txt", 10);
  assert.equal((await curator.call("DELETE", `${curator.at}/objects/fixity/twice.txt`)).status, 200);

  const refused = await curator.call("POST", curator.checks, { rate: 1 });
  assert.equal(refused.status, 422);
  assert.match(await refused.text(), /rate/);
  // At the lowest rate it takes minutes.
  await put(curator, "large.tif", 20 * MIB);
  const { task_id } = await curator.json("POST", curator.checks, { rate: 65_536 });
  await curator.json("DELETE", `${curator.checks}/${task_id}`);
  const canceled = await endOfTask(curator, `${curator.checks}/${task_id}`);
  assert.equal(canceled.status, "canceled");
  assert.ok(Number(canceled.bytes) < 20 * MIB);
});

Deno.test("whole application: fixity goes on after kill -9 and counts each object once", async () => {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-fixity-" });
  const first = await startApplication({ dataFolder, env: { ...STORAGE_ONLY, FIXITY_RATE: "400000" } });
  const curator = await curatorOf(first.site, "bits");
  for (let n = 0; n < 30; n++) await put(curator, `k${String(n).padStart(2, "0")}`, 50_000);
  const { task_id } = await curator.json("POST", curator.checks, { full: true });
  for await (const { data } of taskEvents(curator, `${curator.checks}/${task_id}`)) if (Number(data.files) > 5) break;
  await first.kill();

  const second = await startApplication({ dataFolder, env: STORAGE_ONLY });
  try {
    const again = await logIn(second.site, "archive/curator");
    const { status, files, bytes, intact } = await endOfTask(again, `${curator.checks}/${task_id}`);
    assert.deepEqual([status, files, bytes, intact], ["done", 30, 1_500_000, 30]);
    const { rows } = await again.json("GET", `${curator.checks}/${task_id}/report`);
    assert.equal(new Set((rows as Row[]).map(({ key }) => key)).size, 30);
    assert.equal((rows as Row[]).length, 30);
  } finally {
    await second.kill();
    await Deno.remove(dataFolder, { recursive: true });
  }
});

fixity("compares a list of sha256sum and tells what is missing, changed and not named", "bits-3", async (curator) => {
  for (const name of ["one.txt", "two words.txt", "back\\slash.txt", "replaced.txt", "extra.txt"]) {
    await send(curator, `scans/${name}`, `bytes of ${name}`);
  }
  await send(curator, "other.txt", "outside of the prefix");
  const line = (name: string, text = `bytes of ${name}`) => `${sha256(text)}  ${name}\n`;
  const list = line("one.txt") + `${md5("bytes of two words.txt")} *./two words.txt\n` +
    `\\${sha256("bytes of back\\slash.txt")}  back\\\\slash.txt\n` + line("replaced.txt", "other bytes") +
    line("lost.txt") + line("../other.txt") + line("zz/lost too.txt");
  await send(curator, "lists/SHA256SUMS", list);

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
  assert.equal((end.proved_by as Row).manifest, 3);
  const manifest = {
    bucket: curator.bucket,
    keys: ["lists/SHA256SUMS"],
    root: "scans/",
    entries: 6,
    invalid_lines: 1,
  };
  assert.deepEqual([end.manifest, report.manifest], [manifest, manifest]);
  // The bytes are those that were stored: no damage of the disk.
  assert.match(String(rows.find(({ result }) => result === "changed")?.detail), /as they were stored/);
});

/** Long enough to be a file of its own in the data folder. */
const SECOND = "second".repeat(20_000);

/** A bag of BagIt 1.0 with two payload files and a name with a percent sign. */
async function putBag(client: Curator, root: string, tags: Record<string, string> = {}): Promise<void> {
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
  for (const [name, text] of Object.entries({ ...payload, ...bag })) await send(client, root + name, text);
}

fixity("says whether a bag is valid, and what is wrong with it", "bits-4", async (curator, { dataFolder }) => {
  await putBag(curator, "bags/one/");
  const folder = await curator.call("POST", `${curator.at}/folders`, { folder_name: "bags/one/data/empty" });
  await folder.body?.cancel();
  const valid = await check(curator, { prefix: "bags/one/", bag: true, full: true });
  assert.deepEqual([valid.end.status, valid.end.bag], ["done", { valid: true, problems: [], problem_codes: [] }]);
  const proofs = Object.fromEntries(
    valid.rows.map(({ key, proved_by, algorithm }) => [key, [proved_by, algorithm]]),
  );
  assert.deepEqual(proofs["bags/one/data/in/100% b.txt"], ["manifest", "sha256"]);
  assert.deepEqual(proofs["bags/one/bagit.txt"], ["manifest", "sha256"]);
  assert.deepEqual(proofs["bags/one/tagmanifest-sha256.txt"], ["checksum", "crc64nvme"]);

  await send(curator, "bags/one/data/extra.txt", "is not named");
  const body = (await bodyFiles(dataFolder)).get(SECOND.length) ?? assert.fail("it is no file");
  await flipBit(body, 70_000);
  await send(curator, "bags/one/manifest-md5.txt", `${md5("first")}  data/a.txt\nrubbish\n`);
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
  await curator.json("DELETE", `${curator.at}/objects/bags/one/data/a.txt`);
  const lost = await check(curator, { prefix: "bags/one/", bag: true });
  assert.equal(results(lost.rows)["bags/one/data/a.txt"], "missing");
  assert.equal(lost.end.damaged, 3);
});

fixity("refuses what does not fit together, and manifests and bags that are not there", "bits-5", async (curator) => {
  await send(curator, "m/manifest-sha3.txt", "x");
  await send(curator, "m/SUMS", Buffer.alloc(100, "x").toString());
  const refused: [Record<string, unknown>, RegExp][] = [
    [{ manifest: "no/such" }, /^manifest: there is no object 'no\/such'/],
    [{ manifest: "m/manifest-sha3.txt" }, /^manifest: its name says an algorithm other than/],
    [{ manifest: "m/SUMS", bag: true }, /^manifest: a bag has manifests of its own/],
    [{ manifest: "m/SUMS", all_versions: true }, /^all_versions: manifests and earlier checks say nothing/],
    [{ manifest_root: "x/" }, /^manifest_root: has no meaning without manifest/],
    [{ manifest_bucket: curator.bucket }, /^manifest_bucket: has no meaning without manifest/],
    [{ bag: true, prefix: "m" }, /^prefix: that of a bag is empty or ends with a slash/],
    [{ bag: true, prefix: "m/" }, /^bag: there is no object 'm\/bagit.txt'/],
  ];
  for (const [body, message] of refused) {
    const response = await curator.call("POST", curator.checks, body);
    assert.equal(response.status, 422, JSON.stringify(body));
    assert.match((await response.json()).detail, message);
  }
  const elsewhere = await curator.call("POST", curator.checks, {
    manifest: "m/SUMS",
    manifest_bucket: "no-such-bucket",
  });
  assert.equal(elsewhere.status, 422, await elsewhere.text());
  // Lines that say nothing are counted, and name nothing.
  const { end } = await check(curator, { prefix: "m/", manifest: "m/SUMS" });
  assert.deepEqual([end.not_in_manifest, (end.manifest as Record<string, unknown>).invalid_lines], [1, 1]);
});

fixity("writes its report, and offers a manifest that it and sha256sum understand", "bits-6", async (curator) => {
  const textOf = async (path: string) => {
    const response = await curator.call("GET", path);
    assert.equal(response.status, 200, path);
    return await response.text();
  };
  const sums = new Map<string, string>();
  for (const [key, size] of [["2025/a.tif", 110_001], ["2025/b/c.tif", 20], ["2025/d%e.txt", 30]] as const) {
    sums.set(key, sha256(await put(curator, key, size)));
  }
  const { end, id } = await check(curator, { prefix: "2025/", full: true, report_to: "reports/" });
  const keys = ["json", "csv"].map((extension) => `reports/fixity-${id}.${extension}`);
  const written = end.written as Row[];
  assert.deepEqual([written.map(({ key }) => key), end.write_error], [keys, undefined]);
  const [json, csv] = await Promise.all(keys.map((key) => textOf(`${curator.at}/objects/${key}`)));
  assert.deepEqual([written[0].size, written[0].sha256], [json.length, sha256(json)]);
  const stored = JSON.parse(json);
  assert.deepEqual([stored.task_id, stored.intact, stored.rows.length], [id, 3, 3]);
  assert.equal(csv, await textOf(`${curator.checks}/${id}/report?format=csv`));

  const download = await curator.call("GET", `${curator.checks}/${id}/report?format=manifest-sha256`);
  assert.match(download.headers.get("content-disposition") ?? "", /fixity-[^"]*-manifest-sha256\.txt/);
  const manifest = await download.text();
  assert.equal(manifest, [...sums].map(([key, sum]) => `${sum}  ${key.slice(5).replace("%", "%25")}\n`).join(""));
  await send(curator, "2025/manifest-sha256.txt", manifest);
  const list = await check(curator, { prefix: "2025/", manifest: "2025/manifest-sha256.txt" });
  assert.deepEqual([list.end.damaged, list.end.not_in_manifest, (list.end.proved_by as Row).manifest], [0, 0, 3]);

  // Without a row of each object there is none, nor with a name that a file system would take for another.
  await put(curator, "2025/b//c.tif", 21);
  const folded = await check(curator, { prefix: "2025/", full: true });
  const other = /the name of the object '2025\/b\/\/c\.tif' as that of another file/;
  for (const [of, detail] of [[list.id, /does not have all objects/], [folded.id, other]] as const) {
    const refused = await curator.call("GET", `${curator.checks}/${of}/report?format=manifest-sha256`);
    assert.equal(refused.status, 409);
    assert.match((await refused.json()).detail, detail);
  }
  for (const member of [{ write: "manifest" }, { overwrite: false }]) {
    const removed = await curator.call("POST", curator.checks, member);
    assert.equal(removed.status, 400);
    assert.match((await removed.json()).detail, new RegExp(`^${Object.keys(member)[0]}: checks no longer write`));
  }
});

fixity(
  "proves objects by an earlier check, which finds what is gone, and leaves out what was overwritten",
  "bits-7",
  async (curator, { dataFolder }) => {
    for (const [key, size] of [["a", 130_001], ["b", 130_002], ["c", 130_003], ["d", 130_004]] as const) {
      await put(curator, key, size);
    }
    const first = await check(curator, { full: true, etags: "ignore" });
    assert.deepEqual([first.end.unproven, first.end.intact], [0, 4]);
    await flipBit((await bodyFiles(dataFolder)).get(130_002) ?? assert.fail("no body"), 7);
    await curator.json("DELETE", `${curator.at}/objects/c`);
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

    const part = await curator.json("POST", curator.checks, { prefix: "a" });
    await endOfTask(curator, `${curator.checks}/${part.task_id}`);
    const refused: [Record<string, unknown>, RegExp][] = [
      [{ baseline: part.task_id }, /^baseline: that check has no rows of all objects/],
      [{ baseline: "6f0e0000-0000-4000-8000-000000000000" }, /^baseline: there is no such check/],
      [{ baseline: first.id, all_versions: true }, /^all_versions: /],
    ];
    for (const [body, message] of refused) {
      const response = await curator.call("POST", curator.checks, body);
      assert.equal(response.status, 422, JSON.stringify(body));
      assert.match((await response.json()).detail, message);
    }
  },
);
