import assert from "node:assert/strict";
import { parseWebhookSecrets, webhookSignature } from "@/lib/operations/notifications/webhook.ts";
import { WEBHOOK_SECRET } from "@/tests/lib/operations/notifications/webhook_receiver.ts";

const PAGE = await Deno.readTextFile(new URL("../../docs/notifications.md", import.meta.url));
const HAS_PYTHON = await new Deno.Command("python3", { args: ["--version"], stdout: "null" }).output()
  .then(({ success }) => success, () => false);

/** What the page's Python says of a message. */
async function verdict(message: { secret: string; headers: Record<string, string>; body: string }): Promise<string> {
  const [, code] = PAGE.match(/^```python\n(.*?)^```$/ms) ?? [];
  const call = "import json, sys\nm = json.load(sys.stdin)\n" +
    "print(is_genuine(m['secret'], m['headers'], m['body'].encode()))\n";
  const child = new Deno.Command("python3", { args: ["-c", code + call], stdin: "piped", stdout: "piped" }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(JSON.stringify(message)));
  await writer.close();
  return new TextDecoder().decode((await child.output()).stdout).trim();
}

Deno.test(
  "notifications page: its Python takes what is signed, and rejects what is changed, old or of another secret",
  { ignore: !HAS_PYTHON },
  async () => {
    const timestamp = Math.floor(Date.now() / 1000);
    const body = '{"id":"evt_1","subject":"å"}';
    const other = `whsec_${btoa("y".repeat(32))}`;
    const message = (secrets: string, time = timestamp) => ({
      secret: WEBHOOK_SECRET,
      headers: {
        "webhook-id": "evt_1",
        "webhook-timestamp": String(time),
        "webhook-signature": webhookSignature(parseWebhookSecrets(secrets) ?? [], "evt_1", time, body),
      },
      body,
    });
    assert.equal(await verdict(message(WEBHOOK_SECRET)), "True");
    assert.equal(await verdict(message(`${other} ${WEBHOOK_SECRET}`)), "True");
    assert.equal(await verdict(message(other)), "False");
    assert.equal(await verdict(message(WEBHOOK_SECRET, timestamp - 3600)), "False");
    assert.equal(await verdict({ ...message(WEBHOOK_SECRET), body: `${body} ` }), "False");
  },
);
