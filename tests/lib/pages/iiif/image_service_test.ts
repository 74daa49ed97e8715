import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type ImageFile,
  imageServiceOf,
  smallFileOf,
  thumbnailOf,
  wholeImageOf,
} from "@/lib/pages/iiif/image_service.ts";
import type { ImageSource } from "@/lib/pages/iiif/manifest.ts";
import type { Node } from "./manifests.ts";

const ID = "https://images.example.org/p1";
const READING = { base: "https://example.org/manifest.json", languages: [] };
const FRAME = { width: 200, height: 200 };

function source(service: Node, more: Partial<ImageSource> = {}): ImageSource {
  const read = imageServiceOf(service, READING);
  assert.ok(read);
  return { href: null, format: null, width: null, height: null, service: read, ...more };
}

const service1 = (more: Node = {}) => ({
  "@id": ID,
  profile: "http://library.stanford.edu/iiif/image-api/1.1/compliance.html#level2",
  ...more,
});
const service2 = (more: Node = {}) => ({ "@id": ID, profile: "http://iiif.io/api/image/2/level2.json", ...more });
const service3 = (more: Node = {}) => ({ id: ID, type: "ImageService3", profile: "level2", ...more });
const level0 = { profile: "level0" };
const path = (file: ImageFile | null) => file?.href.replace(ID, "");
/** The path of the thumbnail of an image with this service, behind the address of the service. */
const thumbnail = (service: Node, more: Partial<ImageSource> = {}, frame = FRAME) =>
  path(thumbnailOf(source(service, more), frame));
/** That of the whole image. */
const whole = (service: Node, more: Partial<ImageSource> = {}) => path(wholeImageOf(source(service, more)));

Deno.test("image service: version and level are read from type, context or profile", () => {
  const cases: [node: Node, version: number, level: number | null][] = [
    [service1(), 1, 2],
    [{ "@id": ID, "@context": "http://library.stanford.edu/iiif/image-api/1.1/context.json" }, 1, null],
    [service2(), 2, 2],
    [{ "@id": ID, profile: ["http://iiif.io/api/image/2/level1.json", { maxWidth: 500 }] }, 2, 1],
    [{ "@id": ID, "@type": "ImageService2", profile: "level0" }, 2, 0],
    [service3(), 3, 2],
    [{ "@id": ID, profile: "level1" }, 3, 1],
    [{ "@id": ID, "@context": "http://iiif.io/api/image/2/context.json", profile: "level1" }, 2, 1],
    [{ "@context": "http://iiif.io/api/image/3/context.json", id: ID }, 3, null],
  ];
  for (const [node, ...wanted] of cases) {
    const { service } = source(node);
    assert.deepEqual([service?.version, service?.level], wanted, JSON.stringify(node));
  }
  const login = { "@id": ID, profile: "http://iiif.io/api/auth/1/login" };
  for (const other of [{}, { "@id": ID }, login, { type: "ImageService3" }]) {
    assert.equal(imageServiceOf(other, READING), null);
  }
  assert.equal(imageServiceOf([{ type: "SearchService2", id: ID }, null, service2()], READING)?.version, 2);
  assert.equal(imageServiceOf(service3({ id: `${ID}/info.json` }), READING)?.id, ID);
  assert.equal(imageServiceOf(service3({ id: `${ID}/` }), READING)?.id, ID);
});

Deno.test("image service: the tiles of version 1 are members of the service", () => {
  const tiles = { tile_width: 256, scale_factors: [1, 2] };
  assert.deepEqual(source(service1(tiles)).service?.tiles, [{ width: 256, height: 256, scaleFactors: [1, 2] }]);
  assert.deepEqual(source(service1()).service?.tiles, []);
});

Deno.test("image service: a thumbnail is of the smallest listed size that covers the frame", () => {
  const sizes = [{ width: 600, height: 900 }, { width: 150, height: 225 }, { width: 75, height: 113 }];
  assert.equal(thumbnail(service3({ sizes })), "/full/150,225/0/default.jpg");
  assert.equal(thumbnail(service2({ sizes })), "/full/150,/0/default.jpg");
  const large = { width: 2000, height: 2000 };
  assert.equal(thumbnail(service3({ sizes, ...level0 }), {}, large), "/full/600,900/0/default.jpg");
});

const EXTENT = { width: 2000, height: 3000 };

Deno.test("image service: a thumbnail of no listed size has the image's proportions and no more pixels than it", () => {
  assert.equal(thumbnail(service3(EXTENT)), "/full/200,300/0/default.jpg");
  assert.equal(thumbnail(service2(), EXTENT), "/full/200,/0/default.jpg");
  assert.equal(thumbnail(service1(EXTENT)), "/full/200,/0/native.jpg");
  assert.equal(thumbnail(service3()), "/full/200,/0/default.jpg");
  assert.equal(thumbnail(service3({ width: 50, height: 60 })), "/full/50,60/0/default.jpg");
  assert.equal(thumbnail(service3({ ...EXTENT, maxWidth: 100 })), "/full/66,100/0/default.jpg");
  assert.equal(thumbnail(service3({ ...EXTENT, maxArea: 15_000 })), "/full/100,150/0/default.jpg");
  const distant = [{ width: 1900, height: 2850 }];
  assert.equal(thumbnail(service3({ ...EXTENT, sizes: distant })), "/full/200,300/0/default.jpg");
});

