import type { MailServer } from "@/lib/operations/notifications/mail.ts";
import { parseWebhookSecrets } from "@/lib/operations/notifications/webhook.ts";
import type { Reading } from "./reading.ts";
import { bindAddress, canonicalHost, isLoopback } from "./setting_values.ts";

export type NotificationsConfig = NonNullable<ReturnType<typeof notificationsConfig>>;

const SMTPS_PORT = 465;
const SUBMISSION_PORT = 587;

/** Where notifications are sent; null without a receiver. */
export function notificationsConfig(reading: Reading) {
  const { settings } = reading;
  const webhooks = reading.part(() => webhooksConfig(reading));
  const mail = reading.part(() => mailConfig(reading));
  if (webhooks === null && mail === null) {
    if (reading.isSet("NOTIFY_EVENTS")) {
      reading.report(
        "NOTIFY_EVENTS",
        "has no effect: set NOTIFY_WEBHOOK_URL or NOTIFY_SMTP_URL, where events are sent",
      );
    }
    return null;
  }
  return {
    events: settings.NOTIFY_EVENTS,
    /** Null where events are sent to no webhook. */
    webhooks,
    /** Null where no mails are sent. */
    mail,
    /** The server in which replicas share the queue, whatever their roles; null: none. */
    redisUrl: settings.REDIS_URL ?? null,
  };
}

function webhooksConfig(reading: Reading) {
  const { settings: { NOTIFY_WEBHOOK_URL: urls }, files } = reading;
  const secrets = reading.textSource("NOTIFY_WEBHOOK_SECRET_FILE");
  if (urls === undefined) {
    if (secrets === null) return null;
    return reading.refuse("NOTIFY_WEBHOOK_URL", "is required: the secret of webhooks is set; set both or neither");
  }
  if (secrets === null) {
    return reading.refuse(
      "NOTIFY_WEBHOOK_SECRET_FILE",
      'is required: set the path of a file with whsec_ and the output of "openssl rand -base64 32", ' +
        "with which receivers tell our events from forged ones",
    );
  }
  if ("path" in secrets && parseWebhookSecrets(files.read(secrets.path) ?? "") === null) {
    reading.refuse(
      "NOTIFY_WEBHOOK_SECRET_FILE",
      `${JSON.stringify(secrets.path)} must hold one or two secrets, each whsec_ and the base64 of 24 to 64 bytes, ` +
        "and be readable",
    );
  }
  for (const url of urls) {
    const { protocol, hostname } = new URL(url);
    if (protocol === "https:" || isLoopback(hostname)) continue;
    reading.warn("NOTIFY_WEBHOOK_URL", `events for ${hostname} leave this machine without TLS: use https://`);
  }
  return { urls, /** One or two secrets. */ secrets };
}

function mailConfig(reading: Reading) {
  const { settings } = reading;
  const { NOTIFY_SMTP_URL: url, NOTIFY_SMTP_USER: user } = settings;
  const password = reading.textSource("NOTIFY_SMTP_PASSWORD_FILE");
  if (url === undefined) {
    for (const variable of OF_MAIL) {
      if (reading.isSet(variable)) {
        reading.report(variable, "has no effect without NOTIFY_SMTP_URL: set both or neither");
      }
    }
    return null;
  }
  const from = reading.required("NOTIFY_MAIL_FROM", "set the address that mails come from");
  const to = settings.NOTIFY_MAIL_TO ??
    reading.refuse("NOTIFY_MAIL_TO", "is required: set the addresses that mails are sent to");
  if ((user === undefined) !== (password === null)) {
    reading.refuse(
      user === undefined ? "NOTIFY_SMTP_USER" : "NOTIFY_SMTP_PASSWORD_FILE",
      "is required: a login at the mail server has a user and a password; set both or neither",
    );
  }
  if (password !== null && "path" in password && !isPassword(reading.files.read(password.path))) {
    reading.refuse(
      "NOTIFY_SMTP_PASSWORD_FILE",
      `${JSON.stringify(password.path)} must hold the password on one line, and be readable`,
    );
  }
  const { protocol, hostname, port } = new URL(url);
  // The host of an address that is not of the web is not spelled in one way.
  const host = canonicalHost(hostname) ?? hostname;
  const isOwn = isLoopback(host);
  const requiresTls = settings.NOTIFY_SMTP_REQUIRE_TLS ?? !isOwn;
  const isSecure = protocol === "smtps:";
  if (!isSecure && !requiresTls && !isOwn) {
    reading.warn(
      "NOTIFY_SMTP_REQUIRE_TLS",
      "false, mails and the password of the mail server may leave this machine without TLS",
    );
  }
  const security: MailServer["security"] = isSecure ? "tls" : requiresTls ? "starttls" : "optional";
  return {
    server: { host: bindAddress(host), port: Number(port || (isSecure ? SMTPS_PORT : SUBMISSION_PORT)), security },
    /** Null: no login. */
    login: user === undefined || password === null ? null : { user, password },
    from,
    to,
  };
}

function isPassword(text: string | null): boolean {
  const password = text?.trim() ?? "";
  return password !== "" && !/\p{Cc}/u.test(password);
}

/** Settings that say nothing without a mail server. */
const OF_MAIL = [
  "NOTIFY_SMTP_REQUIRE_TLS",
  "NOTIFY_SMTP_USER",
  "NOTIFY_SMTP_PASSWORD_FILE",
  "NOTIFY_MAIL_FROM",
  "NOTIFY_MAIL_TO",
] as const;
