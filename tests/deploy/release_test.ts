import assert from "node:assert/strict";

const { version } = JSON.parse(await Deno.readTextFile("deno.json"));

Deno.test("release: the version is the same wherever it stands", async () => {
  const named: Readonly<Record<string, RegExp>> = {
    "CHANGELOG.md": /^## (\d+\.\d+\.\d+)/m,
    "deploy/chart/Chart.yaml": /^appVersion: ([\d.]+)/m,
    "deploy/compose.yaml": /image: stackroom:([\d.]+)/,
    "deploy/Dockerfile": /^ARG VERSION=([\d.]+)/m,
    "docs/deployment.md": /--branch v([\d.]+) /,
  };
  for (const [path, pattern] of Object.entries(named)) {
    assert.equal(pattern.exec(await Deno.readTextFile(path))?.[1], version, path);
  }
});
