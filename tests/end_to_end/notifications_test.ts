import assert from "node:assert/strict";
import { startProcess } from "@/tests/application.ts";
import { TEST_CA } from "@/tests/lib/http/certificates.ts";
import { MailServer } from "@/tests/lib/operations/notifications/mail_server.ts";
import { WEBHOOK_SECRET, WebhookReceiver } from "@/tests/lib/operations/notifications/webhook_receiver.ts";
import { TIMEOUT_MS, until } from "@/tests/until.ts";
import { endOfTask, logIn } from "./gateway_client.ts";
import { metricsUrl, scrape, sumOf } from "./metrics_scrape.ts";
import { removeAtEnd } from "@/tests/remove_at_end.ts";

// Waits for 60 s: events of a minute become one mail.
const MAIL_WAIT_MS = 60_000 + TIMEOUT_MS;

/** Has two checks made, one of sound objects, one that misses an object. @returns the id of the latter */
async function damagedCheck(site: string): Promise<string> {
  const curator = await logIn(site, "archive/curator");
  await curator.json("POST", "/buckets", { bucket: "told" });
  await curator.json("PUT", "/buckets/told/objects/SUMS", `${"0".repeat(64)}  lost.tif\n`);
  let id = "";
  for (const body of [{}, { manifest: "SUMS" }]) {
    id = String((await curator.json("POST", "/buckets/told/fixity", body)).task_id);
    await endOfTask(curator, `/buckets/told/fixity/${id}`);
  }
  return id;
}

Deno.test("notifications: campaigns that end and damage that is found are told by webhook and mail, and a kill loses none", async () => {
  const dataFolder = await Deno.makeTempDir({ prefix: "stackroom-notifications-" });
  await using mails = await MailServer.start();
  let isUp = false;
  await using receiver = new WebhookReceiver(() => new Response(null, { status: isUp ? 204 : 503 }));
  const env = {
    SIMULATOR_SPEED: "300",
    CAMPAIGN_RESULTS_URL: "https://stackroom.example.org/results",
    METRICS_PORT: "0",
    NOTIFY_WEBHOOK_URL: receiver.url,
    NOTIFY_WEBHOOK_SECRET: WEBHOOK_SECRET,
    NOTIFY_SMTP_URL: `smtp://127.0.0.1:${mails.port}`,
    // The test's server has a certificate of an authority that nobody trusts.
    CA_FILE: `${dataFolder}-ca.pem`,
    NOTIFY_MAIL_FROM: "stackroom@example.org",
    NOTIFY_MAIL_TO: "ops@example.org",
  };
  await Deno.writeTextFile(env.CA_FILE, TEST_CA);
  using _removal = removeAtEnd(dataFolder, env.CA_FILE);
  const first = await startProcess({ env, dataFolder });
  const failed = await until("an event that is not taken", () => receiver.received[0] ?? null);
  await first.kill();
  receiver.received.splice(0);
  isUp = true;
  assert.match(failed.body.type, /^campaign\.(?:ended|trouble)$/);

  await using second = await startProcess({ env, dataFolder });
  const told = await until(
    "the event after the kill",
    () => receiver.received.find(({ id }) => id === failed.id) ?? null,
  );
  assert.ok(told.isGenuine);
  assert.deepEqual(told.body, failed.body);
  const taskId = await damagedCheck(second.site);
  const report = await until(
    "the event of the check",
    () => receiver.received.find(({ body }) => body.type.startsWith("fixity")) ?? null,
  );
  assert.ok(report.isGenuine);
  const { type, data, link } = report.body;
  assert.equal(link, `https://stackroom.example.org/fixity?bucket=told&task=${taskId}`);
  assert.deepEqual([type, data.task_id, data.tenant, data.missing], ["fixity.report", taskId, "archive", 1]);

  const name = String(failed.body.data.name);
  for (const text of [name, "The fixity check of bucket told"]) {
    const mail = await until(
      `a mail with ${text}`,
      () => mails.mails.find(({ body }) => body.includes(text)) ?? null,
      MAIL_WAIT_MS,
    );
    assert.deepEqual(mail.to, ["ops@example.org"]);
  }
  const metrics = metricsUrl(second);
  await until("both are counted", async () => {
    const samples = await scrape(metrics);
    const sent = (channel: string) =>
      sumOf(samples, "stackroom_notifications_total", `channel="${channel}"`, 'result="sent"');
    return (sent("webhook") > 0 && sent("mail") > 0) || null;
  });
  const ids = receiver.received.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, "none is sent twice");
  assert.doesNotMatch(second.output(), /whsec_|\/hook/);
});
