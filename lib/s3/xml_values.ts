import { z } from "zod";
import { percentDecoded } from "@/lib/std/percent_decoded.ts";
import { MalformedXml } from "./xml.ts";

/** A boolean. */
export function isTrue(text: string | undefined): boolean {
  return text?.trim() === "true";
}

/** A whole number of at least 0. @throws MalformedXml */
export function count(text: string): number {
  const value = /^\s*\d{1,16}\s*$/.test(text) ? Number(text) : NaN;
  if (!Number.isSafeInteger(value)) throw new MalformedXml("not a count");
  return value;
}

/** ISO 8601 in UTC: milliseconds become microseconds, and a zero fraction is removed. @throws MalformedXml */
export function timestamp(text: string): string {
  const match = /^\s*(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(?:Z|\+00:00)\s*$/.exec(text);
  if (!match) throw new MalformedXml("not a timestamp");
  const fraction = (match[2] ?? "").padEnd(6, "0").slice(0, 6);
  return Number(fraction) === 0 ? `${match[1]}Z` : `${match[1]}.${fraction}Z`;
}

/** A name of a listing with `EncodingType` url. @throws MalformedXml */
export function urlDecoded(text: string): string {
  const name = percentDecoded(text.replaceAll("+", "%20"));
  if (name === null) throw new MalformedXml("not URL-encoded");
  return name;
}

/** A reader of the names of a listing with this `EncodingType`. */
export function nameReader(encodingType: string | undefined): (text: string) => string {
  return encodingType?.trim() === "url" ? urlDecoded : (text) => text;
}

/** {@link timestamp} of a text that may be absent. */
export function optionalTime(text: string | undefined): string | null {
  return text === undefined ? null : timestamp(text);
}

/** {@link timestamp} of a time that the SDK has read. */
export function isoTime(time: Date | undefined): string | null {
  return time === undefined ? null : timestamp(time.toISOString());
}

/** A whole number of at least 0 that the SDK has read. @throws MalformedXml */
export function whole(value: number | undefined): number | null {
  return value === undefined ? null : count(String(value));
}

/** The owner of a bucket, an object or a version, members named as in S3. */
export const owner = z.object({ DisplayName: z.string().nullable(), ID: z.string().nullable() });
export type Owner = z.output<typeof owner>;

/** An owner without what is absent; null where there is none. */
export function ownerOf(read: { readonly ID?: string; readonly DisplayName?: string } | undefined): Owner | null {
  const { ID = null, DisplayName = null } = read ?? {};
  return ID === null && DisplayName === null ? null : { DisplayName, ID };
}
