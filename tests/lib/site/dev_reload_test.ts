import assert from "node:assert/strict";
import { RequestContext } from "@/lib/http/request_context.ts";
import { devReload } from "@/lib/site/site.ts";

const context = () => new RequestContext(new Request("http://site.example/_dev/reload"));

/** The first event of a stream, which then stays open. */
async function firstEvent(response: Response): Promise<string> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  const event = await reader?.read();
  await reader?.cancel();
  return event?.value ?? "";
}

Deno.test("dev reload: one process says one name, and the next another", async () => {
  const answer = devReload();
  const first = await firstEvent(answer(context()));
  assert.match(first, /^retry: 100\ndata: [0-9a-f-]{36}\n\n$/);
  assert.equal(await firstEvent(answer(context())), first);
  assert.notEqual(await firstEvent(devReload()(context())), first);
  assert.equal(answer(context()).headers.get("Content-Type"), "text/event-stream");
});
