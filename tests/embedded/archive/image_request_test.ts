import assert from "node:assert/strict";
import fc from "fast-check";
import {
  BadImageRequest,
  type ImageApi,
  type ImageRequest,
  MAX_IMAGE_AREA,
  MAX_IMAGE_HEIGHT,
  MAX_IMAGE_WIDTH,
  readImageRequest,
} from "@/embedded/archive/image_request.ts";
import { PAGE_HEIGHT, PAGE_WIDTH } from "@/embedded/archive/page_layout.ts";

/** Region and size of a request in short: `x,y,w,h -> w x h`. */
function read(api: ImageApi, path: string): string {
  const { region, width, height } = readImageRequest(api, path.split("/"));
  return `${region.x},${region.y},${region.width},${region.height} ${width}x${height}`;
}

Deno.test("image request: every form of region and size of both versions", () => {
  const whole = `0,0,${PAGE_WIDTH},${PAGE_HEIGHT}`;
  const forms: [ImageApi, string, string][] = [
    [3, "full/max", `${whole} 1600x2208`],
    [2, "full/full", `${whole} 1600x2208`],
    [2, "full/max", `${whole} 1600x2208`],
    [3, "square/max", "0,304,1600,1600 1600x1600"],
    [3, "10,20,300,400/max", "10,20,300,400 300x400"],
    [3, "1500,2200,300,400/max", "1500,2200,100,8 100x8"],
    [3, "pct:25,50,50,25/max", "400,1104,800,552 800x552"],
    [3, "pct:.5,0,12.5,100/max", "8,0,200,2208 200x2208"],
    [3, "full/400,", `${whole} 400x552`],
    [3, "full/,276", `${whole} 200x276`],
    [3, "full/pct:25", `${whole} 400x552`],
    [3, "full/300,100", `${whole} 300x100`],
    [3, "full/!200,200", `${whole} 145x200`],
    [3, "0,0,100,100/!400,300", "0,0,100,100 100x100"],
    [3, "0,0,100,100/^!400,300", "0,0,100,100 300x300"],
    [3, "0,0,100,100/^200,", "0,0,100,100 200x200"],
    [3, "0,0,100,100/^,50", "0,0,100,100 50x50"],
    [3, "0,0,100,100/^pct:150", "0,0,100,100 150x150"],
    [3, "0,0,100,100/^250,30", "0,0,100,100 250x30"],
    [3, "0,0,1000,1000/^max", "0,0,1000,1000 2000x2000"],
    [2, "0,0,100,100/200,", "0,0,100,100 200x200"],
    [2, "0,0,100,100/!400,300", "0,0,100,100 300x300"],
  ];
  for (const [api, path, expected] of forms) assert.equal(read(api, `${path}/0/default.png`), expected, path);
});

Deno.test("image request: what the versions do not allow or the service does not offer is an error", () => {
  const wrong: [ImageApi, string][] = [
    [3, "full/full/0/default.png"],
    [2, "full/^max/0/default.png"],
    [3, "full/1601,/0/default.png"],
    [3, "full/pct:101/0/default.png"],
    [3, "full/1600,2209/0/default.png"],
    [3, "full/^2401,/0/default.png"],
    [2, "full/pct:200/0/default.png"],
    [3, "0,0,10,1000/1,/0/default.pn"],
    [3, "0,0,1000,1/1,/0/default.png"],
    [3, "full/0,/0/default.png"],
    [3, "full/,/0/default.png"],
    [3, "full/!10,/0/default.png"],
    [3, "full/10,10,10/0/default.png"],
    [3, "full/-1,/0/default.png"],
    [3, "full/1e2,/0/default.png"],
    [3, "full/ 10,/0/default.png"],
    [3, "0,0,0,10/max/0/default.png"],
    [3, "1600,0,10,10/max/0/default.png"],
    [3, "0,2208,10,10/max/0/default.png"],
    [3, "-1,0,10,10/max/0/default.png"],
    [3, "0,0,10/max/0/default.png"],
    [3, "pct:0,0,0,10/max/0/default.png"],
    [3, "pct:100,0,10,10/max/0/default.png"],
    [3, "pct:a,0,10,10/max/0/default.png"],
    [3, "99999999999,0,10,10/max/0/default.png"],
    [3, "full/max/45/default.png"],
    [3, "full/max/90.5/default.png"],
    [3, "full/max/450/default.png"],
    [3, "full/max/-90/default.png"],
    [3, "full/max/!0/default.png"],
    [3, "full/max/x/default.png"],
    [3, "full/max/0/native.png"],
    [3, "full/max/0/__proto__.png"],
    [3, "full/max/0/default.jpeg"],
    [3, "full/max/0/default.webp"],
    [3, "full/max/0/default.png.png"],
    [3, "full/max/0/default"],
    [3, "Full/max/0/default.png"],
  ];
  for (const [api, path] of wrong) {
    assert.throws(() => readImageRequest(api, path.split("/")), BadImageRequest, path);
  }
});

