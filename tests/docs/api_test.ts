import assert from "node:assert/strict";
import { withGateway } from "@/tests/routes/gateway_fixture.ts";

const BUCKET = "/api/v1/buckets/{bucket}";

Deno.test("api: each path that is also a key's is named in the text and in the settings of schemathesis", () =>
  withGateway({}, async ({ app }) => {
    const { paths } = await (await app.request("/openapi.json")).json();
    const words = Object.keys(paths).filter((path) =>
      /\/(?:objects|multipart)\/./.test(path) && !path.endsWith("/{key}")
    );
    assert.ok(words.length >= 9, words.join(" "));
    const text = await Deno.readTextFile("docs/api.md");
    const section = /^## Keys$.*?(?=^## )/ms.exec(text)?.[0] ?? "";
    const named = [...section.matchAll(/`…(\/(?:objects|multipart)\/[^`]+)`/g)].map(([, path]) => BUCKET + path);
    assert.deepEqual(named.sort(), words.sort());
    const expected = await Deno.readTextFile("tools/schemathesis.toml");
    assert.deepEqual([...expected.matchAll(/"(\/api\/[^"]+)"/g)].map(([, path]) => path).sort(), words);
  }));
