import assert from "node:assert/strict";

import { modelPage } from "@/components/campaigns/open_zones.tsx";

Deno.test("model page: an owner's model at its revision, or at its newest", () => {
  assert.equal(modelPage("Riksarkivet/trocr-1.b_2", null), "https://huggingface.co/Riksarkivet/trocr-1.b_2/tree/main");
  assert.equal(modelPage("a/b", "v1/../x?"), "https://huggingface.co/a/b/tree/v1%2F..%2Fx%3F");
});

Deno.test("model page: anything else is no model of that site", () => {
  for (const id of ["", "a", "/data/models/a", "a/b/c", "a/..", "../b", "https://h/a", "a/b?c", "a b/c", "a/b\n"]) {
    assert.equal(modelPage(id, null), null, id);
  }
});
