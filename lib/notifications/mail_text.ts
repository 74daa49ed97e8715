import { createHash } from "node:crypto";
import type { NotificationEvent } from "./event.ts";

/** A mail as it is handed to the library that encodes it. */
interface MailText {
  readonly subject: string;
  readonly text: string;
  /** The same for the same events, so that a mail that was sent twice can be told. */
  readonly messageId: string;
}

const PREFIX = "[Stackroom]";
const INDENT = "  ";

/** One mail about events, in plain text. @param domain of the sender */
export function mailText(events: readonly NotificationEvent[], domain: string): MailText {
  const [first] = events;
  const ids = createHash("sha256").update(events.map(({ id }) => id).join(" ")).digest("hex").slice(0, 32);
  return {
    subject: events.length === 1
      ? `${PREFIX} ${first.subject}`
      : `${PREFIX} ${events.length} notifications: ${first.subject}`,
    text: `${events.map(paragraph).join("\n\n")}\n\n-- \nSent by Stackroom.\n`,
    messageId: `<${ids}@${domain}>`,
  };
}

function paragraph({ id, type, timestamp, subject, summary, link }: NotificationEvent): string {
  const lines = [summary, ...(link === null ? [] : [link]), `${timestamp}  ${type}  ${id}`];
  return [subject, ...lines.map((line) => INDENT + line)].join("\n");
}
