import assert from "node:assert/strict";
import fc from "fast-check";

import { ALL_SENTENCES, invalidText } from "@/lib/pages/coded_check_sentences.ts";
import { codedAt, codedText, codedTexts, translated } from "@/lib/pages/coded_sentences.ts";
import { LANGUAGES, readLanguageFrom } from "@/lib/pages/locale/language.ts";
import { PROBLEM_CODES } from "@/lib/std/coded.ts";

function inSwedish(check: () => void): void {
  readLanguageFrom(() => "sv");
  try {
    check();
  } finally {
    readLanguageFrom(() => "en");
  }
}

Deno.test("coded sentences: the code decides, and a text without a known one stays as it is", () => {
  const json = { detail: "Too many", code: "archive_objects_too_many", params: { count: 60_000, most: 50_000 } };
  assert.equal(codedText(json, "detail"), "Too many objects (60,000): an archive holds at most 50,000");
  inSwedish(() => {
    assert.match(codedText(json, "detail"), /^För många objekt \(60\s000\): ett arkiv rymmer 50\s000$/);
    assert.equal(codedText({ ...json, code: "of_the_store" }, "detail"), "Too many");
    assert.equal(codedText({ ...json, code: "constructor" }, "detail"), "Too many");
    assert.equal(codedText({ code: "archive_empty" }, "detail"), "");
    assert.equal(codedText({ detail: "x", code: "manifest_deleted" }, "detail", ALL_SENTENCES).includes("”?”"), true);
    assert.deepEqual(codedTexts(["a", "b"], [null, { code: "archive_empty" }]), ["a", "Det finns inga objekt där"]);
    assert.deepEqual(codedTexts(["a"], undefined), ["a"]);
    assert.equal(
      invalidText({ type: "string_too_long", msg: "x", ctx: { max_length: 255 } }),
      "texten får ha högst 255 tecken",
    );
    assert.equal(invalidText({ type: "value_error", msg: "not a bucket" }), "not a bucket");
  });
});

Deno.test("coded sentences: any JSON gives a sentence, in every language for every code", () => {
  fc.assert(fc.property(fc.constantFrom(...PROBLEM_CODES), fc.jsonValue(), fc.jsonValue(), (code, params, other) => {
    for (const language of LANGUAGES) {
      readLanguageFrom(() => language);
      try {
        assert.ok(translated({ text: "x", coded: codedAt({ code, params }) }, ALL_SENTENCES).length > 1);
        assert.equal(typeof codedText(other, "detail"), "string");
        assert.equal(typeof invalidText(other), "string");
      } finally {
        readLanguageFrom(() => "en");
      }
    }
  }));
});
