import { inLanguage } from "@/lib/presentation/locale/language.ts";
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

/** A moment as people read it: `25 Aug, 14:32`, with its year where it is not this one; "" for what is no moment. */
export function formatMoment(instant: string | null, style: MomentStyle): string {
  const parts = partsOf(instant, style.zone);
  return parts ? TIMES.moment(dayOf(parts, style), parts.clock) : "";
}

/** The end of a span: the clock alone where the day is that of its beginning. */
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
  const name = zone === "UTC" ? "UTC" : `${zone} (UTC${offsetOf(parts.offset)})`;
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
  /** Minutes ahead of UTC. */
  readonly offset: number;
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
  const number = (type: string) => Number(found.get(type));
  const two = (type: string) => (found.get(type) ?? "").padStart(2, "0");
  const [year, month, day] = [number("year"), number("month"), number("day")];
  const local = Date.UTC(year, month - 1, day, number("hour"), number("minute"));
  const minute = Math.floor(ms / 60_000) * 60_000;
  return {
    year,
    month,
    day,
    clock: `${two("hour")}:${two("minute")}`,
    second: two("second"),
    offset: (local - minute) / 60_000,
  };
}

/** The server writes most moments in UTC: a thousand of them by `Intl` would take a tenth of a second. */
function partsInUtc(moment: Date): Parts {
  const two = (number: number) => String(number).padStart(2, "0");
  return {
    year: moment.getUTCFullYear(),
    month: moment.getUTCMonth() + 1,
    day: moment.getUTCDate(),
    clock: `${two(moment.getUTCHours())}:${two(moment.getUTCMinutes())}`,
    second: two(moment.getUTCSeconds()),
    offset: 0,
  };
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
    });
    formats.set(zone, format);
  }
  return format;
}

function offsetOf(minutes: number): string {
  const sign = minutes < 0 ? "−" : "+";
  const size = Math.abs(minutes);
  const rest = size % 60 === 0 ? "" : `:${String(size % 60).padStart(2, "0")}`;
  return `${sign}${Math.floor(size / 60)}${rest}`;
}
