import { formatDecimal } from "@/lib/pages/locale/figures.ts";

const UNITS = ["B", "kB", "MB", "GB", "TB", "PB"];

/** A length in bytes as people read it, with decimal units: `9 B`, `41 kB`, `7.8 MB`, in Swedish `7,8 MB`. */
export function formatBytes(bytes: number): string {
  let size = bytes;
  let unit = 0;
  // A size that would be rounded to 1000 is written in the next unit.
  while (size >= 999.5 && unit < UNITS.length - 1) {
    size /= 1000;
    unit++;
  }
  const digits = unit > 1 && size < 99.95 ? 1 : 0;
  return `${formatDecimal(size, digits)}\u00a0${UNITS[unit]}`;
}
