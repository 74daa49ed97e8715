import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import type { Entry } from "@/lib/tasks/fixity/expected.ts";
import { manifestKeys, type ManifestRef } from "@/lib/tasks/fixity/manifest_keys.ts";
import { compareText } from "@/lib/std/text.ts";
import { type ObjectServer, startObjectServer } from "@/tests/lib/tasks/zip/object_server.ts";

const sha256 = (text: string) => createHash("sha256").update(text).digest("hex");
const md5 = (text: string) => createHash("md5").update(text).digest("hex");

function put(server: ObjectServer, key: string, text: string, etag: string | null = null): ManifestRef {
  server.objects.set(key, new TextEncoder().encode(text));
  return { bucket: "letters", key, root: "bag/", form: "bagit", algorithm: "sha256", escapesPercent: true, etag };
}

interface Read {
  readonly keys: Entry[];
  readonly figures: { entries: number; invalid: number }[];
}

async function read(server: ObjectServer, manifests: ManifestRef[], options = {}): Promise<Read> {
  const { s3, caller, retryMs } = server.source;
  const signal = new AbortController().signal;
  const figures: Read["figures"] = [];
  const keys: Entry[] = [];
  const source = {
    s3,
    caller: { ...caller, signal },
    retryMs,
    read: <T>(work: () => Promise<T>) => work(),
    pace: () => Promise.resolve(false),
  };
  const all = manifestKeys({
    source,
    manifests,
    prefix: "",
    after: null,
    onRead: (_, one) => figures.push(one),
    ...options,
  });
  for await (const key of all) keys.push(key);
  return { keys, figures };
}

Deno.test("manifest keys: a manifest of any order and length comes in the order of keys, read once for each window", async () => {
  await using server = startObjectServer();
  // In the order of UTF-16 units the first two would be the other way round.
  const names = ["data/\u{fb01}", "data/\u{1f600}", ...Array.from({ length: 1000 }, (_, n) => `data/${n}`)];
  const shuffled = names.map((name) => ({ name, at: sha256(name) })).sort((a, b) => a.at < b.at ? -1 : 1);
  const text = shuffled.map(({ name }) => `${sha256(name)}  ${name}\n`).join("");
  const manifest = put(server, "m", text);
  const { keys, figures } = await read(server, [manifest], { windowKeys: 100 });
  assert.deepEqual(keys.map(({ key }) => key), names.map((name) => `bag/${name}`).sort(compareText));
  assert.deepEqual(keys[7].expectations, [
    { proof: "manifest", algorithm: "sha256", expected: sha256(keys[7].key.slice(4)), parts: null, etag: null },
  ]);
  assert.equal(figures.length, 11);
  assert.deepEqual(figures[0], { entries: 1002, invalid: 0 });
  const rest = await read(server, [manifest], { windowKeys: 100, after: keys[899].key, prefix: "bag/data/9" });
  assert.deepEqual(rest.keys, keys.slice(900).filter(({ key }) => key.startsWith("bag/data/9")));
});

Deno.test("manifest keys: what two manifests say of a key comes together, the stronger digest first", async () => {
  await using server = startObjectServer();
  const strong = put(server, "a", `${sha256("x")}  data/x\n${sha256("y")}  data/y`);
  const weak = { ...put(server, "b", `${md5("x")}  data/x\r\n`), algorithm: "md5" as const };
  const { keys } = await read(server, [weak, strong]);
  assert.deepEqual(keys.map(({ key, expectations }) => [key, expectations.map(({ algorithm }) => algorithm)]), [
    ["bag/data/x", ["sha256", "md5"]],
    ["bag/data/y", ["sha256"]],
  ]);
});

Deno.test("manifest keys: lines that name nothing and names with two digests are counted, and the first one holds", async () => {
  await using server = startObjectServer();
  const manifest = put(
    server,
    "m",
    `${sha256("x")}  data/x\nrubbish\n\n${sha256("z")}  data/x\n${sha256("x")}  data/x\n`,
  );
  const { keys, figures } = await read(server, [manifest]);
  assert.deepEqual(keys.map(({ expectations }) => expectations[0].expected), [sha256("x")]);
  assert.deepEqual(figures, [{ entries: 2, invalid: 2 }]);
});

Deno.test("manifest keys: a manifest that is overwritten or deleted meanwhile ends the check", async () => {
  await using server = startObjectServer();
  const manifest = put(server, "m", "", '"another"');
  await assert.rejects(read(server, [manifest]), { status: 409, message: /'m' was overwritten/ });
  server.objects.delete("m");
  await assert.rejects(read(server, [manifest]), { status: 409, message: /'m' was deleted/ });
});
