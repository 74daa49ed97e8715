import assert from "node:assert/strict";
import { drainingServer } from "@/lib/process/draining_server.ts";
import { listen } from "@/lib/process/listener.ts";

function shown({ status, headers }: Response): unknown[] {
  return [status, headers.get("Content-Security-Policy"), headers.get("Retry-After") !== null];
}

const REFUSED = [503, "frame-ancestors 'none'", true];

Deno.test("listener: a request before the application is there is 503 with the headers of every answer", async () => {
  const listener = listen("127.0.0.1", 0);
  assert.deepEqual(shown(await fetch(listener.origin)), REFUSED);
  await listener.drain();
});

Deno.test("listener: a request while it stops is 503 with the headers of every answer", async () => {
  const begun = Promise.withResolvers<void>();
  const end = Promise.withResolvers<void>();
  const server = drainingServer({ hostname: "127.0.0.1", port: 0 }, async () => {
    begun.resolve();
    await end.promise;
    return new Response();
  });
  const origin = `http://127.0.0.1:${server.port}`;
  const first = fetch(origin);
  await begun.promise;
  const drained = server.drain();
  assert.deepEqual(shown(await fetch(origin)), REFUSED);
  end.resolve();
  assert.equal((await first).status, 200);
  await drained;
});
