import assert from "node:assert/strict";
import { countRequest } from "@/lib/std/request_count.ts";
import { SharedTurns } from "@/lib/runtime/shared_turns.ts";

Deno.test("shared turns: a pause is due after so many bytes where another request began lately", async () => {
  const turns = new SharedTurns(1000);
  countRequest();
  turns.moved(999);
  assert.equal(turns.pause(), null, "too few bytes");
  turns.moved(1);
  const pause = turns.pause();
  assert.ok(pause);
  await pause;
  assert.equal(turns.pause(), null, "counted anew");
  turns.moved(1000);
  await (turns.pause() ?? assert.fail("the next request is expected"));
});

Deno.test("shared turns: none is due for a body that is alone", () => {
  countRequest();
  const turns = new SharedTurns(1000);
  turns.moved(10_000);
  assert.equal(turns.pause(), null, "its own request is no other one");
});
