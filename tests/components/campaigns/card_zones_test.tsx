import assert from "node:assert/strict";

import { renderToString } from "preact-render-to-string";

import { CardProvenance, CardTotals } from "@/components/campaigns/open_zones.tsx";
import { detail, summary } from "@/tests/site/fake_campaigns.ts";

const words = (html: string) => html.replace(/<[^>]+>/g, " ").replace(/\s+/g, " ").trim();

Deno.test("card totals: how many volumes are counted, what is lost, and the lowest pages at their places", () => {
  const job = summary({ name: "lund", counts: { total: 40, active: 2, done: 25, failed: 1 } });
  const read = detail(job, [], {
    pagesDone: 351,
    pagesTotal: 373,
    pagesFailed: 7,
    pagesCoverage: { counted: 20, of: 28 },
    quality: {
      mean: 0.874,
      min: 0.3,
      scored: 300,
      volumes: 20,
      lowest: [{
        volume: "v1",
        page: "0004",
        quality: 0.3,
        canvas: 3,
        iiifUrl: "http://a.example/results/v1/iiif.json",
      }],
    },
  });
  const html = renderToString(<CardTotals job={job} detail={read} />);
  assert.match(
    words(html),
    /Volumes 25 \/ 40 1 failed 2 active Pages ≥\s?351 \/ ≥\s?373 7 pages could not be read counted in 20 of 28/,
  );
  assert.match(words(html), /quality 0\.87/);
  const [, href] = /<a href="([^"]*)"[^>]*>0\.30</.exec(html) ?? [];
  assert.match(href, /^\/uv\.html#\?manifest=http%3A%2F%2Fa\.example%2Fresults%2Fv1%2Fiiif\.json&amp;cv=3/);
});

Deno.test("card totals: the line of volumes is left out where there is one, but not without scripts", () => {
  const job = summary({ name: "lund", counts: { total: 1, active: 1, done: 0, failed: 0 } });
  assert.match(renderToString(<CardTotals job={job} detail={null} />), /<div class="without-scripts"><dt>Volumes/);
});

Deno.test("card provenance: each model with seven characters of its revision, or as unpinned", () => {
  const job = summary({ name: "lund" });
  const read = detail(job, [], {
    pipelineSteps: ["TextRecognition", "QualityPrediction"],
    pipelineModels: [{ model: "a/lines", revision: null }, { model: "a/text", revision: "4f1c2ab9d8e7" }],
    pipelineYaml: "steps: []",
  });
  const html = renderToString(<CardProvenance job={job} detail={read} isExpanded={false} onExpand={() => {}} />);
  assert.match(words(html), /Text recognition → Quality prediction Models: a\/lines unpinned a\/text @4f1c2ab /);
  assert.match(html, /href="https:\/\/huggingface\.co\/a\/lines\/tree\/main"/);
  assert.match(html, /href="https:\/\/huggingface\.co\/a\/text\/tree\/4f1c2ab9d8e7"/);
  assert.match(html, /<pre[^>]* hidden/);
});
