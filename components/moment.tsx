import { formatEnd, formatFull, formatMoment, type MomentStyle } from "@/lib/pages/moments.ts";

interface MomentProps {
  /** RFC 3339 */
  readonly at: string;
  /** Start of the span that this moment ends: if it is on the same day, only the time is shown. */
  readonly since?: string;
  readonly style: MomentStyle;
}

/** A moment in the reader's zone, with the full instant on hover. Renders nothing if it is invalid. */
export function Moment({ at, since, style }: MomentProps) {
  const text = since === undefined ? formatMoment(at, style) : formatEnd(at, since, style);
  if (text === "") return null;
  return <time dateTime={at} title={formatFull(at, style.zone)}>{text}</time>;
}