Deno.test("image request: quarter turns and both formats, with the canonical form of each", () => {
  const canonical = (path: string) => readImageRequest(3, path.split("/")).canonical;
  assert.equal(canonical("full/max/90/default.jpg"), "full/max/90/default.jpg");
  assert.equal(canonical("full/max/270.0/color.png"), "full/max/270/default.png");
  assert.equal(canonical("full/max/360/gray.jpg"), "full/max/0/gray.jpg");
  const { width, height, rotation, format } = readImageRequest(3, ["full", "400,", "90", "default.jpg"]);
  assert.deepEqual({ width, height, rotation, format }, { width: 400, height: 552, rotation: 90, format: "jpg" });
});

const number = fc.oneof(
  { weight: 12, arbitrary: fc.nat({ max: 1700 }).map(String) },
  { weight: 3, arbitrary: fc.double({ min: 0, max: 120, noNaN: true }).map((value) => value.toFixed(3)) },
  { weight: 1, arbitrary: fc.nat({ max: 9000 }).map(String) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(
      "",
      "-1",
      "0",
      "00",
      "1e9",
      "NaN",
      "Infinity",
      "999999999",
      "9".repeat(400),
      " 1",
      "1,2",
    ),
  },
);
const list = (length: number) =>
  fc.array(number, { minLength: length, maxLength: length }).map((parts) => parts.join());
const region = fc.oneof(
  fc.constantFrom("full", "square"),
  list(4),
  list(4).map((parts) => `pct:${parts}`),
  fc.string({ maxLength: 12 }),
);
const size = fc.tuple(
  fc.constantFrom("", "^", "!", "^!", "!^"),
  fc.oneof(
    fc.constantFrom("max", "full"),
    list(2),
    number.map((part) => `pct:${part}`),
    number.map((part) => `${part},`),
    number.map((part) => `,${part}`),
    fc.string({ maxLength: 12 }),
  ),
).map((parts) => parts.join(""));
const api = fc.constantFrom<ImageApi[]>(2, 3);

function readOrNull(api: ImageApi, parts: readonly string[]): ImageRequest | null {
  try {
    return readImageRequest(api, parts);
  } catch (error) {
    assert.ok(error instanceof BadImageRequest, String(error));
    return null;
  }
}

Deno.test("image request: no request makes an image beyond the limits or reads beside the page", () => {
  let valid = 0;
  fc.assert(
    fc.property(api, region, size, (api, region, size) => {
      const request = readOrNull(api, [region, size, "0", "default.png"]);
      if (!request) return;
      valid++;
      const { x, y, width, height } = request.region;
      for (const value of [x, y, width, height, request.width, request.height]) assert.ok(Number.isInteger(value));
      assert.ok(x >= 0 && y >= 0 && width >= 1 && height >= 1);
      assert.ok(x + width <= PAGE_WIDTH && y + height <= PAGE_HEIGHT);
      assert.ok(request.width >= 1 && request.width <= MAX_IMAGE_WIDTH);
      assert.ok(request.height >= 1 && request.height <= MAX_IMAGE_HEIGHT);
      assert.ok(request.width * request.height <= MAX_IMAGE_AREA);
      if (api === 3 && !size.startsWith("^")) assert.ok(request.width <= width && request.height <= height);
    }),
    { numRuns: 4000 },
  );
  assert.ok(valid > 100, String(valid));
});

Deno.test("image request: the canonical form names the same image and is canonical itself", () => {
  fc.assert(
    fc.property(
      api,
      region,
      size,
      fc.constantFrom("0", "90", "180", "270"),
      fc.constantFrom("default.png", "color.jpg", "gray.png", "bitonal.jpg"),
      (api, region, size, rotation, file) => {
        const request = readOrNull(api, [region, size, rotation, file]);
        if (!request) return;
        assert.deepEqual(readImageRequest(api, request.canonical.split("/")), request);
      },
    ),
    { numRuns: 2000 },
  );
});
