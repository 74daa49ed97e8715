import { z } from "zod";
import { parsedJson } from "@/lib/std/untrusted.ts";

const VERSION = 2;
const DIGEST = z.string();
const ACCOUNT = z.string();
/** Seconds since 1970. */
const SECONDS = z.number();

const CONTENT = z.object({
  version: z.literal(VERSION),
  /** Revoked sessions; the time of issue is null where unknown. */
  listed: z.array(z.tuple([DIGEST, ACCOUNT, SECONDS, SECONDS.nullable()])),
  /** By account, once its revoked sessions are no longer listed. */
  upTo: z.array(z.tuple([ACCOUNT, SECONDS, SECONDS.nullable()])),
});

/** The version before, which had no times of issue. */
const CONTENT_1 = z.object({
  version: z.literal(1),
  listed: z.array(z.tuple([DIGEST, ACCOUNT, SECONDS]).transform((row) => [...row, null] as const)),
  upTo: z.array(z.tuple([ACCOUNT, SECONDS]).transform((row) => [...row, null] as const)),
});

const ANY_CONTENT = z.union([CONTENT, CONTENT_1]);

/** The content of a file of revoked sessions. */
export type RevocationContent = Omit<z.output<typeof ANY_CONTENT>, "version">;

/** The text of a file of revoked sessions. */
export function revocationText(content: RevocationContent): string {
  return JSON.stringify({ version: VERSION, ...content });
}

/** Parses such a text, of this version or the one before; null for any other text. */
export function parseRevocationText(text: string): RevocationContent | null {
  return ANY_CONTENT.safeParse(parsedJson(text)).data ?? null;
}
