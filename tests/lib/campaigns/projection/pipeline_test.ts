import assert from "node:assert/strict";
import { MAX_PIPELINE_CHARACTERS, readPipeline } from "@/lib/campaigns/projection/pipeline.ts";
import { NO_PIPELINE } from "@/lib/campaigns/projection/types.ts";

function read(yaml: unknown) {
  return readPipeline({ data: { "pipeline.yaml": yaml } });
}

const document = `
steps:
  - step: Segmentation
    settings:
      model_settings:
        model: archive/yolo-regions
        revision: 4f1c2ab9
  - step: TextRecognition
    settings:
      model_settings: {model: archive/lion, model_kwargs: {revision: 0a1b2c3d}}
  - step: qualityPREDICTION
    settings: {model_settings: {model: quality}}
  - settings: {}
  - step: 5
  - Export
  - step: Export
`;

Deno.test("pipeline: its steps in order, entries without a text step do not count", () => {
  const pipeline = read(document);
  assert.deepEqual(pipeline.steps, ["Segmentation", "TextRecognition", "qualityPREDICTION", "Export"]);
  assert.equal(pipeline.yaml, document);
  assert.equal(pipeline.scoresQuality, true);
});

Deno.test("pipeline: the models it loads with their revision in either place", () => {
  assert.deepEqual(read(document).models, [
    { model: "archive/yolo-regions", revision: "4f1c2ab9" },
    { model: "archive/lion", revision: "0a1b2c3d" },
    { model: "quality", revision: null },
  ]);
});

Deno.test("pipeline: a document that is missing or no text is no pipeline", () => {
  for (
    const configMap of [null, undefined, {}, { data: null }, { data: {} }, { data: { "pipeline.yaml": 5 } }]
  ) {
    assert.deepEqual(readPipeline(configMap), NO_PIPELINE);
  }
});

Deno.test("pipeline: a document that cannot be read has no steps and is still shown", () => {
  const step = "steps: [{step: QualityPrediction}]\n";
  const broken = [
    "",
    "steps: {step: x}",
    "- step: x",
    "steps: [",
    `${step}---\n${step}`,
    `${step}a: !!int abc\n`,
    `${step}a: !local x\n`,
    `${step}a: 2024-02-31\n`,
    `${step}a: 2024-01-01 25:00:00\n`,
    `${step}a: *nowhere\n`,
    `${step}a: ${"[".repeat(30_000)}\n`,
    `${step}a: ${"[".repeat(20_000)}${"]".repeat(20_000)}\n`,
  ];
  for (const yaml of broken) {
    const pipeline = read(yaml);
    assert.deepEqual(pipeline.steps, [], yaml.slice(0, 80));
    assert.equal(pipeline.scoresQuality, false);
    assert.equal(pipeline.yaml, yaml);
  }
});

Deno.test("pipeline: what is odd but readable is read", () => {
  const odd = [
    "steps: [{step: A}]\nwhen: 2024-02-29\n",
    "steps: [{step: A}]\nsteps: [{step: A}]\n",
    "x: &s {step: A}\nsteps: [*s]\n",
    "x: &s {step: A}\nsteps: [{<<: *s}]\n",
    "steps: [{step: A}, {step: yes}, {step: 2024-01-01}, {step: null}, {step: 1_000}]\n",
    `a: &a [x,x,x,x]\nb: &b [*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c]\ne: [*d,*d,*d,*d]\nsteps: [{step: A}]\n`,
  ];
  for (const yaml of odd) assert.deepEqual(read(yaml).steps, ["A"], yaml);
});

Deno.test("pipeline: a document is read up to 64 Ki characters", () => {
  const step = "steps: [{step: A}]\n#";
  const exact = step +
    "\u{1F600}".repeat(MAX_PIPELINE_CHARACTERS - step.length);
  assert.deepEqual(read(exact).steps, ["A"]);
  assert.deepEqual(read(`${exact}x`).steps, []);
});

Deno.test("pipeline: merge keys that multiply are no pipeline, and cost nothing", () => {
  const level = (n: number) =>
    `a${n}: &a${n} {<<: [${Array(9).fill(n === 0 ? "{x: 1}" : `*a${n - 1}`).join(",")}], k${n}: 1}`;
  const yaml = `${Array.from({ length: 12 }, (_, n) => level(n)).join("\n")}\nsteps:\n  - step: Segmentation\n`;
  assert.deepEqual(readPipeline({ data: { "pipeline.yaml": yaml } }).steps, []);
  const few = "base: &base {model: m}\nsteps:\n  - step: S\n    settings:\n      model_settings:\n        <<: *base\n";
  assert.equal(readPipeline({ data: { "pipeline.yaml": few } }).models[0].model, "m");
});
