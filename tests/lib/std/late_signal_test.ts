import assert from "node:assert/strict";
import { signalOf, whenAborted } from "@/lib/std/late_signal.ts";

/** A request whose signal says when it was looked at. */
function client() {
  const controller = new AbortController();
  const looked = Promise.withResolvers<void>();
  return {
    controller,
    looked: looked.promise,
    request: {
      get signal() {
        looked.resolve();
        return controller.signal;
      },
    },
  };
}

Deno.test("late signal: a signal is itself, a request has its own, and nothing has none", () => {
  const { signal } = new AbortController();
  const request = new Request("http://localhost/");
  assert.equal(signalOf(signal), signal);
  assert.equal(signalOf(request), request.signal);
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
