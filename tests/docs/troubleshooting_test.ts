import assert from "node:assert/strict";
import { errorSentences } from "./error_sentences.ts";

const ROOT = new URL("../../", import.meta.url);
/** The code spans before the advice of an item. */
const ITEM = /^- ((?:`[^`]+`(?: with a stack)?(?:,\s+)?)+):\s/gm;

/** The messages that have an entry. */
function entries(markdown: string): string[] {
  return [...markdown.matchAll(ITEM)].flatMap(([, spans]) =>
    [...spans.matchAll(/`([^`]+)`/g)].map(([, message]) => message)
  );
}

/** Finds a message, in which `…` is any text, within a sentence. */
function pattern(message: string): RegExp {
  return new RegExp(message.split("…").map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")).join(".*"));
}

const sentences = await errorSentences(ROOT);
const messages = entries(await Deno.readTextFile(new URL("docs/troubleshooting.md", ROOT)));

Deno.test("troubleshooting: every sentence of an error or a warning has an entry", () => {
  const patterns = messages.map(pattern);
  const missing = sentences.filter(({ text }) => !patterns.some((one) => one.test(text)));
  const lines = missing.map(({ path, text }) => `${path}: ${text}`);
  assert.equal(lines.length, 0, `docs/troubleshooting.md needs an entry for each of\n${lines.join("\n")}`);
});

Deno.test("troubleshooting: every entry is a part of a sentence, and each message has one entry", () => {
  const stale = messages.filter((message) => !sentences.some(({ text }) => pattern(message).test(text)));
  assert.equal(stale.length, 0, `docs/troubleshooting.md has entries of no sentence:\n${stale.join("\n")}`);
  assert.deepEqual(messages.filter((message, at) => messages.indexOf(message) !== at), []);
});

Deno.test("troubleshooting: an entry has words enough to be found by, on one line", () => {
  assert.deepEqual(messages.filter((message) => message.includes("\n")), []);
  assert.deepEqual(messages.filter((message) => message.replace(/[^\p{L}]/gu, "").length < 5), []);
});
