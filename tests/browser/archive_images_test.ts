import assert from "node:assert/strict";

import { startEmbeddedArchive } from "@/embedded/archive/server.ts";
import { launch } from "./chromium.ts";

/** Largest mean difference between the colours of both formats, of 255. */
const MEAN_DIFFERENCE = 6;

Deno.test("archive: the browser sees the same image in jpg as in png, in colour, grey and turned", async () => {
  const archive = startEmbeddedArchive({ host: "127.0.0.1", seed: 5, volumes: [] });
  const browser = await launch();
  try {
    const page = await browser.newPage();
    await page.goto(`${archive.url}/iiif/sample-2000-pages/manifest.json`);
    const service = `${archive.url}/image/sample-2000-pages/0003`;
    for (const image of ["full/203,281/0/default", "100,300,500,333/max/90/color", "500,500,300,300/^400,/0/gray"]) {
      const { sizes, mean } = await page.evaluate(async (address) => {
        const images = await Promise.all(["png", "jpg"].map(async (format) => {
          const bitmap = await createImageBitmap(await (await fetch(`${address}.${format}`)).blob());
          const canvas = new OffscreenCanvas(bitmap.width, bitmap.height);
          const context = canvas.getContext("2d");
          if (!context) throw new Error("no canvas");
          context.drawImage(bitmap, 0, 0);
          return context.getImageData(0, 0, bitmap.width, bitmap.height);
        }));
        const [png, jpg] = images.map(({ data }) => data);
        let sum = 0;
        for (let at = 0; at < png.length; at++) sum += Math.abs(png[at] - jpg[at]);
        return { sizes: images.map(({ width, height }) => `${width}x${height}`), mean: sum / (png.length * 3 / 4) };
      }, `${service}/${image}`);
      assert.equal(sizes[0], sizes[1], image);
      assert.ok(mean < MEAN_DIFFERENCE, `${image}: ${mean}`);
    }
  } finally {
    await browser.close();
    await archive.close();
  }
});
