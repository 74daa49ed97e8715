import assert from "node:assert/strict";
import type { GatewayClient } from "./gateway_client.ts";

/** The events of a task, until its end. */
export async function* taskEvents(client: GatewayClient, path: string) {
  const response = await client.call("GET", path, undefined, { Accept: "text/event-stream" });
  assert.equal(response.status, 200);
  let text = "";
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
      const [, event, data] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
      text = text.slice(end + 2);
      if (event) yield { event, data: JSON.parse(data) as Record<string, unknown> };
    }
  }
}

/** The last event of a task, which tells how it ended. */
export async function endOfTask(client: GatewayClient, path: string): Promise<Record<string, unknown>> {
  let last: Record<string, unknown> = {};
  for await (const { event, data } of taskEvents(client, path)) if (event === "end") last = data;
  return last;
}
