import { formatDecimal } from "@/lib/pages/locale/figures.ts";
import { inLanguage } from "@/lib/pages/locale/language.ts";
import * as en from "@/locales/en/times.ts";
import * as sv from "@/locales/sv/times.ts";

const TIMES = inLanguage({ en: en.TIMES, sv: sv.TIMES });

/** How the reader's moments are written. */
export interface MomentStyle {
  /** IANA name of the reader's zone. */
  readonly zone: string;
  /** ms since 1970; a moment of another year shows its year. */
  readonly now: number;
}

/** A moment for people: `25 Aug, 14:32`, with its year if it is not this one; "" for an invalid moment. */
export function formatMoment(instant: string | null, style: MomentStyle): string {
  const parts = partsOf(instant, style.zone);
  return parts ? TIMES.moment(dayOf(parts, style), parts.clock) : "";
}

/** The end of a span: only the time if the span starts on the same day. */
export function formatEnd(instant: string, begin: string, style: MomentStyle): string {
  const [end, start] = [partsOf(instant, style.zone), partsOf(begin, style.zone)];
  if (!end) return "";
  const isSameDay = start?.day === end.day && start.month === end.month && start.year === end.year;
  return isSameDay ? end.clock : formatMoment(instant, style);
}

/** The whole instant with its zone, for a title: `25 August 2025, 14:32:08 Europe/Stockholm`. */
export function formatFull(instant: string | null, zone: string): string {
  const parts = partsOf(instant, zone);
  if (!parts) return "";
  const name = zone === "UTC" ? "UTC" : `${zone} (${parts.offset})`;
  const day = `${parts.day} ${TIMES.months[parts.month - 1]} ${parts.year}`;
  return TIMES.fullMoment(day, `${parts.clock}:${parts.second} ${name}`);
}

/** The clock of a moment in ms since 1970: `14:32:08`. */
export function formatClock(ms: number, zone: string): string {
  const parts = partsOf(new Date(ms).toISOString(), zone);
  return parts ? `${parts.clock}:${parts.second}` : "";
}

interface Parts {
  readonly year: number;
  /** 1..12 */
  readonly month: number;
  readonly day: number;
  readonly clock: string;
  readonly second: string;
  /** `UTC+5:30` */
  readonly offset: string;
}

function dayOf({ day, month, year }: Parts, { zone, now }: MomentStyle): string {
  const name = `${day} ${TIMES.shortMonths[month - 1]}`;
  return partsOf(new Date(now).toISOString(), zone)?.year === year ? name : `${name} ${year}`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

function partsOf(instant: string | null, zone: string): Parts | null {
  const ms = Date.parse(instant ?? "");
  if (Number.isNaN(ms)) return null;
  if (zone === "UTC") return partsInUtc(new Date(ms));
  const found = new Map<string, string>(formatOf(zone).formatToParts(ms).map(({ type, value }) => [type, value]));
  const text = (type: string) => found.get(type) ?? "";
  const offset = text("timeZoneName").replace("GMT", "UTC").replace("-", "−");
  return {
    year: Number(text("year")),
    month: Number(text("month")),
    day: Number(text("day")),
    clock: `${text("hour")}:${text("minute")}`,
    second: text("second"),
    offset: offset === "UTC" ? "UTC+0" : offset,
  };
}

/** The server writes most moments in UTC: a thousand of them by `Intl` would take a tenth of a second. */
function partsInUtc(moment: Date): Parts {
  const [year, month, day, hour, minute, second] = moment.toISOString().split(/[^\d]/);
  const date = { year: Number(year), month: Number(month), day: Number(day) };
  return { ...date, clock: `${hour}:${minute}`, second, offset: "UTC+0" };
}

function formatOf(zone: string): Intl.DateTimeFormat {
  let format = formats.get(zone);
  if (!format) {
    format = new Intl.DateTimeFormat("en-GB", {
      timeZone: zone,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "2-digit",
      minute: "2-digit",
      second: "2-digit",
      timeZoneName: "shortOffset",
    });
    formats.set(zone, format);
  }
  return format;
}

/** A duration in words: `12.3 s`, `1 min 5 s`, `1 h 43 min 38 s`; "" if it is invalid. */
export function formatDuration(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return "";
  const tenths = Math.round(seconds * 10) / 10;
  if (tenths < 60) return `${formatDecimal(tenths, 1)} s`;
  const whole = Math.round(seconds);
  const hours = Math.floor(whole / 3600);
  const minutes = Math.floor((whole % 3600) / 60);
  return `${hours > 0 ? `${TIMES.hours(hours)} ` : ""}${minutes} min ${whole % 60} s`;
}

/**
 * A rounded span in words: `less than a minute`, `46 min`, `1 h 56 min`, `31 h`, `12 days`; "" if it is invalid.
 */
export function formatSpan(seconds: number): string {
  if (!Number.isFinite(seconds) || seconds < 0) return "";
  const minutes = Math.round(seconds / 60);
  if (minutes < 1) return TIMES.lessThanAMinute;
  const hours = Math.floor(minutes / 60);
  if (hours < 1) return `${minutes} min`;
  if (hours < EXACT_HOURS) return minutes % 60 === 0 ? TIMES.hours(hours) : `${TIMES.hours(hours)} ${minutes % 60} min`;
  const whole = Math.round(minutes / 60);
  return whole < DAYS_FROM_HOURS ? TIMES.hours(whole) : TIMES.days(Math.round(whole / 24));
}

/** How long ago something was, in its largest whole unit: `8 s ago`, `42 min ago`, `5 h ago`, `3 days ago`. */
export function formatAge(seconds: number): string {
  if (!Number.isFinite(seconds)) return "";
  const whole = Math.max(0, Math.floor(seconds));
  if (whole < 60) return TIMES.ago(`${whole} s`);
  if (whole < 3600) return TIMES.ago(`${Math.floor(whole / 60)} min`);
  const hours = Math.floor(whole / 3600);
  return TIMES.ago(hours < DAYS_FROM_HOURS ? TIMES.hours(hours) : TIMES.days(Math.floor(hours / 24)));
}

/** Hours from which minutes are left out. */
const EXACT_HOURS = 10;
/** Hours from which a span is written in days. */
const DAYS_FROM_HOURS = 48;
