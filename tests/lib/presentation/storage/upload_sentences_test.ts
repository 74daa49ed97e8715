import assert from "node:assert/strict";

import { faultSentence } from "@/lib/presentation/storage/upload_sentences.ts";

Deno.test("upload sentences: what the store said stands in the sentence as one", () => {
  const facts = { sent: "2.3 MB" };
  assert.equal(
    faultSentence({ kind: "refused", detail: "The key is odd", ...facts }),
    "The store does not take this file. The key is odd.",
  );
  assert.equal(
    faultSentence({ kind: "busy", detail: "Slow down. ", ...facts }),
    "The upload failed after several attempts. Slow down. Try again later.",
  );
  assert.equal(faultSentence({ kind: "refused", detail: null, ...facts }), "The store does not take this file.");
  assert.match(faultSentence({ kind: "lost", detail: null, ...facts }), /lost after 2\.3 MB/);
});
