import { EVENT_TYPES } from "@/lib/notifications/event.ts";
import { section } from "./described.ts";
import {
  choices,
  flag,
  line,
  mailAddress,
  mailAddresses,
  smtpAddress,
  textSource,
  webhookAddresses,
  webhookSecrets,
} from "./values.ts";

const notifications = section("Notifications");

/** What is sent about campaigns, reports and the disk, and where to. */
export const notificationVariables = {
  NOTIFY_EVENTS: notifications(
    choices(EVENT_TYPES).default(EVENT_TYPES.filter((type) => type !== "fixity.clean")),
    "What notifications are sent about ([notifications.md](notifications.md)).",
  ),
  NOTIFY_WEBHOOK_URL: notifications(
    webhookAddresses().optional(),
    "Where each event is sent by POST; a comma in an address is written `%2C`. `http://` to another machine is logged at the start.",
    { secret: true, otherwise: "no webhook" },
  ),
  NOTIFY_WEBHOOK_SECRET_FILE: notifications(
    textSource(webhookSecrets()).optional(),
    "A file with the secret that signs what webhooks receive: `whsec_` and the base64 of 24 to 64 bytes. Two secrets, each on a line of its own, both sign while one is being replaced.",
    { content: "NOTIFY_WEBHOOK_SECRET", otherwise: "required with `NOTIFY_WEBHOOK_URL`" },
  ),
  NOTIFY_SMTP_URL: notifications(
    smtpAddress().optional(),
    "The server that takes mails. `smtps://` is TLS from the first byte on (port 465), `smtp://` is STARTTLS (port 587).",
    { otherwise: "no mail" },
  ),
  NOTIFY_SMTP_REQUIRE_TLS: notifications(
    flag().optional(),
    "Whether an `smtp://` server must offer STARTTLS. `false` is logged at the start where the server is another machine.",
    { otherwise: "`true`; `false` where the server is on loopback" },
  ),
  NOTIFY_SMTP_USER: notifications(line().optional(), "The user at the mail server.", { otherwise: "no login" }),
  NOTIFY_SMTP_PASSWORD_FILE: notifications(
    textSource(line()).optional(),
    "A file with the password of `NOTIFY_SMTP_USER`.",
    { content: "NOTIFY_SMTP_PASSWORD", otherwise: "required with `NOTIFY_SMTP_USER`" },
  ),
  NOTIFY_MAIL_FROM: notifications(mailAddress().optional(), "The sender of mails.", {
    otherwise: "required with `NOTIFY_SMTP_URL`",
  }),
  NOTIFY_MAIL_TO: notifications(mailAddresses().optional(), "Who mails are sent to.", {
    otherwise: "required with `NOTIFY_SMTP_URL`",
  }),
};
