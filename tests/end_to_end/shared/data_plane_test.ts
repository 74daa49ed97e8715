import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { unzipped } from "@/tests/lib/tasks/zip/strict_zip.ts";
import { endOfTask, type GatewayClient, logIn, sendParts, streamDigest } from "@/tests/end_to_end/gateway_client.ts";
import { sharedStorage } from "./applications.ts";

const MIB = 1024 * 1024;

async function withBucket(bucket: string, body: (client: GatewayClient, site: string) => Promise<void>): Promise<void> {
  const { site } = await sharedStorage();
  const client = await logIn(site, "archive/curator");
  await client.json("POST", "/buckets", { bucket });
  await body(client, site);
}

const partBytes = (number: number, length: number) => Buffer.alloc(length, `part ${number};`);

Deno.test("whole application: a file goes up in parts, one of them twice, and comes out whole", () =>
  withBucket("parts", async (client) => {
    const upload = { bucket: "parts", key: "film/å 1.mkv", sizeBytes: 22 * MIB + 5, partBytes: 5 * MIB, breaksOnce: 3 };
    const { uploadId, parts, broken } = await sendParts(client, { ...upload, bytes: partBytes });
    assert.deepEqual([parts.length, broken], [5, 1]);
    const path = `/buckets/parts/multipart/${upload.key}`;
    const done = await client.json("POST", `${path}/complete`, { upload_id: uploadId, parts });
    const hash = createHash("sha256");
    for (let number = 1; number <= 5; number++) hash.update(partBytes(number, number < 5 ? 5 * MIB : 2 * MIB + 5));
    const read = await client.call("GET", `/buckets/parts/objects/${upload.key}`);
    assert.equal(read.headers.get("etag"), done.etag);
    assert.deepEqual(await streamDigest(read.body), { digest: hash.digest("hex"), size: upload.sizeBytes });
    assert.deepEqual((await client.json("GET", "/buckets/parts/uploads")).uploads, []);
  }));

/** Objects and the names that they have in an archive. */
const ENTRIES: readonly (readonly [key: string, name: string, text: string])[] = [
  ["2026/brev.txt", "2026/brev.txt", "hej"],
  ["2026/BREV.txt", "2026/BREV (2).txt", "HEJ"],
  ["2026/tom", "2026/tom", ""],
  ["/etc/passwd", "etc/passwd", "root"],
  ["../../utanför.txt", "__/__/utanför.txt", "ut"],
  ["a\nb\u0001\\c", "a_b__c", "tecken"],
  ["con.txt", "_con.txt", "enhet"],
  ["_errors.txt", "_errors (2).txt", "min egen"],
];

const PYTHON = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps({info.filename: archive.read(info).decode("latin-1") for info in archive.infolist()}))
`;

/** What a program says of an archive; null where this machine does not have it. */
async function judged(program: string, args: readonly string[]): Promise<string | null> {
  try {
    const { code, stdout, stderr } = await new Deno.Command(program, { args: [...args], env: { LC_ALL: "C.UTF-8" } })
      .output();
    assert.equal(code, 0, new TextDecoder().decode(stderr) + new TextDecoder().decode(stdout));
    return new TextDecoder().decode(stdout);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}

Deno.test("whole application: an archive has safe names, lists what is missing, is nobody else's, and other programs read it", () =>
  withBucket("parcels", async (client, site) => {
    const path = "/buckets/parcels/objects/download";
    for (const [key, , text] of ENTRIES) {
      await client.json("PUT", `/buckets/parcels/objects/${encodeURIComponent(key)}?as=object`, text);
    }
    for (const body of [{}, { keys: [] }, { keys: null, prefix: null }]) {
      const response = await client.call("POST", path, body);
      assert.deepEqual([response.status, await response.json()], [400, {
        detail: "Provide either 'prefix' or 'keys'",
      }]);
    }
    const nothing = await client.call("POST", path, { prefix: "nowhere/" });
    const none = { detail: "No objects found under the given prefix", code: "archive_empty" };
    assert.deepEqual([nothing.status, await nothing.json()], [400, none]);
    for (const body of [{ keys: ["a"] }, { prefix: "" }]) {
      assert.equal((await client.call("POST", "/buckets/nowhere/objects/download", body)).status, 404);
    }
    const keys = [...ENTRIES.map(([key]) => key), "finns inte, alls", "2026/tom"];
    const begun = await client.call("POST", path, { keys });
    const { task_id: id, download_url: url, ...started } = await begun.json();
    assert.deepEqual(
      [begun.status, started.status, started.total, started.completed, started.failed, started.failed_keys],
      [202, "processing", 9, 0, 0, []],
    );
    const last = await endOfTask(client, `${path}/${id}`);
    assert.deepEqual(
      [last.status, last.completed, last.failed, last.failed_keys],
      ["ready", 9, 1, ["finns inte, alls"]],
    );

    const polled = await client.call("GET", `${path}/${id}`);
    const bytes = await polled.bytes();
    const expected: Record<string, string | null> = {
      "content-type": "application/zip",
      "content-disposition": 'attachment; filename="parcels-objects.zip"',
      "content-length": null,
      "accept-ranges": null,
      "x-zip-size": String(bytes.length),
      "x-zip-failed": "1",
      "x-zip-failed-keys": "finns%20inte%2C%20alls",
      "cache-control": "private, no-cache",
    };
    for (const [name, value] of Object.entries(expected)) assert.equal(polled.headers.get(name), value, name);
    const found = unzipped(bytes);
    const texts = [...found].map(([name, data]) => [name, new TextDecoder().decode(data)]);
    const errors = ["_errors.txt", '"finns inte, alls": no longer there\n'];
    assert.deepEqual(texts, [...ENTRIES.map(([, name, text]) => [name, text]), errors]);

    const file = await Deno.makeTempFile({ suffix: ".zip" });
    await Deno.writeFile(file, bytes);
    const byPython = await judged("python3", ["-c", PYTHON, file]);
    const read = Object.fromEntries([...found].map(([name, data]) => [name, Buffer.from(data).toString("latin1")]));
    if (byPython !== null) assert.deepEqual(JSON.parse(byPython), read);
    await judged("unzip", ["-tq", file]);
    await judged("7z", ["t", file]);
    await judged("bsdtar", ["-tf", file]);
    await Deno.remove(file);

    const link = new URL(url, site);
    const ranged = await fetch(link, { headers: { range: "bytes=100-199" } });
    assert.deepEqual([ranged.status, await ranged.bytes()], [200, bytes]);
    const head = await fetch(link, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("x-zip-size")], [200, String(bytes.length)]);
    const others: [Response, number][] = [
      [await fetch(link, { method: "POST" }), 401],
      [await fetch(link.href.slice(0, -2) + (link.href.endsWith("AA") ? "BB" : "AA")), 403],
      [await fetch(link.href.replace(String(id), crypto.randomUUID())), 403],
      [await fetch(link.href.replace("/parcels/", "/campaigns/")), 404],
      [await (await logIn(site, "archive/reader")).call("GET", `${path}/${id}`), 404],
      [await (await logIn(site, "archive/curator", "wrong")).call("GET", `${path}/${id}`), 401],
      [await client.call("GET", `${path}/${crypto.randomUUID()}`), 404],
    ];
    for (const [response, status] of others) {
      assert.deepEqual([response.status, typeof (await response.json()).detail], [status, "string"], response.url);
    }
    const { output } = await sharedStorage();
    assert.doesNotMatch(output(), new RegExp(link.searchParams.get("ticket") ?? ""));
  }));
