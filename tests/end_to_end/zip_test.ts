import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { startApplication, STORAGE_ONLY } from "@/tests/application.ts";
import { unzipped } from "@/tests/lib/tasks/zip/strict_zip.ts";
import { type GatewayClient, logIn } from "./gateway_client.ts";

const TEXTS: Readonly<Record<string, string>> = {
  "2026/brev.txt": "hej",
  "2026/BREV.txt": "HEJ",
  "2026/tom": "",
  "/etc/passwd": "root",
  "../../utanför.txt": "ut",
  "a\nb\u0001\\c": "tecken",
  "con.txt": "enhet",
  "_errors.txt": "min egen",
};
const NAMES = [
  "2026/brev.txt",
  "2026/BREV (2).txt",
  "2026/tom",
  "etc/passwd",
  "__/__/utanför.txt",
  "a_b__c",
  "_con.txt",
  "_errors (2).txt",
];

async function put(client: GatewayClient, bucket: string, key: string, body: string | Uint8Array<ArrayBuffer>) {
  const path = `${client.base}/buckets/${bucket}/objects/${encodeURIComponent(key)}?as=object`;
  const answer = await fetch(path, { method: "PUT", headers: { authorization: client.authorization }, body });
  assert.equal(answer.status, 200, await answer.text());
}

/** Waits until an archive is ready. */
async function ready(client: GatewayClient, bucket: string, id: unknown): Promise<Record<string, unknown>> {
  for (;;) {
    const answer = await client.call("GET", `/buckets/${bucket}/objects/download/${id}`, undefined, {
      accept: "application/json",
    });
    assert.equal(answer.status, 200);
    const status = await answer.json();
    if (status.status !== "processing") return status;
  }
}

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

const PYTHON = `
import json, sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as archive:
    assert archive.testzip() is None
    print(json.dumps({info.filename: archive.read(info).decode("latin-1") for info in archive.infolist()}))
`;

Deno.test("whole application: an archive has safe names, lists what is missing, and other programs read it", async () => {
  const application = await startApplication({ env: STORAGE_ONLY });
  const file = await Deno.makeTempFile({ suffix: ".zip" });
  try {
    const client = await logIn(application.site, "archive/curator");
    await client.json("POST", "/buckets", { bucket: "parcels" });
    for (const [key, text] of Object.entries(TEXTS)) await put(client, "parcels", key, text);
    const path = "/buckets/parcels/objects/download";

    for (const body of [{}, { keys: [] }, { keys: null, prefix: null }]) {
      const answer = await client.call("POST", path, body);
      assert.deepEqual([answer.status, await answer.json()], [400, { detail: "Provide either 'prefix' or 'keys'" }]);
    }
    const nothing = await client.call("POST", path, { prefix: "nowhere/" });
    assert.equal(nothing.status, 400);
    assert.deepEqual(await nothing.json(), {
      detail: "No objects found under the given prefix",
      code: "archive_empty",
    });
    const many = await client.call("POST", path, { keys: Array.from({ length: 50_001 }, (_, at) => `${at}`) });
    assert.deepEqual(await many.json(), {
      detail: "Too many objects (50001). Maximum is 50000.",
      code: "archive_objects_too_many",
      params: { count: 50001, most: 50000 },
    });
    for (const body of [{ keys: ["a"] }, { prefix: "" }]) {
      assert.equal((await client.call("POST", "/buckets/nowhere/objects/download", body)).status, 404);
    }

    const started = await client.call("POST", path, { keys: [...Object.keys(TEXTS), "finns inte, alls", "2026/tom"] });
    assert.equal(started.status, 202);
    const { task_id: id, download_url: url, ...begun } = await started.json();
    assert.deepEqual(
      [begun.status, begun.total, begun.completed, begun.failed, begun.failed_keys, begun.error],
      ["processing", 9, 0, 0, [], null],
    );
    const status = await ready(client, "parcels", id);
    assert.deepEqual(
      [status.status, status.completed, status.failed, status.failed_keys],
      ["ready", 9, 1, ["finns inte, alls"]],
    );

    const polled = await client.call("GET", `${path}/${id}`);
    assert.equal(polled.status, 200);
    const bytes = await polled.bytes();
    for (
      const [name, value] of Object.entries({
        "content-type": "application/zip",
        "content-disposition": 'attachment; filename="parcels-objects.zip"',
        "content-length": null,
        "accept-ranges": null,
        "x-zip-size": String(bytes.length),
        "x-zip-failed": "1",
        "x-zip-failed-keys": "finns%20inte%2C%20alls",
        "cache-control": "private, no-cache",
      })
    ) assert.equal(polled.headers.get(name), value, name);
    const found = unzipped(bytes);
    assert.deepEqual([...found.keys()], [...NAMES, "_errors.txt"]);
    for (const [at, text] of Object.values(TEXTS).entries()) {
      assert.equal(new TextDecoder().decode(found.get(NAMES[at])), text);
    }
    assert.equal(new TextDecoder().decode(found.get("_errors.txt")), '"finns inte, alls": no longer there\n');

    await Deno.writeFile(file, bytes);
    const byPython = await judged("python3", ["-c", PYTHON, file]);
    if (byPython !== null) {
      const expected = Object.fromEntries(
        [...found].map(([name, data]) => [name, Buffer.from(data).toString("latin1")]),
      );
      assert.deepEqual(JSON.parse(byPython), expected);
    }
    await judged("unzip", ["-tq", file]);
    await judged("7z", ["t", file]);
    await judged("bsdtar", ["-tf", file]);

    const link = new URL(url, application.site);
    const linked = await fetch(link);
    assert.deepEqual([linked.status, await linked.bytes()], [200, bytes]);
    const head = await fetch(link, { method: "HEAD" });
    assert.deepEqual([head.status, head.headers.get("x-zip-size")], [200, String(bytes.length)]);
    assert.equal((await fetch(link, { method: "POST" })).status, 401);
    const ranged = await fetch(link, { headers: { range: "bytes=100-199" } });
    assert.deepEqual([ranged.status, await ranged.bytes()], [200, bytes]);

    const wrong = link.href.slice(0, -2) + (link.href.endsWith("AA") ? "BB" : "AA");
    const foreign = link.href.replace(String(id), crypto.randomUUID());
    const elsewhere = link.href.replace("/parcels/", "/campaigns/");
    for (const [address, expected] of [[wrong, 403], [foreign, 403], [elsewhere, 404]] as const) {
      const answer = await fetch(address);
      assert.deepEqual([answer.status, typeof (await answer.json()).detail], [expected, "string"]);
    }
    assert.doesNotMatch(application.output(), new RegExp(link.searchParams.get("ticket") ?? ""));
    const stranger = await logIn(application.site, "archive/reader");
    const theirs = await stranger.call("GET", `${path}/${id}`);
    assert.deepEqual([theirs.status, await theirs.json()], [404, { detail: "Task not found" }]);
    const guesser = await logIn(application.site, "archive/curator", "wrong");
    const guessed = await guesser.call("GET", `${path}/${id}`);
    assert.equal(guessed.status, 401);
    await guessed.body?.cancel();
    assert.equal((await client.call("GET", `${path}/${crypto.randomUUID()}`)).status, 404);
  } finally {
    await Deno.remove(file);
    await application.stop();
  }
});
