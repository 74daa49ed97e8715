import assert from "node:assert/strict";
import { ROOMS } from "@/tools/import_rules.ts";
import { readBuildContext } from "@/tools/deploy/build_context.ts";
import { assignments, readDockerfile } from "@/tools/deploy/dockerfile.ts";

const project = JSON.parse(await Deno.readTextFile("deno.json"));
const { args, stages } = readDockerfile(await Deno.readTextFile("deploy/Dockerfile"));
const context = readBuildContext(await Deno.readTextFile(".dockerignore"));
const last = stages.at(-1)!;
const texts = (name: string) => last.instructions.filter((found) => found.name === name).map(({ text }) => text);
const environment = new Map(texts("ENV").flatMap(assignments));

Deno.test("image: its process is the launcher of the start task, which gives the server its permissions", () => {
  const [entrypoint] = texts("ENTRYPOINT").map((text) => JSON.parse(text));
  assert.deepEqual([...entrypoint, "--of-task"], project.tasks.start.command.split(" "));
});

Deno.test("image: containers run as a user without rights, with nothing embedded, and run nothing at their creation", () => {
  assert.deepEqual(texts("USER"), ["1000:1000"]);
  assert.equal(environment.get("EMBEDDED"), "off");
  assert.deepEqual([...texts("RUN"), ...texts("ADD"), ...texts("VOLUME")], []);
  assert.ok(
    last.instructions.filter(({ name }) => name === "COPY").every(({ flags }) => flags.get("from") === "build"),
  );
});

Deno.test("image: Deno is pinned by digest and of one version, the base by its version", () => {
  const archives = stages.flatMap(({ instructions }) => instructions).filter(({ name }) => name === "ADD");
  const versions = archives.map(({ flags, text }) => {
    assert.match(flags.get("checksum") ?? "", /^sha256:[0-9a-f]{64}$/);
    return /\/linux-(?:x64|arm64)-glibc-(\d+\.\d+\.\d+)\.tgz \/deno\.tgz$/.exec(text)?.[1];
  });
  assert.ok(versions[0] !== undefined && versions.every((version) => version === versions[0]), versions.join());
  assert.match(args.get("BASE") ?? "", /^debian:\d+\.\d+-slim$/);
  for (const { base, name } of stages) {
    assert.ok(["scratch", "${BASE}", "deno-${TARGETARCH}"].includes(base), `${name} is built on ${base}`);
  }
});

Deno.test("image: packages are those of the application's lock, and nothing of the tests", async () => {
  const build = stages.find(({ name }) => name === "build")!.instructions;
  const install = build.findIndex(({ text }) => text === "deno install");
  assert.deepEqual(build.slice(install - 2, install + 2).map(({ text }) => text), [
    "deno.json deno.lock ./",
    "embedded/deno.json embedded/",
    "deno install",
    ". ./",
  ]);
  assert.equal(project.lock.frozen, true);
  const replaced = build.map(({ text }) => /sed -i 's\/(.+?)\/(.+?)\/' deno\.json/.exec(text)).find((found) =>
    found !== null
  );
  const image = JSON.parse((await Deno.readTextFile("deno.json")).replace(replaced![1], replaced![2]));
  assert.equal(image.nodeModulesDir, "manual", "a start installs nothing, and looks for nothing to install");
  for (
    const path of [
      "deno.test.json",
      "tests/task.ts",
      "embedded/tests/store/store_fixture.ts",
      "tools/imports.ts",
      "bench/mod.ts",
      ".git/HEAD",
      ".data/lock",
    ]
  ) {
    assert.ok(!context.has(path), path);
  }
  assert.ok(!context.has("static/build/manifest.json"), "the site is built inside");
});

Deno.test("image: what is sent to its builder exists, and is every folder of the program with its two entries", async () => {
  for (const path of context.included) await assert.doesNotReject(Deno.stat(path), path);
  const folders = ROOMS.map(({ room }) => room).filter((room) => !room.endsWith(".ts"));
  for (const path of [...folders, "launch.ts", "main.ts"]) assert.ok(context.has(path), path);
});

Deno.test("image: its version is the project's", () => {
  const versions = texts("ARG").flatMap(assignments).filter(([name]) => name === "VERSION");
  assert.deepEqual(versions, [["VERSION", project.version]]);
  assert.equal(environment.get("CAMPAIGN_BATCH_VERSION"), "${VERSION}");
});
