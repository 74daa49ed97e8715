import { createHash } from "node:crypto";
import { z } from "zod";
import { clip, isLonger } from "@/lib/std/untrusted.ts";

/** The types of events. */
export const EVENT_TYPES = [
  "campaign.ended",
  "campaign.trouble",
  "disk.full",
  "disk.low",
  "fixity.report",
  "fixity.clean",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

/** Longest texts of an event, characters. */
const MAX_SUBJECT = 150;
const MAX_SUMMARY = 500;
const MAX_VALUE = 300;
const MAX_LINK = 2048;
/** Most members of the data. */
const MAX_MEMBERS = 20;

const line = (max: number) => z.string().transform((text) => plainLine(text, max));

/** An event of a queue, where anything else may have been put. */
export const EVENT = z.object({
  /** The same for the same fact, whichever process reports it, and however often. */
  id: z.string().regex(/^evt_[0-9a-f]{32}$/),
  type: z.enum(EVENT_TYPES),
  /** When it came about, RFC 3339. */
  timestamp: z.iso.datetime(),
  subject: line(MAX_SUBJECT),
  summary: line(MAX_SUMMARY),
  /** The page that shows it; null where the address of the site is not known. */
  link: z.url({ protocol: /^https?$/ }).max(MAX_LINK).nullable(),
  data: z.record(z.string().max(MAX_VALUE), z.union([line(MAX_VALUE), z.number(), z.boolean(), z.null()])).refine(
    (data) => Object.keys(data).length <= MAX_MEMBERS,
  ),
});

/** One notification, as receivers read it. It holds no secret, and its texts are one bounded line each. */
export type NotificationEvent = Readonly<z.output<typeof EVENT>>;

/** Something that has come about. Names in it may be hostile. */
interface Fact extends Pick<NotificationEvent, "type" | "subject" | "summary" | "data"> {
  /** Distinguishes it from every other fact of its type. */
  readonly identity: readonly string[];
  /** ms since 1970 */
  readonly at: number;
  readonly link?: string | null;
}

/** The notification of a fact: every text cut to its bound, without control characters. */
export function notificationEvent(fact: Fact): NotificationEvent {
  const identity = JSON.stringify([fact.type, ...fact.identity]);
  const data = Object.entries(fact.data).slice(0, MAX_MEMBERS).map(([name, value]) => [
    name,
    typeof value === "string" ? plainLine(value, MAX_VALUE) : value,
  ]);
  const link = fact.link ?? null;
  return {
    id: `evt_${createHash("sha256").update(identity).digest("hex").slice(0, 32)}`,
    type: fact.type,
    timestamp: new Date(fact.at).toISOString(),
    subject: plainLine(fact.subject, MAX_SUBJECT),
    summary: plainLine(fact.summary, MAX_SUMMARY),
    link: link !== null && link.length <= MAX_LINK ? link : null,
    data: Object.fromEntries(data),
  };
}

/** Controls, what turns the direction of a text or hides in it, line ends, and halves of surrogate pairs. */
const NOT_PLAIN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]+/gu;

/**
 * A text as one line that may stand in a header or in a terminal: each run of control characters is one blank.
 *
 * @param max characters; a longer text ends with `…`
 */
export function plainLine(text: string, max: number): string {
  // Cut first, so that a text of megabytes is not gone through.
  const plain = clip(text, 2 * max).replace(NOT_PLAIN, " ").trim();
  return isLonger(plain, max) ? `${clip(plain, max - 1)}…` : plain;
}
