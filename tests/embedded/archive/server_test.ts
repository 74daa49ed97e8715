import assert from "node:assert/strict";
import { connect } from "node:net";
import { DrawingPool } from "@/embedded/archive/drawing_pool.ts";
import { type EmbeddedArchive, startEmbeddedArchive } from "@/embedded/archive/server.ts";
import type { SourceVolume } from "@/embedded/archive/source_volumes.ts";
import { rawRequest } from "@/tests/routes/results/raw_request.ts";
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
    assert.deepEqual(three.structures[0].items[0], { id: canvas.id, type: "Canvas" });
    const information = await (await fetch(`${body.service[0].id}/info.json`)).json();
    assert.equal(information.id, body.service[0].id);
    assert.equal(information.type, "ImageService3");
    const two = await (await fetch(`${url}/iiif/SE-RA-2/manifest.json`)).json();
    assert.equal(two["@type"], "sc:Manifest");
    assert.equal(two.sequences[0].canvases.length, 2);
    const older = two.sequences[0].canvases[1];
    const [top, ...sections] = two.structures;
    assert.deepEqual(top.ranges, sections.map((range: { "@id": string }) => range["@id"]));
    assert.ok(sections[0].canvases.includes(older["@id"]));
    const { resource } = older.images[0];
    const olderInformation = await (await fetch(`${resource.service["@id"]}/info.json`)).json();
    assert.equal(olderInformation["@context"], resource.service["@context"]);
    assert.equal(olderInformation["@id"], resource.service["@id"]);
    assert.equal(olderInformation.profile[0], resource.service.profile);
    const logo = three.provider[0].logo[0];
    const addresses: [string, number, number][] = [
      [body.id, canvas.width, canvas.height],
      [canvas.thumbnail[0].id, canvas.thumbnail[0].width, canvas.thumbnail[0].height],
      [resource["@id"], older.width, older.height],
      [older.thumbnail["@id"], older.thumbnail.width, older.thumbnail.height],
      [logo.id, logo.width, logo.height],
      [two.logo["@id"], logo.width, logo.height],
      ...information.sizes.flatMap(({ width, height }: { width: number; height: number }) =>
        [
          [`${information.id}/full/${width},${height}/0/default.png`, width, height],
          [`${olderInformation["@id"]}/full/${width},/0/gray.png`, width, height],
        ] as const
      ),
    ];
    for (const [address, width, height] of addresses) {
      const response = await fetch(address);
      assert.equal(response.headers.get("content-type"), "image/png", address);
      const image = decodedPng(await response.bytes());
      assert.deepEqual([image.width, image.height], [width, height], address);
    }
  });
});

Deno.test("archive: every tile that info.json describes is there, at its size", async () => {
  await withArchive(async ({ url }) => {
    const { id, width, height, tiles } = await (await fetch(`${url}/image/SE-RA-1/0001/info.json`)).json();
    const [tile] = tiles;
    const factor = Math.max(...tile.scaleFactors) / 2;
    const side = tile.width * factor;
    for (let x = 0; x < width; x += side) {
      for (let y = 0; y < height; y += side) {
        const region = [x, y, Math.min(side, width - x), Math.min(side, height - y)];
        const size = [Math.ceil(region[2] / factor), Math.ceil(region[3] / factor)];
        const response = await fetch(`${id}/${region}/${size}/0/default.png`);
        assert.equal(response.status, 200, `${region} ${size}`);
        const image = decodedPng(await response.bytes());
        assert.deepEqual([image.width, image.height], size);
      }
    }
  });
});

