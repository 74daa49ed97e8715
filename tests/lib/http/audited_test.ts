import assert from "node:assert/strict";
import type { AuditEvent } from "@/lib/http/audit_event.ts";
import { type AuditSpec, recorded } from "@/lib/http/operation.ts";
import { clientClosedRequest, credentialsRefused, unavailable } from "@/lib/http/errors.ts";
import { RequestContext } from "@/lib/http/request_context.ts";

/** The results that are recorded of an unproven caller's deletion, during which the client leaves. */
async function leaving(prove: RequestContext["prove"]): Promise<string[]> {
  const events: AuditEvent[] = [];
  const note = (event: AuditEvent) => void events.push(event);
  const recorder = { requireRoom() {}, note, record: (event: AuditEvent) => Promise.resolve(note(event)) };
  const context = new RequestContext(new Request("http://stackroom.example/", { method: "DELETE" }));
  context.admitted = "unproven";
  context.prove = prove;
  const spec: AuditSpec<unknown> = { action: "object_delete", target: () => ({ kind: "object" }) };
  const handle = () => Promise.reject(clientClosedRequest());
  await assert.rejects(recorded(recorder, { spec, input: {}, context }, handle), { status: 499 });
  return events.map(({ result }) => result);
}

Deno.test("audit: a change whose client leaves before the store's first response is recorded, of known accounts alone", async () => {
  assert.deepEqual(await leaving(() => Promise.resolve()), ["failed"]);
  assert.deepEqual(await leaving(() => Promise.reject(credentialsRefused("wrong"))), []);
  assert.deepEqual(await leaving(() => Promise.reject(unavailable("away", 1))), []);
  assert.deepEqual(await leaving(undefined), []);
});
