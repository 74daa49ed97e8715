import assert from "node:assert/strict";
import { listen } from "@/lib/process/listener.ts";

const refusing = (status: string) => () => new Response(status, { status: 503 });

Deno.test("listener: requests before the application is ready and while the server stops get the fallback responses", async () => {
  const listener = listen({ host: "127.0.0.1", port: 0 }, {
    starting: refusing("starting"),
    stopping: refusing("stopping"),
  });
  const early = await fetch(listener.origin);
  assert.deepEqual([early.status, await early.text(), early.headers.get("Connection")], [503, "starting", null]);

  const entered = Promise.withResolvers<void>();
  const release = Promise.withResolvers<void>();
  listener.answerWith(async () => {
    entered.resolve();
    await release.promise;
    return new Response("whole");
  });
  const underWay = fetch(listener.origin);
  await entered.promise;
  const drained = listener.drain();
  const late = await rawAnswer(listener.port, "stopping");
  assert.match(late, /^HTTP\/1\.1 503 /);
  assert.match(late, /\r\nconnection: close\r\n/i);
  assert.match(late, /\r\n\r\nstopping$/);
  release.resolve();
  assert.equal(await (await underWay).text(), "whole");
  await drained;
});

/** An answer as it is sent, to the word that ends it: `fetch` hides the header `Connection`. */
async function rawAnswer(port: number, end: string): Promise<string> {
  using connection = await Deno.connect({ hostname: "127.0.0.1", port });
  await connection.write(new TextEncoder().encode("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n"));
  let text = "";
  const chunk = new Uint8Array(1024);
  while (!text.endsWith(end)) {
    const length = await connection.read(chunk);
    if (length === null) break;
    text += new TextDecoder().decode(chunk.subarray(0, length));
  }
  return text;
}
