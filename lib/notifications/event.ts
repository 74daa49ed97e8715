import { createHash } from "node:crypto";
import { z } from "zod";
import { plainLine } from "./plain_line.ts";

/** What notifications are sent about. */
export const EVENT_TYPES = [
  "campaign.ended",
  "campaign.trouble",
  "disk.full",
  "disk.low",
  "fixity.report",
  "fixity.clean",
] as const;
export type EventType = (typeof EVENT_TYPES)[number];

type EventValue = string | number | boolean | null;

/** One notification, as receivers read it. It holds no secret, and its texts are one bounded line each. */
export interface NotificationEvent {
  /** The same for the same fact, whichever process reports it, and however often. */
  readonly id: string;
  readonly type: EventType;
  /** When it came about, RFC 3339. */
  readonly timestamp: string;
  readonly subject: string;
  readonly summary: string;
  /** The page that shows it; null where the address of the site is not known. */
  readonly link: string | null;
  readonly data: Readonly<Record<string, EventValue>>;
}

/** Something that has come about. Names in it may be hostile. */
interface Fact {
  readonly type: EventType;
  /** What tells it from every other fact of its type. */
  readonly identity: readonly string[];
  /** ms since 1970 */
  readonly at: number;
  readonly subject: string;
  readonly summary: string;
  readonly link?: string | null;
  readonly data: Readonly<Record<string, EventValue>>;
}

/** Longest texts of an event, characters. */
const MAX_SUBJECT = 150;
const MAX_SUMMARY = 500;
const MAX_VALUE = 300;
const MAX_LINK = 2048;
/** Most members of the data. */
const MAX_MEMBERS = 20;

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

const line = (max: number) => z.string().transform((text) => plainLine(text, max));

/** An event of a queue, where anything else may have been put. */
export const EVENT = z.object({
  id: z.string().regex(/^evt_[0-9a-f]{32}$/),
  type: z.enum(EVENT_TYPES),
  timestamp: z.iso.datetime(),
  subject: line(MAX_SUBJECT),
  summary: line(MAX_SUMMARY),
  link: z.url({ protocol: /^https?$/ }).max(MAX_LINK).nullable(),
  data: z.record(z.string().max(MAX_VALUE), z.union([line(MAX_VALUE), z.number(), z.boolean(), z.null()])).refine(
    (data) => Object.keys(data).length <= MAX_MEMBERS,
  ),
});
