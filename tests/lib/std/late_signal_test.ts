import assert from "node:assert/strict";
import { connect } from "node:http2";
import { signalOf, signalOfClient, whenAborted } from "@/lib/std/late_signal.ts";

/** A request whose signal says when it was looked at. */
function client() {
  const controller = new AbortController();
  const looked = Promise.withResolvers<void>();
  return {
    controller,
    looked: looked.promise,
    request: {
      waitedSince: null,
      get signal() {
        looked.resolve();
        return controller.signal;
      },
    },
  };
}

Deno.test("late signal: a signal is itself, a request has its own, and nothing has none", () => {
  const { signal } = new AbortController();
  const request = new Request("http://localhost/", { headers: { Host: "localhost" } });
  assert.equal(signalOf(signal), signal);
  assert.equal(signalOf(signalOfClient(request)), request.signal);
  assert.equal(signalOfClient(new Request("http://localhost/")) instanceof AbortSignal, true);
  assert.equal(signalOf(undefined), undefined);
});

Deno.test("late signal: a signal that aborts, or has, calls back at once, and not after the watch", () => {
  const calls: string[] = [];
  const [early, late] = [new AbortController(), new AbortController()];
  early.abort();
  whenAborted(early.signal, () => calls.push("early"));
  whenAborted(late.signal, () => calls.push("late"));
  whenAborted(late.signal, () => calls.push("ended"))();
  late.abort();
  assert.deepEqual(calls, ["early", "late"]);
});

Deno.test("late signal: that of a request calls back though it aborted before it was looked at", async () => {
  const { controller, request } = client();
  controller.abort();
  const called = Promise.withResolvers<void>();
  const endWatch = whenAborted(request, called.resolve);
  await called.promise;
  endWatch();
});

Deno.test("late signal: that of a request calls back when it aborts while something waits, and not after the watch", async () => {
  const [left, done] = [client(), client()];
  const called = Promise.withResolvers<void>();
  const endWatch = whenAborted(left.request, called.resolve);
  const endOther = whenAborted(done.request, () => assert.fail("the watch has ended"));
  await Promise.all([left.looked, done.looked]);
  endOther();
  done.controller.abort();
  left.controller.abort();
  await called.promise;
  endWatch();
});

Deno.test("late signal: that of a request which has waited for other things is looked at once", async () => {
  const { controller, looked, request } = client();
  const endFirst = whenAborted(request, () => assert.fail("the first wait has ended"));
  await looked;
  endFirst();
  controller.abort();
  let calls = 0;
  whenAborted(request, () => calls++);
  assert.equal(calls, 1);
});

Deno.test("late signal: a client that leaves at once is noticed over HTTP/1.1 and HTTP/2", async () => {
  const noticed = Promise.withResolvers<void>();
  const came = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  let left = 0;
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const hasLeft = Promise.withResolvers<void>();
    const endWatch = whenAborted(signalOfClient(request), hasLeft.resolve);
    came[request.url.endsWith("/1") ? 0 : 1].resolve();
    await hasLeft.promise;
    endWatch();
    if (++left === 2) noticed.resolve();
    return new Response();
  });
  const first = await Deno.connect({ hostname: "127.0.0.1", port: server.addr.port });
  await first.write(new TextEncoder().encode("GET /1 HTTP/1.1\r\nHost: x\r\n\r\n"));
  const second = connect(`http://127.0.0.1:${server.addr.port}`);
  second.on("error", () => {});
  const stream = second.request({ ":path": "/2" });
  stream.on("error", () => {});
  stream.end();
  await Promise.all(came.map(({ promise }) => promise));
  first.close();
  second.destroy();
  await noticed.promise;
  await server.shutdown();
});

Deno.test("late signal: that of a request is not looked at where the watch ends soon", async () => {
  const [quick, slow] = [client(), client()];
  let isLooked = false;
  quick.looked.then(() => isLooked = true);
  whenAborted(quick.request, () => {})();
  const endWatch = whenAborted(slow.request, () => {});
  // It began later, so the other one's time has come as well.
  await slow.looked;
  endWatch();
  assert.equal(isLooked, false);
});
