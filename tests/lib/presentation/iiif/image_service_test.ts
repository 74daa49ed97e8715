import assert from "node:assert/strict";
import fc from "fast-check";
import {
  type ImageFile,
  imageServiceOf,
  smallFileOf,
  thumbnailOf,
  wholeImageOf,
} from "@/lib/presentation/iiif/image_service.ts";
import type { ImageSource } from "@/lib/presentation/iiif/manifest.ts";
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

Deno.test("image service: version and level are read from type, context or profile", () => {
  const read = (node: Node) => {
    const { version, level } = source(node).service!;
    return [version, level];
  };
  assert.deepEqual(read(service1()), [1, 2]);
  assert.deepEqual(read({ "@id": ID, "@context": "http://library.stanford.edu/iiif/image-api/1.1/context.json" }), [
    1,
    null,
  ]);
  assert.deepEqual(read(service2()), [2, 2]);
  assert.deepEqual(read({ "@id": ID, profile: ["http://iiif.io/api/image/2/level1.json", { maxWidth: 500 }] }), [2, 1]);
  assert.deepEqual(read({ "@id": ID, "@type": "ImageService2", profile: "level0" }), [2, 0]);
  assert.deepEqual(read(service3()), [3, 2]);
  assert.deepEqual(read({ "@id": ID, profile: "level1" }), [3, 1]);
  assert.deepEqual(read({ "@id": ID, "@context": "http://iiif.io/api/image/2/context.json", profile: "level1" }), [
    2,
    1,
  ]);
  assert.deepEqual(read({ "@context": "http://iiif.io/api/image/3/context.json", id: ID }), [3, null]);
  for (
    const other of [{}, { "@id": ID }, { "@id": ID, profile: "http://iiif.io/api/auth/1/login" }, {
      type: "ImageService3",
    }]
  ) {
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
  assert.equal(path(thumbnailOf(source(service3({ sizes })), FRAME)), "/full/150,225/0/default.jpg");
  assert.equal(path(thumbnailOf(source(service2({ sizes })), FRAME)), "/full/150,/0/default.jpg");
  assert.equal(
    path(thumbnailOf(source(service3({ sizes, ...level0 })), { width: 2000, height: 2000 })),
    "/full/600,900/0/default.jpg",
  );
});

Deno.test("image service: a thumbnail of no listed size has the image's proportions and no more pixels than it", () => {
  const extent = { width: 2000, height: 3000 };
  assert.equal(path(thumbnailOf(source(service3(extent)), FRAME)), "/full/200,300/0/default.jpg");
  assert.equal(path(thumbnailOf(source(service2(), extent), FRAME)), "/full/200,/0/default.jpg");
  assert.equal(path(thumbnailOf(source(service1(extent)), FRAME)), "/full/200,/0/native.jpg");
  assert.equal(path(thumbnailOf(source(service3()), FRAME)), "/full/200,/0/default.jpg");
  assert.equal(path(thumbnailOf(source(service3({ width: 50, height: 60 })), FRAME)), "/full/50,60/0/default.jpg");
  assert.equal(path(thumbnailOf(source(service3({ ...extent, maxWidth: 100 })), FRAME)), "/full/66,100/0/default.jpg");
  assert.equal(
    path(thumbnailOf(source(service3({ ...extent, maxArea: 15_000 })), FRAME)),
    "/full/100,150/0/default.jpg",
  );
  const distant = [{ width: 1900, height: 2850 }];
  assert.equal(
    path(thumbnailOf(source(service3({ ...extent, sizes: distant })), FRAME)),
    "/full/200,300/0/default.jpg",
  );
});

Deno.test("image service: a page without a thumbnail is shown by its painting only where that is a small file", () => {
  const canvas = { width: 800, height: 1200 };
  const unknown = { width: null, height: null };
  const file = (width: number | null, height: number | null) => ({
    ...source(service3()),
    href: `${ID}.jpg`,
    width,
    height,
    service: null,
  });
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
  const whole = source(service3({ ...level0, width: 2000, height: 3000, sizes }));
  assert.equal(smallFileOf(whole, FRAME, canvas), null);
});

Deno.test("image service: of level 0 only what is ready is requested", () => {
  const extent = { width: 2000, height: 3000 };
  assert.equal(thumbnailOf(source(service3({ ...level0, ...extent })), FRAME), null);
  const file = { ...source(service3({ ...level0, ...extent })), href: `${ID}/full/max/0/default.jpg` };
  assert.equal(path(thumbnailOf(file, FRAME)), "/full/max/0/default.jpg");
  const sizes = [{ width: 1950, height: 2925 }, { width: 1900, height: 2850 }];
  assert.equal(
    path(thumbnailOf(source(service3({ ...level0, ...extent, sizes })), FRAME)),
    "/full/1900,2850/0/default.jpg",
  );
  const tiles = [{ width: 512, scaleFactors: [1, 2, 4, 8, 16] }];
  assert.equal(
    path(thumbnailOf(source(service3({ ...level0, ...extent, tiles })), FRAME)),
    "/full/250,375/0/default.jpg",
  );
});

Deno.test("image service: the whole image is `max` from version 3 on and `full` before", () => {
  assert.equal(path(wholeImageOf(source(service3()))), "/full/max/0/default.jpg");
  assert.equal(path(wholeImageOf(source(service2()))), "/full/full/0/default.jpg");
  assert.equal(path(wholeImageOf(source(service1()))), "/full/full/0/native.jpg");
  const limited = service2({ profile: ["http://iiif.io/api/image/2/level2.json", { maxWidth: 800 }] });
  assert.equal(path(wholeImageOf(source(limited))), "/full/max/0/default.jpg");
  assert.equal(path(thumbnailOf(source(limited, { width: 2000, height: 3000 }), FRAME)), "/full/200,/0/default.jpg");
  const file = { href: `${ID}.jpg`, format: null, width: 10, height: 20, service: null };
  assert.deepEqual(wholeImageOf(file), { href: `${ID}.jpg`, width: 10, height: 20 });
  assert.equal(wholeImageOf({ ...file, href: null }), null);
  assert.equal(wholeImageOf({ ...source(service3()), href: `${ID}.jpg` })?.href, `${ID}.jpg`);
});

Deno.test("image service: a file has the format that the manifest names for one of the service", () => {
  const named = { href: `${ID}/full/max/0/default.png`, format: "image/png" };
  assert.equal(path(wholeImageOf(source(service3(), named))), "/full/max/0/default.png");
  assert.equal(path(wholeImageOf(source(service3(), { format: "image/png" }))), "/full/max/0/default.png");
  assert.equal(path(thumbnailOf(source(service3(), named), FRAME)), "/full/200,/0/default.png");
  assert.equal(
    path(thumbnailOf(source(service1({ width: 2000, height: 3000 }), named), FRAME)),
    "/full/200,/0/native.png",
  );
  const beside = { href: "https://example.org/p1.png", format: "image/png" };
  assert.equal(path(thumbnailOf(source(service3(), beside), FRAME)), "/full/200,/0/default.jpg");
  assert.equal(path(thumbnailOf(source(service3(), { format: "image/tiff" }), FRAME)), "/full/200,/0/default.jpg");
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