Deno.test("archive: an image service redirects to its description, links to canonical forms and speaks JSON-LD", async () => {
  await withArchive(async ({ url }) => {
    for (const [service, api] of [[`${url}/image/SE-RA-1/0001`, 3], [`${url}/image2/SE-RA-1/0001`, 2]] as const) {
      const redirect = await fetch(service, { redirect: "manual" });
      assert.equal(redirect.status, 303);
      assert.equal(redirect.headers.get("location"), `${service}/info.json`);
      await redirect.body?.cancel();
      const plain = await fetch(`${service}/info.json`);
      assert.equal(plain.headers.get("content-type"), "application/json; charset=utf-8");
      await plain.body?.cancel();
      const linked = await fetch(`${service}/info.json`, { headers: { accept: "application/ld+json" } });
      const context = `http://iiif.io/api/image/${api}/context.json`;
      assert.equal(linked.headers.get("content-type"), `application/ld+json;profile="${context}"`);
      assert.equal(linked.headers.get("vary"), "Accept");
      assert.equal((await linked.json())["@context"], context);
      const image = await fetch(`${service}/pct:0,0,50,50/pct:10/0/color.png`);
      const size = api === 3 ? "80,110" : "80,";
      assert.equal(
        image.headers.get("link"),
        `<${service}/0,0,800,1104/${size}/0/default.png>;rel="canonical", ` +
          `<http://iiif.io/api/image/${api}/level2.json>;rel="profile"`,
      );
      await image.body?.cancel();
      for (const wrong of ["full/0,/0/default.png", "full/max/45/default.png", "full/max/0/default.webp"]) {
        const response = await fetch(`${service}/${wrong}`);
        assert.equal(response.status, 400, wrong);
        assert.equal(response.headers.get("access-control-allow-origin"), "*");
        await response.body?.cancel();
      }
    }
    const largest = await fetch(`${url}/image/SE-RA-1/0001/0,0,100,100/%5Emax/0/default.png`);
    assert.match(largest.headers.get("link") ?? "", /100,100\/%5Emax\/0\/default\.png>;rel="canonical"/);
    assert.equal(decodedPng(await largest.bytes()).width, 2000);
  });
});

Deno.test("archive: the sample manifests are what their names say", async () => {
  await withArchive(async ({ url }) => {
    const read = async (name: string) => await (await fetch(`${url}/iiif/sample-${name}/manifest.json`)).json();
    const long = await read("2000-pages");
    assert.equal(long.items.length, 2000);
    assert.equal(long.structures[0].items[0].items[0].id, long.items[0].id);
    assert.equal((await read("right-to-left")).viewingDirection, "right-to-left");
    const [choice] = (await read("choices")).items[0].items[0].items;
    assert.equal(choice.body.type, "Choice");
    for (const { id, service } of choice.body.items) {
      assert.equal(service, undefined, id);
      const image = await fetch(id);
      assert.equal(image.status, 200, id);
      await image.body?.cancel();
    }
    const { sequences } = await read("sequences");
    assert.equal(sequences.length, 2);
    assert.notDeepEqual(sequences[0].canvases, sequences[1].canvases);
    assert.equal((await read("plain-images")).items[0].items[0].items[0].body.service, undefined);
    assert.equal((await read("plain-images-2")).sequences[0].canvases[0].images[0].resource.service, undefined);
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
});

Deno.test("archive: a client that leaves cancels the rendering that waits for it", async () => {
  const { render } = DrawingPool.prototype;
  const begun = Promise.withResolvers<AbortSignal>();
  DrawingPool.prototype.render = (_task, _client, signal) => {
    begun.resolve(signal);
    return new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("no request waits"))));
  };
  try {
    await withArchive(async ({ url }) => {
      const client = new AbortController();
      const request = fetch(`${url}/image/SE-RA-1/0001/full/max/0/default.png`, { signal: client.signal });
      const signal = await begun.promise;
      const cancelled = new Promise((resolve) => signal.addEventListener("abort", resolve));
      client.abort();
      await assert.rejects(request);
      await cancelled;
    });
  } finally {
    DrawingPool.prototype.render = render;
  }
});

Deno.test("archive: a conditional request of an image draws nothing", async () => {
  const { render } = DrawingPool.prototype;
  try {
    await withArchive(async ({ url }) => {
      const address = `${url}/image/SE-RA-1/0001/full/150,/0/default.png`;
      const first = await fetch(address);
      await first.body?.cancel();
      DrawingPool.prototype.render = () => Promise.reject(new Error("drawn"));
      const headers = { "if-none-match": first.headers.get("etag") ?? "" };
      const again = await fetch(address.replace("150,", "151,"), { headers });
      assert.equal(again.status, 304);
      assert.equal(again.headers.get("access-control-allow-origin"), "*");
      const wrong = await fetch(address.replace("150,", "0,"), { headers });
      assert.equal(wrong.status, 400);
      await wrong.body?.cancel();
    });
  } finally {
    DrawingPool.prototype.render = render;
  }
});

