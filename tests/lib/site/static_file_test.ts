import assert from "node:assert/strict";

import { openStaticFile } from "@/lib/site/static_file.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

async function inFolder(test: (folder: string) => Promise<void>) {
  const parent = await Deno.makeTempDir();
  using _removal = removeAtEnd(parent);
  const folder = `${parent}/site`;
  await Deno.mkdir(`${folder}/under`, { recursive: true });
  await Deno.writeTextFile(`${parent}/secret.txt`, "secret");
  await Deno.writeTextFile(`${folder}/.hidden`, "hidden");
  await Deno.writeTextFile(`${folder}/uv.html`, "<p>uv");
  await Deno.writeTextFile(`${folder}/under/å ä.js`, "1");
  await Deno.symlink(`${parent}/secret.txt`, `${folder}/link.txt`);
  await test(folder);
}

async function read(folder: string, path: string): Promise<string | null> {
  const file = await openStaticFile(folder, path);
  return file && await new Response(file.stream()).text();
}

Deno.test("static file: found by its decoded path, a page also without its extension", () =>
  inFolder(async (folder) => {
    assert.equal(await read(folder, "under/%C3%A5%20%C3%A4.js"), "1");
    assert.equal(await read(folder, "uv"), "<p>uv");
    assert.equal(await read(folder, "uv.html"), "<p>uv");
    assert.equal(await read(folder, "uv.js"), null);
    assert.equal(await read(folder, "under"), null);
  }));

Deno.test("static file: nothing outside the folder, and nothing hidden", () =>
  inFolder(async (folder) => {
    const paths = [
      ...["../secret.txt", "%2e%2e/secret.txt", "under/../../secret.txt", "..%2fsecret.txt", "..%5csecret.txt"],
      ...["link.txt", ".hidden", "", "/", "under//å", "uv.html/", "uv.html/x", "uv.html%00", "%E0%A4%A"],
      ...["a".repeat(5000), "a/".repeat(400)],
    ];
    for (const path of paths) assert.equal(await read(folder, path), null, path);
  }));

Deno.test("static file: its beginning can be looked at before it is streamed", () =>
  inFolder(async (folder) => {
    const file = await openStaticFile(folder, "uv");
    assert.equal(await file?.beginning(2), "<p");
    assert.equal(await new Response(file?.stream()).text(), "<p>uv");
  }));
