import assert from "node:assert/strict";
import { connect } from "node:net";
import { type EmbeddedArchive, startEmbeddedArchive } from "@/embedded/archive/server.ts";
import { imageSize, type SourceVolume } from "@/embedded/archive/source_volumes.ts";
import { decodedPng } from "./decoded_png.ts";

const VOLUMES: SourceVolume[] = [
  { id: "SE-RA-1", title: "Första volymen", pages: 3, presentation: 3 },
  { id: "SE-RA-2", title: "Andra volymen", pages: 2, presentation: 2 },
];

async function withArchive(use: (archive: EmbeddedArchive) => Promise<void>): Promise<void> {
  const archive = startEmbeddedArchive({ host: "127.0.0.1", seed: 5, volumes: VOLUMES });
  try {
    await use(archive);
  } finally {
    await archive.close();
  }
}

Deno.test("archive: manifests of both versions name pages, images and thumbnails that are there", async () => {
  await withArchive(async ({ url }) => {
    const three = await (await fetch(`${url}/iiif/SE-RA-1/manifest.json`)).json();
    assert.equal(three["@context"], "http://iiif.io/api/presentation/3/context.json");
    assert.equal(three.id, `${url}/iiif/SE-RA-1/manifest.json`);
    assert.equal(three.items.length, 3);
    assert.deepEqual(three.label, { sv: ["Första volymen"] });
    const canvas = three.items[0];
    const { body, target } = canvas.items[0].items[0];
    assert.equal(target, canvas.id);
    const information = await (await fetch(`${body.service[0].id}/info.json`)).json();
    assert.equal(information.id, body.service[0].id);
    const two = await (await fetch(`${url}/iiif/SE-RA-2/manifest.json`)).json();
    assert.equal(two["@type"], "sc:Manifest");
    assert.equal(two.sequences[0].canvases.length, 2);
    const older = two.sequences[0].canvases[1];
    const addresses: [string, number, number][] = [
      [body.id, canvas.width, canvas.height],
      [canvas.thumbnail[0].id, canvas.thumbnail[0].width, canvas.thumbnail[0].height],
      [older.images[0].resource["@id"], older.width, older.height],
      ...information.sizes.map(({ width, height }: { width: number; height: number }) =>
        [`${information.id}/full/${width},${height}/0/default.png`, width, height] as const
      ),
    ];
    for (const [address, width, height] of addresses) {
      const response = await fetch(address);
      assert.equal(response.headers.get("content-type"), "image/png");
      const image = decodedPng(await response.bytes());
      assert.deepEqual([image.width, image.height], [width, height], address);
    }
  });
});

Deno.test("archive: the same page is the same bytes after a restart, each page is another", async () => {
  const images: string[] = [];
  for (const page of ["0001", "0001", "0002"]) {
    await withArchive(async ({ url }) => {
      images.push(
        btoa(
          String.fromCharCode(...await (await fetch(`${url}/image/SE-RA-1/${page}/full/225,/0/default.png`)).bytes()),
        ),
      );
    });
  }
  assert.equal(images[0], images[1]);
  assert.notEqual(images[0], images[2]);
});

Deno.test("archive: pages of any origin may read, nobody may write, and answers revalidate", async () => {
  await withArchive(async ({ url }) => {
    const address = `${url}/iiif/SE-RA-1/manifest.json`;
    const read = await fetch(address, { headers: { origin: "https://viewer.example" } });
    assert.equal(read.headers.get("access-control-allow-origin"), "*");
    await read.body?.cancel();
    const preflight = await fetch(address, { method: "OPTIONS" });
    assert.equal(preflight.status, 204);
    const again = await fetch(address, { headers: { "if-none-match": read.headers.get("etag") ?? "" } });
    assert.equal(again.status, 304);
    const head = await fetch(address, { method: "HEAD" });
    assert.equal(head.headers.get("content-length"), String((await (await fetch(address)).bytes()).length));
    for (const method of ["POST", "PUT", "DELETE", "PATCH"]) {
      const refused = await fetch(address, { method });
      assert.equal(refused.status, 405);
      assert.equal(refused.headers.get("access-control-allow-origin"), "*");
      await refused.body?.cancel();
    }
  });
});

Deno.test("archive: everything it does not hold is 404, hostile paths too", async () => {
  await withArchive(async ({ url, port }) => {
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
      "/image/SE-RA-1/0000/info.json",
      "/image/SE-RA-1/0004/info.json",
      "/image/SE-RA-1/1/info.json",
      "/image/SE-RA-1/0001/full/max/0/default.jpg",
      "/image/SE-RA-1/0001/full/99999,/0/default.png",
      "/image/SE-RA-1/0001/0,0,10,10/max/0/default.png",
      "/image/SE-RA-1/0001/full/max/90/default.png",
      "/image/SE-RA-1/0001/full/max/0/default.png/more",
      "/../../etc/passwd",
      "/iiif/../iiif/SE-RA-9/manifest.json",
      "/iiif/..%2f..%2fetc/manifest.json",
    ];
    // A raw socket: fetch would fold the dots away.
    for (const path of paths) assert.equal(await rawStatus(port, path), 404, path);
    for (const host of ["[", "a b", "%00", "x".repeat(5000)]) {
      assert.ok([200, 400, 404].includes(await rawStatus(port, "/iiif/SE-RA-1/manifest.json", host)), host);
    }
    assert.equal((await fetch(`${url}/iiif/SE-RA-1/manifest.json`)).status, 200);
  });
});

Deno.test("archive: sizes shrink by whole numbers", () => {
  assert.deepEqual(imageSize(1), { width: 900, height: 1300 });
  assert.deepEqual(imageSize(4), { width: 225, height: 325 });
});

function rawStatus(port: number, path: string, host = "127.0.0.1"): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(`GET ${path} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  });
  let text = "";
  socket.on("data", (data) => text += data.toString("latin1"));
  socket.on("end", () => {
    socket.destroy();
    resolve(Number(text.slice(9, 12)));
  });
  socket.on("error", reject);
  return promise;
}
