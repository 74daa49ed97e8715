import assert from "node:assert/strict";
import { type EmbeddedArchive, startEmbeddedArchive } from "@/embedded/archive/archive_server.ts";
import type { SourceVolume } from "@/embedded/archive/catalogue.ts";
import { LOCAL_HTTP } from "@/lib/process/local_http.ts";
import { rawRequest } from "@/tests/routes/results/raw_request.ts";
import { pngSize } from "./png_size.ts";

const VOLUMES: SourceVolume[] = [
  { id: "SE-RA-1", title: "Första volymen", pages: 3, presentation: 3 },
  { id: "SE-RA-2", title: "Andra volymen", pages: 2, presentation: 2 },
];

async function withArchive(use: (archive: EmbeddedArchive) => Promise<void>): Promise<void> {
  const archive = startEmbeddedArchive({ http: LOCAL_HTTP, host: "127.0.0.1", seed: 5, volumes: VOLUMES });
  try {
    await use(archive);
  } finally {
    await archive.close();
  }
}

function testArchive(name: string, ...given: Parameters<typeof withArchive>): void {
  Deno.test(name, () => withArchive(...given));
}

testArchive("archive: manifests of both versions name pages, images and thumbnails that are there", async ({ url }) => {
  const three = await (await fetch(`${url}/iiif/SE-RA-1/manifest.json`)).json();
  assert.equal(three["@context"], "http://iiif.io/api/presentation/3/context.json");
  assert.equal(three.id, `${url}/iiif/SE-RA-1/manifest.json`);
  assert.equal(three.items.length, 3);
  assert.deepEqual(three.label, { sv: ["Första volymen"] });
  const canvas = three.items[0];
  const { body, target } = canvas.items[0].items[0];
  assert.equal(target, canvas.id);
  assert.deepEqual(three.structures[0].items[0], { id: canvas.id, type: "Canvas" });
  const two = await (await fetch(`${url}/iiif/SE-RA-2/manifest.json`)).json();
  assert.equal(two["@type"], "sc:Manifest");
  assert.equal(two.sequences[0].canvases.length, 2);
  const older = two.sequences[0].canvases[1];
  const [top, ...sections] = two.structures;
  assert.deepEqual(top.ranges, sections.map((range: { "@id": string }) => range["@id"]));
  assert.ok(sections[0].canvases.includes(older["@id"]));
  const { resource } = older.images[0];
  const logo = three.provider[0].logo[0];
  const addresses: [string, number, number][] = [
    [body.id, canvas.width, canvas.height],
    [canvas.thumbnail[0].id, canvas.thumbnail[0].width, canvas.thumbnail[0].height],
    [resource["@id"], older.width, older.height],
    [older.thumbnail["@id"], older.thumbnail.width, older.thumbnail.height],
    [logo.id, logo.width, logo.height],
    [two.logo["@id"], logo.width, logo.height],
  ];
  for (const [address, width, height] of addresses) {
    const response = await fetch(address);
    assert.equal(response.headers.get("content-type"), "image/png", address);
    assert.equal(response.headers.get("access-control-allow-origin"), "*", address);
    assert.deepEqual(pngSize(await response.bytes()), { width, height }, address);
  }
});

testArchive("archive: the sample manifests are what their names say", async ({ url }) => {
  const read = async (name: string) => await (await fetch(`${url}/iiif/sample-${name}/manifest.json`)).json();
  const long = await read("2000-pages");
  assert.equal(long.items.length, 2000);
  assert.equal(long.structures[0].items[0].items[0].id, long.items[0].id);
  assert.equal((await read("right-to-left")).viewingDirection, "right-to-left");
  const [choice] = (await read("choices")).items[0].items[0].items;
  assert.equal(choice.body.type, "Choice");
  const leaves: string[] = choice.body.items.map(({ id }: { id: string }) => id);
  assert.equal(new Set(leaves).size, 3);
  for (const leaf of leaves) {
    const image = await fetch(leaf);
    assert.equal(image.status, 200, leaf);
    await image.body?.cancel();
  }
  const { sequences } = await read("sequences");
  assert.equal(sequences.length, 2);
  assert.notDeepEqual(sequences[0].canvases, sequences[1].canvases);
  const [canvas] = (await read("no-sizes")).items;
  assert.ok(!("width" in canvas || "height" in canvas || "width" in canvas.items[0].items[0].body));
  assert.ok(!("type" in await read("not-a-manifest")));
  const [first, second] = (await read("cyclic-range")).structures;
  assert.equal(first.items.at(-1).id, second.id);
  assert.equal(second.items.at(-1).id, first.id);
  const hidden = await fetch(`${url}/iiif/sample-no-cors/manifest.json`, {
    headers: { origin: "https://a.example" },
  });
  assert.equal(hidden.status, 200);
  assert.deepEqual([...hidden.headers.keys()].filter((name) => /^(access-control|cross-origin)/.test(name)), []);
  await hidden.body?.cancel();
});

