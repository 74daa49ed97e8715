import assert from "node:assert/strict";
import { MapDocuments } from "@/lib/campaigns/source/map_documents.ts";
import { type ClusterConnection, ClusterUnavailable } from "@/lib/kubernetes/connection.ts";

/** Documents of texts in maps, in a cache for two of 300 bytes each. */
function documents() {
  const maps: Record<string, string> = {};
  const reads: string[] = [];
  const clock = { now: 10_000 };
  const connection: ClusterConnection = {
    async send({ path }) {
      const name = path.slice(path.lastIndexOf("/") + 1);
      reads.push(name);
      await Promise.resolve();
      if (!Object.hasOwn(maps, name)) throw new ClusterUnavailable("away");
      return { status: 200, body: new TextEncoder().encode(JSON.stringify(maps[name] && { text: maps[name] })) };
    },
  };
  const cache = new MapDocuments<string>("test", {
    connection,
    now: () => clock.now,
    documentBytes: 700,
    parse: (map) => Object(map).text,
    sizeOf: (text) => text.length + 43,
  });
  return { maps, reads, clock, cache, read: (name: string, version?: string) => cache.read("n", name, version) };
}

Deno.test("documents of maps: one read for a version, another for the next", async () => {
  const { maps, reads, cache, read } = documents();
  maps.a = "x";
  assert.deepEqual(await Promise.all([read("a", "1"), read("a", "1")]), ["x", "x"]);
  maps.a = "y";
  assert.equal(await read("a", "1"), "x");
  assert.equal(await read("a", "2"), "y");
  assert.deepEqual(reads, ["a", "a"]);
  assert.equal(cache.size, 300);
});

Deno.test("documents of maps: without a version a document is read again after two seconds", async () => {
  const { maps, reads, clock, read } = documents();
  maps.a = "x";
  await read("a");
  clock.now += 1_999;
  await read("a");
  assert.equal(reads.length, 1);
  clock.now += 1;
  await read("a");
  assert.equal(reads.length, 2);
});

Deno.test("documents of maps: within the budget the last used stay, and one beyond it is not cached", async () => {
  const { maps, reads, cache, read } = documents();
  Object.assign(maps, { a: "a", b: "b", c: "c", huge: "x".repeat(700) });
  for (const name of ["a", "b", "a", "c", "a", "b"]) await read(name, "1");
  assert.deepEqual(reads, ["a", "b", "c", "b"]);
  assert.equal((await read("huge", "1")).length, 700);
  assert.equal(cache.size, 600);
});

Deno.test("documents of maps: an error reaches all who wait and is not cached", async () => {
  const { maps, read } = documents();
  const both = await Promise.allSettled([read("a", "1"), read("a", "1")]);
  assert.deepEqual(both.map(({ status }) => status), ["rejected", "rejected"]);
  maps.a = "x";
  assert.equal(await read("a", "1"), "x");
});

Deno.test("documents of maps: one that came with an event is not read", async () => {
  const { cache, reads, read } = documents();
  cache.put("n", "a", "2", "x");
  cache.put("n", "a", "3", "y");
  assert.equal(await read("a", "3"), "y");
  assert.deepEqual(reads, []);
});
