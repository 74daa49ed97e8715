import assert from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { siteAssets } from "@/lib/site/build.ts";
import { buildFolder, PROJECT_FOLDER } from "@/lib/site/site.ts";
import { RequestContext } from "@/lib/http/request_context.ts";
import { staticFiles } from "@/lib/site/static_files.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

const NAME = "site-ABCDEF12.js";
const TEXTS = { plain: "plain text", br: "br text", gz: "gz" };

async function inFolder(test: (folder: string) => Promise<void>) {
  const folder = await Deno.makeTempDir();
  using _removal = removeAtEnd(folder);
  await Deno.writeTextFile(`${folder}/${NAME}`, TEXTS.plain);
  await Deno.writeTextFile(`${folder}/${NAME}.br`, TEXTS.br);
  await Deno.writeTextFile(`${folder}/${NAME}.gz`, TEXTS.gz);
  await Deno.writeTextFile(`${folder}/small.js`, "1");
  await test(folder);
}

function serve(folder: string, isBuild: boolean) {
  const handler = staticFiles({ folder, prefix: "/build/", isBuild, resultsUrl: () => "" });
  return (name: string, headers: Record<string, string> = {}, method = "GET") =>
    handler(new RequestContext(new Request(`http://site.example/build/${name}`, { method, headers })));
}

Deno.test("static files: browsers that ask for /favicon.ico, as beside a plain text, get the site's icon", async () => {
  const handler = staticFiles({ folder: `${PROJECT_FOLDER}/static`, prefix: "/", resultsUrl: () => "" });
  const response = await handler(new RequestContext(new Request("http://site.example/favicon.ico")));
  assert.equal(response.headers.get("Content-Type"), "image/x-icon");
  assert.deepEqual([...new Uint8Array(await response.arrayBuffer()).subarray(0, 4)], [0, 0, 1, 0]);
});

Deno.test("built files: the compressed form that the client prefers, with the type and caching of the file", () =>
  inFolder(async (folder) => {
    const get = serve(folder, true);
    const cases = [["gzip, br", "br", TEXTS.br], ["gzip", "gzip", TEXTS.gz], ["", null, TEXTS.plain]] as const;
    const etags = new Set<string | null>();
    for (const [accepted, coding, text] of cases) {
      const response = await get(NAME, { "Accept-Encoding": accepted });
      const { headers } = response;
      assert.equal(headers.get("Content-Encoding"), coding);
      assert.equal(headers.get("Vary"), "Accept-Encoding");
      assert.equal(headers.get("Content-Type"), "text/javascript; charset=utf-8");
      assert.equal(headers.get("Cache-Control"), "public, max-age=31536000, immutable");
      assert.equal(headers.get("Content-Length"), String(text.length));
      assert.equal(await response.text(), text);
      const head = await get(NAME, { "Accept-Encoding": accepted }, "HEAD");
      assert.deepEqual([...head.headers], [...headers]);
      assert.equal(head.body, null);
      etags.add(headers.get("ETag"));
    }
    assert.equal(etags.size, 3);
  }));

Deno.test("built files: a condition holds for the form that would be sent, not for another one", () =>
  inFolder(async (folder) => {
    const get = serve(folder, true);
    const response = await get(NAME, { "Accept-Encoding": "br" });
    await response.body?.cancel();
    const known = { "If-None-Match": response.headers.get("ETag") ?? "" };
    const unchanged = await get(NAME, { ...known, "Accept-Encoding": "br" });
    assert.equal(unchanged.status, 304);
    assert.equal(unchanged.headers.get("Vary"), "Accept-Encoding");
    assert.equal(unchanged.headers.get("ETag"), response.headers.get("ETag"));
    for (const accepted of ["gzip", ""]) {
      assert.equal((await get(NAME, { ...known, "Accept-Encoding": accepted })).status, 200, accepted);
    }
  }));

Deno.test("built files: one without a compressed form is sent as it is, and an unknown one is 404", () =>
  inFolder(async (folder) => {
    const get = serve(folder, true);
    const response = await get("small.js", { "Accept-Encoding": "br" });
    assert.equal(response.headers.get("Content-Encoding"), null);
    assert.equal(response.headers.get("Vary"), "Accept-Encoding");
    assert.equal(await response.text(), "1");
    await assert.rejects(async () => await get("none.js", { "Accept-Encoding": "br" }), { status: 404 });
  }));

Deno.test("static files: no compressed form of a file that an operator put there is looked for", () =>
  inFolder(async (folder) => {
    const response = await serve(folder, false)(NAME, { "Accept-Encoding": "br" });
    assert.equal(response.headers.get("Content-Encoding"), null);
    assert.equal(response.headers.get("Vary"), null);
    assert.equal(await response.text(), TEXTS.plain);
  }));

Deno.test("built files: the site's own script and stylesheet arrive compressed and whole", async () => {
  const { scripts: { en: { script } }, stylesheet } = await siteAssets();
  const get = serve(buildFolder(), true);
  for (const path of [script, stylesheet]) {
    const name = path.replace("/build/", "");
    const original = await Deno.readFile(`${PROJECT_FOLDER}/static${path}`);
    for (const [coding, decompress] of [["br", brotliDecompressSync], ["gzip", gunzipSync]] as const) {
      const response = await get(name, { "Accept-Encoding": coding });
      assert.equal(response.headers.get("Content-Encoding"), coding);
      assert.deepEqual(new Uint8Array(decompress(await response.bytes())), original);
    }
  }
});
