import assert from "node:assert/strict";
import { PROJECT_FOLDER } from "@/lib/site/site.ts";
import { readSources } from "@/tools/imports.ts";

/** The code spans before the advice of an item. */
const ITEM = /^- ((?:`[^`]+`(?: with a stack)?(?:,\s+)?)+):\s/gm;
/** Scripts and templates that end with a sentence of their own. */
const DEPLOYED = [
  "backup",
  "compose.yaml",
  ...["_helpers.tpl", "scaling.yaml", "service_monitor.yaml"].map((file) => `chart/templates/${file}`),
];

const page = await Deno.readTextFile("docs/troubleshooting.md");
const messages = [...page.matchAll(ITEM)].flatMap(([, spans]) =>
  [...spans.matchAll(/`([^`]+)`/g)].map(([, message]) => message)
);

Deno.test("troubleshooting: the source has the words of every entry, and each message has one entry", async () => {
  const deployed = await Promise.all(DEPLOYED.map((file) => Deno.readTextFile(`deploy/${file}`)));
  const sources = [...readSources(PROJECT_FOLDER)].filter(([path]) => !/^(embedded\/)?tests\//.test(path)).map((
    [, text],
  ) => text);
  const source = [...sources, ...deployed].join("\n").replace(/(["'`]) \+\n\s*["'`]/g, "");
  const stale = messages.filter((message) => message.split("…").some((part) => !source.includes(part)));
  assert.deepEqual(stale, [], "docs/troubleshooting.md has entries of no sentence");
  assert.deepEqual(messages.filter((message, at) => messages.indexOf(message) !== at), []);
});
