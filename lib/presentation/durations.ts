import { formatDecimal } from "@/lib/presentation/locale/figures.ts";
import { inLanguage } from "@/lib/presentation/locale/language.ts";
import * as en from "@/locales/en/times.ts";
import * as sv from "@/locales/sv/times.ts";

const TIMES = inLanguage({ en: en.TIMES, sv: sv.TIMES });

/** A duration in words: `12.3 s`, `1 min 5 s`, `1 h 43 min 38 s`; "" for what is no duration. */
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
 * A span in words, as exact as people plan by: `less than a minute`, `46 min`, `1 h 56 min`, `31 h`, `12 days`; "" for what
 * is no span.
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
