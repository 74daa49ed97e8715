import assert from "node:assert/strict";

const ROOT = new URL("../../", import.meta.url);
/** The printed table of rooms, some of which may be empty; it has a test of its own. */
const ROOMS = /<!-- rooms:.*<!-- end of rooms -->/s;
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  ...[...Deno.readDirSync(new URL("docs/", ROOT))].map(({ name }) => `docs/${name}`).filter((path) =>
    path.endsWith(".md")
  ),
]
  .filter((name) => name.endsWith(".md"));

Deno.test("docs: every file and folder of the project that a page names exists", async () => {
  for (const page of PAGES) {
    const text = (await Deno.readTextFile(new URL(page, ROOT))).replace(ROOMS, "");
    for (const [, path] of text.matchAll(/`((?:bench|compose|embedded|lib|routes|tests|tools)\/[\w./-]*)`/g)) {
      await assert.doesNotReject(Deno.stat(new URL(path, ROOT)), `${page} names ${path}`);
    }
  }
});

Deno.test("docs: every link of a page leads to a page and a heading that are there", async () => {
  for (const page of PAGES) {
    const text = await Deno.readTextFile(new URL(page, ROOT));
    for (const [, path, heading] of text.matchAll(/\]\((?!https?:)([^)#]*)(?:#([^)]+))?\)/g)) {
      const target = new URL(path || page.replace(/^.*\//, ""), new URL(page, ROOT));
      const content = await Deno.readTextFile(target).catch(() => assert.fail(`${page} links to ${path}`));
      if (heading) assert.ok(headings(content).includes(heading), `${page} links to ${path}#${heading}`);
    }
  }
});

/** The anchors of a page's headings, as GitHub makes them. */
function headings(markdown: string): string[] {
  return [...markdown.matchAll(/^#+ (.*)$/gm)].map(([, title]) =>
    title.toLowerCase().replace(/[^\p{L}\p{N} _-]/gu, "").replaceAll(" ", "-")
  );
}