Deno.test("image service: a page without a thumbnail is shown by its painting only where that is a small file", () => {
  const canvas = { width: 800, height: 1200 };
  const unknown = { width: null, height: null };
  const bare = { ...source(service3()), href: `${ID}.jpg`, service: null };
  const file = (width: number | null, height: number | null) => ({ ...bare, width, height });
  assert.equal(smallFileOf(file(600, 900), FRAME, unknown)?.href, `${ID}.jpg`);
  assert.equal(smallFileOf(file(4000, 6000), FRAME, canvas), null);
  assert.equal(smallFileOf(file(null, null), FRAME, canvas)?.href, `${ID}.jpg`);
  assert.equal(smallFileOf(file(null, null), FRAME, unknown), null);
  assert.equal(path(smallFileOf(source(service3()), FRAME, unknown)), "/full/200,/0/default.jpg");
  assert.equal(
    path(smallFileOf(source(service3({ width: 4000, height: 6000 })), FRAME, unknown)),
    "/full/200,300/0/default.jpg",
  );
  const sizes = [{ width: 1950, height: 2925 }];
  assert.equal(smallFileOf(source(service3({ ...level0, ...EXTENT, sizes })), FRAME, canvas), null);
});

Deno.test("image service: of level 0 only what is ready is requested", () => {
  const ready = { ...level0, ...EXTENT };
  assert.equal(thumbnail(service3(ready)), undefined);
  const href = `${ID}/full/max/0/default.jpg`;
  assert.equal(thumbnail(service3(ready), { href }), "/full/max/0/default.jpg");
  const sizes = [{ width: 1950, height: 2925 }, { width: 1900, height: 2850 }];
  assert.equal(thumbnail(service3({ ...ready, sizes })), "/full/1900,2850/0/default.jpg");
  const tiles = [{ width: 512, scaleFactors: [1, 2, 4, 8, 16] }];
  assert.equal(thumbnail(service3({ ...ready, tiles })), "/full/250,375/0/default.jpg");
});

Deno.test("image service: the whole image is `max` from version 3 on and `full` before", () => {
  assert.equal(whole(service3()), "/full/max/0/default.jpg");
  assert.equal(whole(service2()), "/full/full/0/default.jpg");
  assert.equal(whole(service1()), "/full/full/0/native.jpg");
  const limited = service2({ profile: ["http://iiif.io/api/image/2/level2.json", { maxWidth: 800 }] });
  assert.equal(whole(limited), "/full/max/0/default.jpg");
  assert.equal(thumbnail(limited, EXTENT), "/full/200,/0/default.jpg");
  const file = { href: `${ID}.jpg`, format: null, width: 10, height: 20, service: null };
  assert.deepEqual(wholeImageOf(file), { href: `${ID}.jpg`, width: 10, height: 20 });
  assert.equal(wholeImageOf({ ...file, href: null }), null);
  assert.equal(whole(service3(), { href: `${ID}.jpg` }), ".jpg");
});

Deno.test("image service: a file has the format that the manifest names for one of the service", () => {
  const named = { href: `${ID}/full/max/0/default.png`, format: "image/png" };
  assert.equal(whole(service3(), named), "/full/max/0/default.png");
  assert.equal(whole(service3(), { format: "image/png" }), "/full/max/0/default.png");
  assert.equal(thumbnail(service3(), named), "/full/200,/0/default.png");
  assert.equal(thumbnail(service1(EXTENT), named), "/full/200,/0/native.png");
  const beside = { href: "https://example.org/p1.png", format: "image/png" };
  assert.equal(thumbnail(service3(), beside), "/full/200,/0/default.jpg");
  assert.equal(thumbnail(service3(), { format: "image/tiff" }), "/full/200,/0/default.jpg");
});

Deno.test("image service: a thumbnail lies within the limits for any image and any frame", () => {
  const extent = fc.integer({ min: 1, max: 100_000 });
  fc.assert(fc.property(extent, extent, extent, extent, fc.option(extent), (width, height, w, h, maxWidth) => {
    const file = thumbnailOf(source(service3({ width, height, maxWidth })), { width: w, height: h });
    assert.ok(file?.width && file.height);
    assert.ok(file.width >= 1 && file.width <= Math.min(width, maxWidth ?? width));
    assert.ok(file.height >= 1 && file.height <= Math.min(height, maxWidth ?? height));
  }));
});