Deno.test("archive: a volume without CORS has none on its errors and preflights either", async () => {
  await withArchive(async ({ url }) => {
    const cases: [string, RequestInit, number][] = [
      ["/iiif/sample-no-cors/manifest.json", { method: "OPTIONS" }, 204],
      ["/iiif/sample-no-cors/manifest.json", { method: "POST" }, 405],
      ["/iiif/sample-no-cors/none", {}, 404],
      ["/image/sample-no-cors/0007/info.json", {}, 404],
      ["/image/sample-no-cors/%00/info.json", {}, 404],
      ["/image/sample-no-cors/0001", { redirect: "manual" }, 303],
      ["/image/sample-no-cors/0001/full/0,/0/default.png", {}, 400],
    ];
    for (const [path, init, status] of cases) {
      const response = await fetch(url + path, init);
      assert.equal(response.status, status, path);
      const names = [...response.headers.keys()].filter((name) => /^(access-control|cross-origin)/.test(name));
      assert.deepEqual(names, [], path);
      await response.body?.cancel();
    }
  });
});

Deno.test("archive: jpg has a type of its own, and what info.json says of formats, turns and qualities is true", async () => {
  await withArchive(async ({ url }) => {
    for (const collection of ["image", "image2"]) {
      const { profile } = await (await fetch(`${url}/${collection}/SE-RA-1/0001/info.json`)).json();
      assert.match(JSON.stringify(profile), /level2/);
      for (const rotation of [0, 90, 180, 270]) {
        for (const [format, type] of [["jpg", "image/jpeg"], ["png", "image/png"]]) {
          for (const quality of ["default", "color", "gray", "bitonal"]) {
            const path = `${collection}/SE-RA-1/0001/full/pct:5/${rotation}/${quality}.${format}`;
            const response = await fetch(`${url}/${path}`);
            assert.equal(response.status, 200, path);
            assert.equal(response.headers.get("content-type"), type, path);
            await response.body?.cancel();
          }
        }
      }
    }
  });
});

Deno.test("archive: the same page is the same bytes after a restart, each page is another", async () => {
  const images: string[] = [];
  for (const page of ["0001", "0001", "0002"]) {
    await withArchive(async ({ url }) => {
      images.push(
        btoa(
          String.fromCharCode(...await (await fetch(`${url}/image/SE-RA-1/${page}/full/150,/0/default.png`)).bytes()),
        ),
      );
    });
  }
  assert.equal(images[0], images[1]);
  assert.notEqual(images[0], images[2]);
});

Deno.test("archive: pages of any origin may read, no client may write, and responses revalidate", async () => {
  await withArchive(async ({ url }) => {
    const address = `${url}/iiif/SE-RA-1/manifest.json`;
    const read = await fetch(address, { headers: { origin: "https://viewer.example" } });
    assert.equal(read.headers.get("access-control-allow-origin"), "*");
    await read.body?.cancel();
    const preflight = await fetch(address, { method: "OPTIONS" });
    assert.equal(preflight.status, 204);
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
});

Deno.test("archive: it answers under its own name and those of loopback alone", async () => {
  await withArchive(async ({ port }) => {
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
      "/image/SE-RA-1/0001/full",
      "/image/SE-RA-1/0001/full/max/0",
      "/image3/SE-RA-1/0001/info.json",
      "/image/SE-RA-1/0001%2Finfo.json",
      "/image/SE-RA-1/0001/full/max/0/default.png/more",
      "/../../etc/passwd",
      "/iiif/../iiif/SE-RA-9/manifest.json",
      "/iiif/..%2f..%2fetc/manifest.json",
    ];
    // A raw socket: fetch would fold the dots away.
    for (const path of paths) assert.equal(await rawStatus(port, path), 404, path);
    for (const host of ["[", "a b", "%00", "x".repeat(5000)]) {
      assert.ok([400, 421].includes(await rawStatus(port, "/iiif/SE-RA-1/manifest.json", host)), host);
    }
    assert.equal((await fetch(`${url}/iiif/SE-RA-1/manifest.json`)).status, 200);
  });
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
