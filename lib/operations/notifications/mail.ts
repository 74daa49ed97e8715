import { createHash } from "node:crypto";
import { connect, isIP, type Socket } from "node:net";
import { createTransport } from "nodemailer";
import { tlsTrust } from "@/lib/http/upstream.ts";
import { withDeadline } from "@/lib/std/body_reader.ts";
import { member } from "@/lib/std/untrusted.ts";
import type { NotificationEvent } from "./event.ts";
import type { Channel, Outcome } from "./notifier.ts";

/** How long an event waits for others that come into the same mail, ms. */
const WINDOW_MS = 60_000;
/** Most events of one mail. */
const MAX_EVENTS = 50;
/** Until a connection stands, until the server greets, and between two replies, ms. */
const IDLE_TIMEOUT_MS = 15_000;
/** For a whole mail, ms. */
const TIMEOUT_MS = 45_000;

/** The server that takes mails. */
export interface MailServer {
  /** Without brackets. */
  readonly host: string;
  readonly port: number;
  /** `tls`: from the first byte on. `starttls`: no mail is sent without. `optional`: TLS where the server offers it. */
  readonly security: "tls" | "starttls" | "optional";
  readonly login: { readonly user: string; readonly password: string } | null;
}

interface MailOptions {
  readonly server: MailServer;
  readonly from: string;
  readonly to: readonly string[];
  /** Further authorities that may have signed the server's certificate, PEM. */
  readonly caCerts?: readonly string[];
  /** How long an event waits for others, ms; a minute when absent. */
  readonly windowMs?: number;
}

/** Sends events by mail, those of a minute in one. */
export function mail({ server, from, to, caCerts, windowMs = WINDOW_MS }: MailOptions): Channel {
  const identity = JSON.stringify([server.host, server.port, from, to]);
  return {
    name: `mail-${createHash("sha256").update(identity).digest("hex").slice(0, 16)}`,
    kind: "mail",
    shown: `mail by ${server.host}`,
    windowMs,
    batch: MAX_EVENTS,
    async send(events, signal) {
      const late = new AbortController();
      const either = AbortSignal.any([signal, late.signal]);
      try {
        await withDeadline(TIMEOUT_MS, {
          work: () =>
            sendMail(server, caCerts, { from, to, ...mailText(events, from.slice(from.lastIndexOf("@") + 1)) }, either),
          cancel: () => late.abort(),
          late: () => Object.assign(new Error("late"), { code: "ETIMEDOUT" }),
        });
        return { result: "sent" };
      } catch (error) {
        return failureOf(error);
      }
    },
  };
}

interface Mail extends ReturnType<typeof mailText> {
  readonly from: string;
  readonly to: readonly string[];
}

async function sendMail(
  { host, port, security, login }: MailServer,
  caCerts: readonly string[] | undefined,
  { from, to, ...content }: Mail,
  signal: AbortSignal,
): Promise<void> {
  let socket: Socket | undefined;
  const cut = () => socket?.destroy(new Error("aborted"));
  const transport = createTransport({
    host,
    port,
    secure: security === "tls",
    requireTLS: security === "starttls",
    auth: login === null ? undefined : { user: login.user, pass: login.password },
    tls: { ...tlsTrust(caCerts), servername: isIP(host) ? undefined : host },
    greetingTimeout: IDLE_TIMEOUT_MS,
    socketTimeout: IDLE_TIMEOUT_MS,
    disableFileAccess: true,
    disableUrlAccess: true,
    // The package looks the name up by itself, for which the process would need more rights than to connect.
    getSocket(_options, callback) {
      const opened = connect({ host, port });
      socket = opened;
      const failed = (error: Error) => {
        opened.destroy();
        callback(error, undefined);
      };
      opened.setTimeout(IDLE_TIMEOUT_MS, () => failed(Object.assign(new Error("late"), { code: "ETIMEDOUT" })));
      opened.once("error", failed);
      opened.once("connect", () => {
        opened.setTimeout(0);
        opened.off("error", failed);
        callback(null, { connection: opened });
      });
    },
  });
  signal.addEventListener("abort", cut, { once: true });
  try {
    if (signal.aborted) throw Object.assign(new Error("aborted"), { code: "ECONNECTION" });
    await transport.sendMail({
      from: { name: "Stackroom", address: from },
      to: to.map((address) => ({ name: "", address })),
      ...content,
      headers: { "Auto-Submitted": "auto-generated" },
    });
  } finally {
    signal.removeEventListener("abort", cut);
    transport.close();
    socket?.destroy();
  }
}

/** The server's own text may repeat what it was sent, so only its codes are shown. */
function failureOf(error: unknown): Outcome {
  const [code, status] = ["code", "responseCode"].map((name) => member(error, name));
  const shown = [code, status].filter((part) => typeof part === "number" || /^[A-Z]{2,20}$/.test(String(part)));
  const reason = `the mail server did not take it (${shown.join(" ") || "no code"})`;
  // A login that is refused may be mended by the operator; a mail that is refused stays so (RFC 5321 §4.2.1).
  const isRefused = typeof status === "number" && status >= 500 && code !== "EAUTH";
  return isRefused ? { result: "refused", reason } : { result: "failed", reason };
}

const PREFIX = "[Stackroom]";
const INDENT = "  ";

/** One mail about events, in plain text. @param domain of the sender */
export function mailText(events: readonly NotificationEvent[], domain: string) {
  const [first] = events;
  const ids = createHash("sha256").update(events.map(({ id }) => id).join(" ")).digest("hex").slice(0, 32);
  return {
    subject: events.length === 1
      ? `${PREFIX} ${first.subject}`
      : `${PREFIX} ${events.length} notifications: ${first.subject}`,
    text: `${events.map(paragraph).join("\n\n")}\n\n-- \nSent by Stackroom.\n`,
    /** The same for the same events, so that a mail that was sent twice can be recognized. */
    messageId: `<${ids}@${domain}>`,
  };
}

function paragraph({ id, type, timestamp, subject, summary, link }: NotificationEvent): string {
  const lines = [summary, ...(link === null ? [] : [link]), `${timestamp}  ${type}  ${id}`];
  return [subject, ...lines.map((line) => INDENT + line)].join("\n");
}
