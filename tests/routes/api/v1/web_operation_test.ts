import assert from "node:assert/strict";
import { bytesAnswer, jsonAnswer } from "@/routes/api/v1/web_operation.ts";

Deno.test("bytes answer: long bytes that are kept are handed on themselves, as often as they are asked for", async () => {
  const kept = new TextEncoder().encode(JSON.stringify("å".repeat(100_000)));
  for (let time = 0; time < 2; time++) {
    const answer = bytesAnswer("GET", kept, { "X-Some": "thing" });
    assert.equal(answer.headers.get("content-length"), String(kept.length));
    assert.equal(answer.headers.get("x-some"), "thing");
    const pieces = await Array.fromAsync(answer.body ?? []);
    assert.deepEqual(pieces.map(({ buffer }) => buffer === kept.buffer), [true]);
    assert.equal(pieces[0].length, kept.length);
  }
});

Deno.test("bytes answer: over a connection the length is said and every byte arrives, and HEAD has none", async () => {
  const long = ["x".repeat(300_000), "ö"];
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    ({ method }) => jsonAnswer(method === "HEAD" ? "HEAD" : "GET", long),
  );
  try {
    const url = `http://127.0.0.1:${server.addr.port}/`;
    for (let time = 0; time < 2; time++) {
      const answer = await fetch(url, { headers: { "Accept-Encoding": "identity" } });
      assert.equal(answer.headers.get("content-length"), "300009");
      assert.equal(answer.headers.get("transfer-encoding"), null);
      assert.deepEqual(await answer.json(), long);
    }
    const head = await fetch(url, { method: "HEAD" });
    assert.equal(head.headers.get("content-length"), "300009");
    assert.equal(await head.text(), "");
  } finally {
    await server.shutdown();
  }
});
