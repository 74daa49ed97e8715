import assert from "node:assert/strict";
import { drawnAlto, drawnPage } from "@/embedded/archive/catalogue.ts";
import { Simulator } from "@/embedded/cluster/simulator.ts";
import { memoryWriter, sampleOptions } from "./sample_cluster.ts";

const writer = memoryWriter();
const simulator = new Simulator(sampleOptions({ writer }));
await simulator.step(1000);
const BASE = "batch-default/swedish-lion-v2/SE-RA-420-1720-B-0106";

Deno.test("results: progress.json and manifest.json agree and count every page", () => {
  const progress = writer.json(`${BASE}/progress.json`);
  const manifest = writer.json(`${BASE}/manifest.json`);
  assert.equal(progress.stage, "done");
  assert.equal(progress.pages_total, manifest.pages);
  assert.equal(progress.pages_done + progress.pages_failed, manifest.pages);
  const results: { status: string; quality?: number }[] = Object.values(manifest.results);
  assert.equal(results.length, manifest.pages);
  // Its third attempt kept the pages of the first two.
  assert.ok(results.some(({ status }) => status === "skipped"));
  assert.equal(manifest.viewer_url, `http://127.0.0.1:8000/results/${BASE}/iiif.json`);
  assert.deepEqual(manifest.quality, progress.quality);
  const { mean, min, scored, lowest } = progress.quality;
  assert.ok(min <= mean && mean <= 1 && min >= 0 && scored <= manifest.pages);
  assert.equal(lowest[0].quality, min);
  assert.ok(lowest.length <= 5);
});

Deno.test("results: the viewer's pages name existing ALTO files", () => {
  const viewer = writer.json(`${BASE}/iiif.json`);
  assert.equal(viewer.type, "Manifest");
  assert.ok(viewer.items.length > 0);
  for (const canvas of viewer.items) {
    const key = canvas.seeAlso[0].id.slice("http://127.0.0.1:8000/results/".length);
    assert.ok(writer.files.has(key), key);
    assert.deepEqual([canvas.width, canvas.height], [1600, 2208]);
    assert.equal(canvas.seeAlso[0].profile, "http://www.loc.gov/standards/alto/ns-v4#");
    assert.equal(canvas.seeAlso[0].format, "application/xml+alto");
    assert.deepEqual(canvas.metadata[0].label, { en: ["Predicted quality"] });
    const name = `SE-RA-420-1720-B-0106/${canvas.label.none[0]}.png`;
    assert.equal(canvas.items[0].items[0].body.id, `http://127.0.0.1:9000/image/${name}`);
    assert.equal(canvas.thumbnail[0].id, `http://127.0.0.1:9000/thumbnail/${name}`);
  }
});

Deno.test("results: ALTO is that of the page that the archive shows, under the name and the score of the volume's page", () => {
  for (let page = 1; page <= 4; page++) {
    const alto = writer.text(`${BASE}/alto/000${page}.xml`);
    const drawn = drawnAlto(drawnPage("SE-RA-420-1720-B-0106", page));
    const text = (xml: string) => xml.slice(xml.indexOf("<PrintSpace"));
    assert.equal(text(alto), text(drawn));
    assert.ok(alto.includes(`<fileName>000${page}.png</fileName>`));
    assert.match(
      alto,
      new RegExp(`<Page ID="page_${page}" PHYSICAL_IMG_NR="${page}" PC="0\\.\\d+" WIDTH="1600" HEIGHT="2208">`),
    );
  }
});

Deno.test("results: run logs end with the marker of their outcome", () => {
  const log = (pipeline: string, volume: string) => writer.text(`batch-default/status/logs/${pipeline}/${volume}.txt`);
  const done = log("swedish-lion-v2", "SE-RA-420-1720-B-0106").trimEnd().split("\n");
  assert.match(done.at(-1) ?? "", /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} INFO \[.*\] COMPLETE \d+ pages$/);
  assert.ok(done.some((line) => /\] \d+ pages in manifest$/.test(line)));
  assert.ok(done.some((line) => /resume: \d+ done, \d+ to process$/.test(line)));
  assert.deepEqual(done.map((line) => line.slice(0, 23)), done.map((line) => line.slice(0, 23)).sort());
  assert.match(log("swedish-lion-v1", "SE-GLA-1790-A2-0007"), /ERROR \[.*\] permanent failure in setup: /);
  assert.match(log("swedish-lion-v1", "SE-GLA-1790-A2-0010"), /transient failure in verify on the last attempt: /);
});

Deno.test("results: a volume without a manifest of its own gets one", () => {
  const key = "batch-default/sources/swedish-lion-v2/SE-SVEAH-1870-A1-0411/manifest.json";
  assert.ok(writer.files.has(key));
  assert.match(JSON.stringify(writer.json(key)), /SE-SVEAH-1870-A1-0411/);
});

Deno.test("results: a running volume's ALTO files are there as soon as its progress counts their pages", async () => {
  const live = memoryWriter();
  const moving = new Simulator(sampleOptions({ writer: live }));
  await moving.step(0);
  let last = "";
  let changes = 0;
  for (let second = 0; second < 90; second++) {
    await moving.step(1000);
    const running = [...live.files.keys()].filter((key) => /\/SE-SVEAH-[^/]*\/progress\.json$/.test(key));
    const counts = running.map((key) => {
      const { pages_done, stage } = live.json(key);
      // A new attempt counts what is there once it has looked.
      if (stage === "setup") return 0;
      const folder = key.replace("progress.json", "alto/");
      assert.equal([...live.files.keys()].filter((other) => other.startsWith(folder)).length, pages_done, key);
      return pages_done;
    });
    if (counts.join() !== last) changes++;
    last = counts.join();
  }
  assert.ok(changes > 20, String(changes));
});
