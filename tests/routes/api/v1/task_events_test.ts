import assert from "node:assert/strict";
import { HttpError, notFound } from "@/lib/http/errors.ts";
import { TaskEvents } from "@/routes/api/v1/tasks.ts";
import { FakeClock } from "@/tests/lib/tasks/fake_clock.ts";

const viewOf = (files: number, state: "running" | "ready" = "running") => ({ task: { state }, body: { files } });

/** Events of a task that a test changes. */
function scene() {
  const clock = new FakeClock();
  const stop = new AbortController();
  const state = { view: viewOf(0), error: null as HttpError | null, reads: 0 };
  const events = new TaskEvents({
    clock,
    signal: stop.signal,
    view: () => {
      state.reads++;
      return state.error ? Promise.reject(state.error) : Promise.resolve(state.view);
    },
  });
  const text = async () => {
    const bytes = await events.read();
    return bytes && new TextDecoder().decode(bytes);
  };
  return { clock, stop, state, events, text };
}

const progress = (files: number) => `event: progress\ndata: {"files":${files}}\n\n`;

Deno.test("task events: the first one comes at once, the next ones when something changes, the end last", async () => {
  const { clock, state, text } = scene();
  assert.equal(await text(), progress(0));
  const second = text();
  await clock.advance(1000);
  state.view = viewOf(1);
  await clock.advance(250);
  assert.equal(await second, progress(1));
  state.view = viewOf(2, "ready");
  const last = text();
  await clock.advance(250);
  assert.equal(await last, 'event: end\ndata: {"files":2}\n\n');
  assert.equal(await text(), null);
});

Deno.test("task events: a task that has ended has one event", async () => {
  const { state, text } = scene();
  state.view = viewOf(9, "ready");
  assert.equal(await text(), 'event: end\ndata: {"files":9}\n\n');
  assert.equal(await text(), null);
});

Deno.test("task events: a slow reader reads the state of its moment, and the task is not read meanwhile", async () => {
  const { clock, state, text } = scene();
  await text();
  await clock.advance(60_000);
  assert.equal(state.reads, 1);
  state.view = viewOf(500);
  assert.equal(await text(), progress(500));
});

Deno.test("task events: a comment shows that the connection stands, and ten minutes are the longest", async () => {
  const { clock, text } = scene();
  await text();
  const comment = text();
  await clock.advance(15_000);
  assert.match(await comment ?? "", /^:.*\n\n$/);
  let last = text();
  for (let minute = 0; minute < 11; minute++) {
    let isRead = false;
    last.then(() => isRead = true);
    await clock.advance(60_000);
    if (isRead && await last !== null) last = text();
  }
  await clock.advance(600_000);
  assert.equal(await last, null);
});

Deno.test("task events: they end with the consumer, with the process and with the task", async () => {
  const left = scene();
  await left.text();
  const pending = left.text();
  left.events.cancel();
  assert.equal(await pending, null);

  const stopped = scene();
  await stopped.text();
  const waiting = stopped.text();
  stopped.stop.abort();
  assert.equal(await waiting, null);

  const gone = scene();
  await gone.text();
  gone.state.error = notFound("Task");
  const none = gone.text();
  await gone.clock.advance(250);
  assert.equal(await none, null);
});

Deno.test("task events: while the task store is not reachable they wait", async () => {
  const { clock, state, text } = scene();
  await text();
  state.error = new HttpError(503, "not reachable");
  const next = text();
  await clock.advance(5000);
  state.error = null;
  state.view = viewOf(3);
  await clock.advance(250);
  assert.equal(await next, progress(3));
});
