import assert from "node:assert/strict";
import { notificationEvent } from "@/lib/operations/notifications/event.ts";
import { mail, type MailServer as Server } from "@/lib/operations/notifications/mail.ts";
import { type Channel, NotificationQueue, Notifier } from "@/lib/operations/notifications/notifier.ts";
import { TEST_CA } from "@/tests/lib/http/certificates.ts";
import { SqliteTaskStore } from "@/lib/state/sqlite_task_store.ts";
import { until } from "@/tests/until.ts";
import { MailServer } from "./mail_server.ts";

const event = (name: string, link: string | null = null) =>
  notificationEvent({
    type: "campaign.ended",
    identity: [name],
    at: Date.UTC(2026, 0, 2),
    subject: `Campaign ${name} has ended`,
    summary: `The campaign ${name} has ended.`,
    link,
    data: { name },
  });

const NEVER = new AbortController().signal;
const FROM = "stackroom@example.org";
const TO = ["a@example.org", "b@example.org"];

function channel(server: MailServer, options: Partial<Server> = {}, windowMs?: number): Channel {
  return mail({
    server: { host: "127.0.0.1", port: server.port, security: "optional", login: null, ...options },
    from: FROM,
    to: TO,
    caCerts: [TEST_CA],
    windowMs,
  });
}

/** The words of an encoded header (RFC 2047, quoted-printable and base64 of UTF-8). */
function decoded(header: string): string {
  return header.replace(/\?=\s+=\?/g, "?==?").replace(/=\?utf-8\?([qb])\?([^?]*)\?=/gi, (_, kind, text) => {
    const bytes = kind.toLowerCase() === "b"
      ? Uint8Array.from(atob(text), (char) => char.charCodeAt(0))
      : Uint8Array.from(
        text.replaceAll("_", " ").replace(
          /=([0-9A-F]{2})/gi,
          (_: string, code: string) => String.fromCharCode(parseInt(code, 16)),
        ),
        (char: string) => char.charCodeAt(0),
      );
    return new TextDecoder().decode(bytes);
  });
}

Deno.test("mail: one event is one plain text for all recipients", async () => {
  await using server = await MailServer.start();
  const link = "https://site.example.org/?q=x";
  assert.deepEqual(await channel(server).send([event("brev från Ärla", link)], NEVER), { result: "sent" });
  const [taken] = server.mails;
  assert.deepEqual([taken.from, taken.to], [FROM, TO]);
  assert.equal(decoded(taken.headers.get("subject") ?? ""), "[Stackroom] Campaign brev från Ärla has ended");
  assert.match(taken.headers.get("content-type") ?? "", /^text\/plain; charset=utf-8/);
  assert.equal(taken.headers.get("auto-submitted"), "auto-generated");
  assert.match(taken.headers.get("message-id") ?? "", /^<[0-9a-f]{32}@example\.org>$/);
  assert.match(taken.body, /https:\/\/site\.example\.org/);
  assert.ok(taken.isSecure, "TLS is used where it is offered");
});

Deno.test("mail: names can add neither a header, nor a recipient, nor an end of the mail", async () => {
  await using server = await MailServer.start();
  const hostile = [
    "x\r\nBcc: evil@example.org",
    "\r\n.\r\nMAIL FROM:<evil@example.org>",
    "\n\nbody",
    "a\u2028Bcc: c\u0085d",
  ];
  for (const name of hostile) {
    const built = event(name);
    // As if the bounds of an event did not hold.
    const events = [built, { ...built, subject: name, summary: name }];
    for (const one of events) assert.deepEqual(await channel(server).send([one], NEVER), { result: "sent" });
  }
  assert.equal(server.mails.length, 2 * hostile.length);
  const names = ["from", "to", "subject", "message-id", "content-transfer-encoding", "date", "mime-version"];
  for (const { headers, to } of server.mails) {
    assert.deepEqual(to, TO);
    for (const name of headers.keys()) {
      assert.ok([...names, "content-type", "auto-submitted"].includes(name), `header ${name}`);
    }
  }
});

