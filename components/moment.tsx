import { formatEnd, formatFull, formatMoment, type MomentStyle } from "@/lib/pages/moments.ts";

interface MomentProps {
  /** RFC 3339 */
  readonly at: string;
  /** The beginning of the span that this ends: its day is not said twice. */
  readonly since?: string;
  readonly style: MomentStyle;
}

/** A moment in the reader's zone, with the whole instant on hover. Nothing for what is no moment. */
export function Moment({ at, since, style }: MomentProps) {
  const text = since === undefined ? formatMoment(at, style) : formatEnd(at, since, style);
  if (text === "") return null;
  return <time dateTime={at} title={formatFull(at, style.zone)}>{text}</time>;
}
