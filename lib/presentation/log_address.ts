import { percentDecoded } from "@/lib/std/text.ts";

/** What the address of a run log tells. */
interface LogAddress {
  /** "" where the address names none. */
  readonly volume: string;
  readonly pipeline: string | null;
  readonly namespace: string | null;
}

/** Reads `<results URL>/<namespace>/status/logs/<pipeline>/<volume>.txt`; any other address gives its last part alone. */
export function readLogAddress(href: string): LogAddress {
  const parts = (URL.parse(href)?.pathname ?? "").split("/").map((part) => percentDecoded(part) ?? part);
  const volume = (parts.at(-1) ?? "").replace(/\.txt$/, "");
  const isUsual = parts.at(-3) === "logs" && parts.at(-4) === "status";
  return isUsual
    ? { volume, pipeline: parts.at(-2) ?? null, namespace: parts.at(-5) ?? null }
    : { volume, pipeline: null, namespace: null };
}
