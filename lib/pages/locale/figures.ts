import { currentLanguage, type Language } from "./language.ts";

/** Separators of numbers. */
const FORMS: Readonly<Record<Language, { thousands: string; decimal: string }>> = {
  en: { thousands: ",", decimal: "." },
  // A space at which no line breaks.
  sv: { thousands: "\u00a0", decimal: "," },
};

/** A whole number with thousands separators: `81,204`, in Swedish `81 204`. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, FORMS[currentLanguage()].thousands);
}

/** `1 page`, `2,000 pages`. */
export function counted(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** A number with a fixed count of decimals: `12.3`, in Swedish `12,3`. */
export function formatDecimal(value: number, decimals: number): string {
  return value.toFixed(decimals).replace(".", FORMS[currentLanguage()].decimal);
}

/** A quality, 0..1, with two decimals. */
export function formatQuality(quality: number): string {
  return formatDecimal(quality, 2);
}