Deno.test("mail: several events within the window come in one, and those after it in another", async () => {
  await using server = await MailServer.start();
  let now = 60_000 * 20_000_000;
  const clock = () => now;
  const notifier = new Notifier({
    channels: [channel(server, {}, 60_000)],
    types: ["campaign.ended"],
    queue: new NotificationQueue(new SqliteTaskStore(":memory:", clock)),
    memory: new NotificationQueue(new SqliteTaskStore(":memory:", clock)),
    now: clock,
    log: { write() {}, flush() {} },
    pollMs: 20,
  });
  notifier.start();
  try {
    await notifier.notify(event("a"));
    now += 59_000;
    await notifier.notify(event("b"));
    assert.equal(server.mails.length, 0);
    now += 1_000;
    await until("one mail", () => server.mails.length === 1 || null);
    assert.equal(server.mails[0].headers.get("subject"), "[Stackroom] 2 notifications: Campaign a has ended");
    for (const name of ["a", "b"]) assert.match(server.mails[0].body, new RegExp(`The campaign ${name} has ended`));
    await notifier.notify(event("c"));
    now += 60_000;
    await until("a second mail", () => server.mails.length === 2 || null);
    assert.doesNotMatch(server.mails[1].body, /campaign a/);
    await until("all are counted", () => notifier.figures.get("mail")?.sent === 3 || null);
  } finally {
    await notifier.stop();
  }
});

Deno.test("mail: a login is sent over TLS, and one that is refused is tried again without a word of it", async () => {
  await using server = await MailServer.start();
  const login = { user: "stackroom", password: "word" };
  assert.deepEqual(await channel(server, { security: "starttls", login }).send([event("a")], NEVER), {
    result: "sent",
  });
  assert.deepEqual([server.mails[0].user, server.mails[0].isSecure], ["stackroom", true]);
  const wrong = { user: "stackroom", password: "top-secret" };
  assert.deepEqual(await channel(server, { security: "starttls", login: wrong }).send([event("a")], NEVER), {
    result: "failed",
    reason: "the mail server did not take it (EAUTH 535)",
  });
});

Deno.test("mail: nothing is sent where STARTTLS is required and not offered, or its certificate is another's", async () => {
  await using plain = await MailServer.start({ hideSTARTTLS: true, disabledCommands: ["STARTTLS"] });
  const refused = await channel(plain, { security: "starttls" }).send([event("a")], NEVER);
  assert.equal(refused.result === "sent", false);
  assert.equal(plain.mails.length, 0);
  assert.deepEqual(await channel(plain).send([event("a")], NEVER), { result: "sent" });
  assert.equal(plain.mails[0].isSecure, false);

  await using server = await MailServer.start();
  const untrusting = mail({
    server: { host: "127.0.0.1", port: server.port, security: "starttls", login: null },
    from: FROM,
    to: TO,
  });
  assert.equal((await untrusting.send([event("a")], NEVER)).result, "failed");
  assert.equal(server.mails.length, 0);
});

Deno.test("mail: a server with TLS from the first byte on takes it", async () => {
  await using server = await MailServer.start({ secure: true });
  assert.deepEqual(await channel(server, { security: "tls" }).send([event("a")], NEVER), { result: "sent" });
  assert.equal(server.mails[0].isSecure, true);
});

Deno.test("mail: a refusal for now is tried again, one for ever is not", async () => {
  for (const [responseCode, result] of [[451, "failed"], [550, "refused"]] as const) {
    await using server = await MailServer.start({
      onRcptTo(_address, _session, callback) {
        callback(Object.assign(new Error("no: a@example.org"), { responseCode }));
      },
    });
    const outcome = await channel(server).send([event("a")], NEVER);
    assert.equal(outcome.result, result);
    assert.match(JSON.stringify(outcome), new RegExp(`EENVELOPE ${responseCode}`));
  }
});

Deno.test("mail: a server that hangs or is away fails, and a stop cuts the attempt", async () => {
  const silent = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = silent.addr;
  const server = { host: "127.0.0.1", port, security: "optional", login: null } as const;
  const stopped = new AbortController();
  const sending = mail({ server, from: FROM, to: TO }).send([event("a")], stopped.signal);
  const connection = await silent.accept();
  stopped.abort();
  assert.equal((await sending).result, "failed");
  connection.close();
  silent.close();
  assert.deepEqual(await mail({ server, from: FROM, to: TO }).send([event("a")], NEVER), {
    result: "failed",
    reason: "the mail server did not take it (ECONNREFUSED)",
  });
});