testArchive("archive: a volume without CORS has none on its errors and preflights either", async ({ url }) => {
  const cases: [string, RequestInit, number][] = [
    ["/iiif/sample-no-cors/manifest.json", { method: "OPTIONS" }, 204],
    ["/iiif/sample-no-cors/manifest.json", { method: "POST" }, 405],
    ["/iiif/sample-no-cors/none", {}, 404],
    ["/image/sample-no-cors/0001.png", {}, 200],
    ["/thumbnail/sample-no-cors/0001.png", {}, 200],
    ["/image/sample-no-cors/0007.png", {}, 404],
    ["/image/sample-no-cors/%00", {}, 404],
  ];
  for (const [path, init, status] of cases) {
    const response = await fetch(url + path, init);
    assert.equal(response.status, status, path);
    const names = [...response.headers.keys()].filter((name) => /^(access-control|cross-origin)/.test(name));
    assert.deepEqual(names, [], path);
    await response.body?.cancel();
  }
});

testArchive("archive: pages of any origin may read, no client may write, and responses revalidate", async ({ url }) => {
  const address = `${url}/iiif/SE-RA-1/manifest.json`;
  const read = await fetch(address, { headers: { origin: "https://viewer.example" } });
  assert.equal(read.headers.get("access-control-allow-origin"), "*");
  await read.body?.cancel();
  const preflight = await fetch(address, { method: "OPTIONS" });
  assert.equal(preflight.status, 204);
  const image = await fetch(`${url}/image/SE-RA-1/0001.png`);
  const held = { "if-none-match": image.headers.get("etag") ?? "" };
  await image.body?.cancel();
  assert.equal((await fetch(image.url, { headers: held })).status, 304);
  const next = await fetch(`${url}/image/SE-RA-1/0002.png`, { headers: held });
  assert.equal(next.status, 200);
  await next.body?.cancel();
  const again = await fetch(address, { headers: { "if-none-match": read.headers.get("etag") ?? "" } });
  assert.equal(again.status, 304);
  const etags = `"other", W/${read.headers.get("etag")}`;
  assert.equal((await fetch(address, { headers: { "if-none-match": etags } })).status, 304);
  const head = await fetch(address, { method: "HEAD" });
  assert.equal(head.headers.get("content-length"), String((await (await fetch(address)).bytes()).length));
  for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
    const refused = await fetch(address, { method });
    assert.equal(refused.status, 405);
    assert.equal(refused.headers.get("access-control-allow-origin"), "*");
    await refused.body?.cancel();
  }
});

testArchive("archive: it answers under its own name and those of loopback alone", async ({ port }) => {
  const path = "/iiif/SE-RA-1/manifest.json";
  const status = async (Host: string) => (await rawRequest(port, "GET", path, { Host }))[0];
  for (const name of ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"]) {
    assert.equal(await status(`${name}:${port}`), 200, name);
    assert.equal(await status(name), 200, name);
  }
  for (const name of ["evil.example", "127.0.0.1.evil.example", "localhost.evil.example", "0.0.0.0", "127.0.0.2"]) {
    assert.equal(await status(`${name}:${port}`), 421, name);
  }
  const [, refused] = await rawRequest(port, "GET", path, { Host: "evil.example", Origin: "http://evil.example" });
  assert.doesNotMatch(refused, /access-control-allow-origin/i);
});

testArchive("archive: everything it does not hold is 404, hostile paths too", async ({ url, port }) => {
  const paths = [
    "/",
    "/iiif/NONE/manifest.json",
    "/iiif/SE-RA-1/manifest.json/",
    "/iiif/SE-RA-1",
    "/iiif//manifest.json",
    "/iiif/__proto__/manifest.json",
    "/iiif/SE-RA-1%2Fmanifest.json",
    "/iiif/SE-RA-1%00/manifest.json",
    "/iiif/%ff/manifest.json",
    "/logo.png/",
    "/image/SE-RA-1/0000.png",
    "/image/SE-RA-1/0004.png",
    "/image/SE-RA-1/1.png",
    "/image/SE-RA-1/0001",
    "/image/SE-RA-1/0001.xml",
    "/image/SE-RA-1/0001.png/more",
    "/image/SE-RA-1/0001%2Fmore.png",
    "/image/SE-RA-1/..%2f01.png",
    "/pages/SE-RA-1/0001.png",
    "/../../etc/passwd",
    "/iiif/../iiif/SE-RA-9/manifest.json",
    "/iiif/..%2f..%2fetc/manifest.json",
  ];
  // A raw socket: fetch would fold the dots away.
  for (const path of paths) assert.equal((await rawRequest(port, "GET", path))[0], 404, path);
  for (const host of ["[", "a b", "%00", "x".repeat(5000)]) {
    const [status] = await rawRequest(port, "GET", "/iiif/SE-RA-1/manifest.json", { Host: host });
    assert.ok([400, 421].includes(status), host);
  }
  assert.equal((await fetch(`${url}/iiif/SE-RA-1/manifest.json`)).status, 200);
});
