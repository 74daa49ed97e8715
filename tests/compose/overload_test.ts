import assert from "node:assert/strict";
import { overloadGuard } from "@/compose/overload.ts";
import type { LogEntry } from "@/lib/http/app.ts";
import type { Handler, HandlerInfo } from "@/lib/process/connections.ts";

const INFO = {} as HandlerInfo;
const BUSY_MS = 3;

/** Takes the processor as a request does whose work is all computation, and has its response later. */
const busy: Handler = async () => {
  for (const end = performance.now() + BUSY_MS; performance.now() < end;);
  await Promise.resolve();
  return new Response("done");
};

function testedGuard() {
  const lines: LogEntry[] = [];
  const log = { write: (line: LogEntry) => void lines.push(line), flush() {} };
  const { guard, figures } = overloadGuard(0, log);
  const handle = guard(busy);
  const statuses = async (path: string, count: number) => {
    const requests = Array.from({ length: count }, () => handle(new Request(`http://localhost${path}`), INFO));
    return (await Promise.all(requests)).map(({ status }) => status);
  };
  return { lines, figures, statuses };
}

Deno.test("overload guard: requests that come faster than they can be handled get 503, which is logged once; probes do not", async () => {
  const { lines, figures, statuses } = testedGuard();
  const seen = await statuses("/", 200);
  assert.equal(seen[0], 200);
  assert.equal(seen.at(-1), 503);
  assert.deepEqual(await statuses("/healthz", 2), [200, 200]);
  assert.equal(figures().isShedding, true);
  assert.deepEqual(lines, [{ level: "warn", message: "overload: some requests get 503 from now on" }]);
});
