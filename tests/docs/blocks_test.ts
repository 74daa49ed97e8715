import assert from "node:assert/strict";
import { parse } from "yaml";

const ROOT = new URL("../../", import.meta.url);
const PAGES = [
  "README.md",
  "CONTRIBUTING.md",
  "SECURITY.md",
  "embedded/README.md",
  "embedded/store/README.md",
  "embedded/cluster/README.md",
  "embedded/archive/README.md",
  ...[...Deno.readDirSync(new URL("docs/", ROOT))].map(({ name }) => `docs/${name}`).filter((path) =>
    path.endsWith(".md")
  ),
];

interface Block {
  readonly page: string;
  readonly language: string;
  readonly text: string;
}

const texts = new Map(PAGES.map((page) => [page, Deno.readTextFileSync(new URL(page, ROOT))]));
const blocks: readonly Block[] = [...texts].flatMap(([page, markdown]) =>
  [...markdown.matchAll(/^( *)```(\w*)\n(.*?)^\1```$/gms)].map(([, indent, language, text]) => ({
    page,
    language,
    text: text.replaceAll(new RegExp(`^${indent}`, "gm"), ""),
  }))
);
const inLanguage = (...languages: string[]) => blocks.filter(({ language }) => languages.includes(language));
const shell = inLanguage("sh", "bash");
const { tasks } = JSON.parse(Deno.readTextFileSync(new URL("deno.json", ROOT)));

/** Names in the environment of other programs than Stackroom. */
const OF_OTHERS = /^(?:PATH|DENO_DIR|DENO_SERVE_ADDRESS|RCLONE_CONFIG_\w+)$/;

Deno.test("blocks: every block is in a language that is checked here, or shows what a program prints", () => {
  const known = ["", "text", "mermaid", "sh", "bash", "json", "yaml", "nginx", "caddyfile", "python"];
  const others = blocks.filter(({ language }) => !known.includes(language));
  assert.deepEqual(others.map(({ page, language }) => `${page}: ${language}`), []);
  assert.ok(shell.length >= 30, String(shell.length));
});

Deno.test("blocks: a shell reads every block of commands", async () => {
  for (const { page, text } of shell) {
    const child = new Deno.Command("sh", { args: ["-n"], stdin: "piped", stderr: "piped" }).spawn();
    const writer = child.stdin.getWriter();
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
    const { success, stderr } = await child.output();
    assert.ok(success, `${page}: ${new TextDecoder().decode(stderr)}\n${text}`);
  }
});

Deno.test("blocks: every task that a page names exists", () => {
  for (const [page, text] of texts) {
    for (const [, name] of text.matchAll(/\bdeno task (?:--\S+ )*([a-z][\w:]*)/g)) {
      assert.ok(Object.hasOwn(tasks, name), `${page}: deno task ${name}`);
    }
  }
});

Deno.test("blocks: every variable that is set is a setting, or one that the commands of the page use", async () => {
  const settings = await Deno.readTextFile(new URL("docs/configuration.md", ROOT));
  const deployed = await Promise.all(
    ["deploy/compose.yaml", "deploy/Caddyfile"].map((path) => Deno.readTextFile(new URL(path, ROOT))),
  );
  for (const { page, text } of shell) {
    for (const [, name] of text.matchAll(/(?:^|[\s;(])([A-Z][A-Z0-9_]+)=/gm)) {
      const isUsed = new RegExp(`\\$\\{?${name}\\b`).test(texts.get(page)!);
      const isSetting = settings.includes(`\`${name}\``) ||
        deployed.some((text) => new RegExp(`\\{\\$?${name}\\b`).test(text));
      assert.ok(isUsed || isSetting || OF_OTHERS.test(name), `${page}: ${name}`);
    }
  }
});

Deno.test("blocks: every file of the project in a command exists", async () => {
  for (const { page, text } of shell) {
    for (const [, path] of text.matchAll(/(?<![\w/.-])((?:deploy|docs|tools|bench)\/[\w./-]+)/g)) {
      // The secrets of the compose file, which deploy/up creates.
      if (path === "deploy/.env") continue;
      await assert.doesNotReject(Deno.stat(new URL(path, ROOT)), `${page}: ${path}`);
    }
  }
});

Deno.test("blocks: every curl command requests an operation of the API", async () => {
  const { paths } = JSON.parse(await Deno.readTextFile(new URL("tests/docs/openapi.golden.json", ROOT)));
  const templates = Object.keys(paths).map((path) => ({
    path,
    pattern: new RegExp(`^${path.replace(/\{(?:key|prefix)\}/g, ".+").replace(/\{\w+\}/g, "[^/]+")}$`),
  }));
  let checked = 0;
  for (const { page, text } of blocks) {
    for (const [command] of text.replaceAll("\\\n", " ").matchAll(/\bcurl [^|\n)]*(?:\([^)]*\)[^|\n)]*)*/g)) {
      const path = /(?:\$(?:API|api)|\/api\/v1)(\/[^\s"'?|]*)/.exec(command)?.[1] ??
        /:\d+(\/\w+)/.exec(command)?.[1];
      if (path === undefined) continue;
      const method = /-X (\w+)/.exec(command)?.[1] ??
        (/ -T /.test(command)
          ? "PUT"
          : / (?:-d|--json) /.test(command)
          ? "POST"
          : / -I /.test(command)
          ? "HEAD"
          : "GET");
      const full = /\$(?:API|api)|\/api\/v1/.test(command) ? `/api/v1${path}` : path;
      const found = templates.some(({ path, pattern }) => pattern.test(full) && paths[path][method.toLowerCase()]);
      assert.ok(found, `${page}: ${method} ${full}`);
      checked++;
    }
  }
  assert.ok(checked >= 25, String(checked));
});

Deno.test("blocks: JSON and YAML can be read, and the chart has the values that are set", async () => {
  for (const { text } of inLanguage("json")) JSON.parse(text);
  const known = parse(await Deno.readTextFile(new URL("deploy/chart/values.yaml", ROOT)));
  const free = new Set(["settings", "annotations"]);
  const compare = (given: Record<string, unknown>, values: Record<string, unknown>, path: string) => {
    for (const [name, value] of Object.entries(given)) {
      assert.ok(Object.hasOwn(values, name), `${path}${name}`);
      if (typeof value !== "object" || value === null || Array.isArray(value) || free.has(name)) continue;
      compare({ ...value }, { ...(values[name] as Record<string, unknown>) }, `${path}${name}.`);
    }
  };
  for (const { page, text } of inLanguage("yaml")) {
    const given = parse(text);
    // That of Prometheus, with the alerts by the name of their file.
    if (Object.hasOwn(given, "scrape_configs")) {
      assert.deepEqual(Object.keys(given), ["rule_files", "scrape_configs"], page);
      assert.equal(given.scrape_configs[0].job_name, "stackroom", page);
    } else compare(given, known, `${page}: `);
  }
});
