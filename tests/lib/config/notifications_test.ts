import assert from "node:assert/strict";
import { EVENT_TYPES } from "@/lib/operations/notifications/event.ts";
import { readConfig } from "@/lib/config/mod.ts";

const SECRET = `whsec_${btoa("x".repeat(32))}`;
const FILES: Readonly<Record<string, string>> = { "/secret": `${SECRET}\n`, "/password": "word\n", "/empty": "\n" };
const files = { exists: (path: string) => path in FILES, read: (path: string) => FILES[path] ?? null };
const read = (env: Record<string, string>) => readConfig(env, files);
const refused = (env: Record<string, string>, message: RegExp) => assert.throws(() => read(env), { message });

const WEBHOOK = { NOTIFY_WEBHOOK_URL: "https://hooks.example.org/a?token=top-secret" };
const MAIL = {
  NOTIFY_SMTP_URL: "smtp://Mail.example.org",
  NOTIFY_MAIL_FROM: "stackroom@example.org",
  NOTIFY_MAIL_TO: "a@example.org, b@example.org",
};

Deno.test("notification settings: without a receiver there are none", () => {
  assert.equal(read({}).notifications, null);
  refused({ NOTIFY_EVENTS: "disk.full" }, /NOTIFY_EVENTS: has no effect/);
});

Deno.test("notification settings: webhooks have addresses and a secret, by value or in a file", () => {
  const { notifications, warnings } = read({ ...WEBHOOK, NOTIFY_WEBHOOK_SECRET_FILE: "/secret" });
  assert.deepEqual(notifications?.webhooks, { urls: [WEBHOOK.NOTIFY_WEBHOOK_URL], secrets: { path: "/secret" } });
  // That nothing is wrong is told only where it is asked for.
  assert.deepEqual(notifications?.events, EVENT_TYPES.filter((type) => type !== "fixity.clean"));
  assert.deepEqual(warnings, []);
  const two = read({
    NOTIFY_WEBHOOK_URL: "http://127.0.0.1:9/a,http://hooks.example.org/top-secret",
    NOTIFY_WEBHOOK_SECRET: `${SECRET} ${SECRET}`,
    NOTIFY_EVENTS: "disk.full",
  });
  assert.equal(two.notifications?.webhooks?.urls.length, 2);
  assert.deepEqual(two.notifications?.events, ["disk.full"]);
  assert.deepEqual(two.warnings, [
    "NOTIFY_WEBHOOK_URL: events for hooks.example.org leave this machine without TLS: use https://",
  ]);
});

Deno.test("notification settings: what is wrong with a webhook is named, and no address or secret is repeated", () => {
  refused(WEBHOOK, /NOTIFY_WEBHOOK_SECRET_FILE: is required/);
  refused({ NOTIFY_WEBHOOK_SECRET: SECRET }, /NOTIFY_WEBHOOK_URL: is required/);
  refused({ ...WEBHOOK, NOTIFY_WEBHOOK_SECRET_FILE: "/empty" }, /NOTIFY_WEBHOOK_SECRET_FILE: .*must hold one or two/);
  refused({ ...WEBHOOK, NOTIFY_WEBHOOK_SECRET_FILE: "/missing" }, /there is no file/);
  refused({ ...WEBHOOK, NOTIFY_WEBHOOK_SECRET_FILE: "/secret", NOTIFY_WEBHOOK_SECRET: SECRET }, /contradicts/);
  const bad = ["ftp://top-secret", "https://user:top-secret@e", "top-secret", "https://e/#top-secret", "https://e e"];
  for (const url of [...bad, Array.from({ length: 9 }, (_, n) => `https://e/${n}`).join(",")]) {
    assert.throws(() => read({ NOTIFY_WEBHOOK_URL: url, NOTIFY_WEBHOOK_SECRET: SECRET }), (error: Error) => {
      return /NOTIFY_WEBHOOK_URL: must be/.test(error.message) && !error.message.includes("top-secret");
    }, url);
  }
});

Deno.test("notification settings: a mail server is reached by STARTTLS unless it is this machine's, or by TLS", () => {
  const mail = (env: Record<string, string>) => read({ ...MAIL, ...env }).notifications?.mail;
  assert.deepEqual(mail({}), {
    server: { host: "mail.example.org", port: 587, security: "starttls" },
    login: null,
    from: "stackroom@example.org",
    to: ["a@example.org", "b@example.org"],
  });
  const server = (url: string, env = {}) => mail({ NOTIFY_SMTP_URL: url, ...env })?.server;
  assert.deepEqual(server("smtps://mail.example.org"), { host: "mail.example.org", port: 465, security: "tls" });
  assert.deepEqual(server("smtp://[::1]:25"), { host: "::1", port: 25, security: "optional" });
  const required = { NOTIFY_SMTP_REQUIRE_TLS: "true" };
  assert.equal(server("smtp://127.0.0.1", required)?.security, "starttls");
  const { notifications, warnings } = read({ ...MAIL, NOTIFY_SMTP_REQUIRE_TLS: "false" });
  assert.equal(notifications?.mail?.server.security, "optional");
  assert.match(warnings.join(), /NOTIFY_SMTP_REQUIRE_TLS: false, mails and the password/);
  const login = mail({ NOTIFY_SMTP_USER: "u", NOTIFY_SMTP_PASSWORD_FILE: "/password" })?.login;
  assert.deepEqual(login, { user: "u", password: { path: "/password" } });
});

Deno.test("notification settings: what is wrong with mails is named", () => {
  for (const name of ["NOTIFY_MAIL_FROM", "NOTIFY_MAIL_TO"]) {
    refused({ ...MAIL, [name]: "" }, new RegExp(`${name}: is required`));
    const bad = ["a", "a@", "Name <a@example.org>", "a@b c", '"a b"@example.org', "a@example.org\r\nBcc: x@y"];
    for (const address of bad) refused({ ...MAIL, [name]: address }, new RegExp(`${name}: must be`));
    refused({ [name]: "a@example.org" }, new RegExp(`${name}: has no effect without NOTIFY_SMTP_URL`));
  }
  refused({ ...MAIL, NOTIFY_SMTP_USER: "u" }, /NOTIFY_SMTP_PASSWORD_FILE: is required/);
  refused({ ...MAIL, NOTIFY_SMTP_PASSWORD: "word" }, /NOTIFY_SMTP_USER: is required/);
  const empty = { NOTIFY_SMTP_USER: "u", NOTIFY_SMTP_PASSWORD_FILE: "/empty" };
  refused({ ...MAIL, ...empty }, /must hold the password on one line/);
  for (const url of ["mail.example.org", "http://mail.example.org", "smtp://u:p@mail.example.org", "smtp://a/b"]) {
    refused({ ...MAIL, NOTIFY_SMTP_URL: url }, /NOTIFY_SMTP_URL: must be/);
  }
});
