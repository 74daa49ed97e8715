import assert from "node:assert/strict";
import { stop, transform } from "esbuild";

import { PROJECT_FOLDER } from "@/lib/site/built_site.ts";
import { readSources } from "@/tools/imports.ts";
import { jsxWords } from "./jsx_words.ts";

/** Folders of what readers see. */
const FOLDERS = ["components", "islands", "routes"];
/** Names, and the unit of bytes: the same in every language. */
const NAMES: ReadonlySet<string> = new Set(["Stackroom", "ALTO", "UTC", "/openapi.json", "B)"]);

async function wordsIn(source: string): Promise<string[]> {
  const { code } = await transform(source, {
    loader: "tsx",
    jsx: "transform",
    jsxFactory: "h",
    jsxFragment: "F",
    charset: "utf8",
  });
  return jsxWords(code);
}

Deno.test("words in JSX: texts and spoken attributes are found, also in expressions, and nothing else", async () => {
  try {
    const source = `
      const find = (text: string) => /["'(]b/.test(text) ? text.split("no") : 4 / 2 / 1;
      const Page = ({ kind, n }: Props) => (
        <p class="no" title="one" data-x="no" style={{ label: "no" }} onClick={() => run("no", { title: "no" })}>
          two <b lang={\`no \${kind}\`} aria-label={n === "no" ? \`three \${find("no")}\` : "four"} /> – {n} {LABELS.no}
          {kind === "no" && "five"}
          {(n > 1 && ("six")) || list.map((row) => <i key="no" {...row}>{\`\${row} seven\`}</i>)}
          &nbsp;· 12 {"no" in LABELS && ["no"].map(String)}
        </p>
      );`;
    assert.deepEqual(await wordsIn(source), ["one", "two", "three", "four", "five", "six", "seven"]);
  } finally {
    await stop();
  }
});

Deno.test("words in JSX: pages, components and islands hold none, so that each language has its own", async () => {
  try {
    const found: string[] = [];
    for (const [file, source] of readSources(PROJECT_FOLDER)) {
      if (!file.endsWith(".tsx") || !FOLDERS.some((folder) => file.startsWith(`${folder}/`))) continue;
      for (const words of await wordsIn(source)) if (!NAMES.has(words)) found.push(`${file}: ${words}`);
    }
    assert.deepEqual(found, []);
  } finally {
    await stop();
  }
});
