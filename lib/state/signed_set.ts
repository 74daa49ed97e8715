import { Buffer } from "node:buffer";
import { createHmac, type KeyObject, timingSafeEqual } from "node:crypto";
import { appendEntry, listOf, type RedisCommands, textOf } from "./event_streams.ts";
import type { SealedEvents } from "./sealed_events.ts";

/** Characters of a signature: base64url of 32 bytes. */
const SIGNATURE_CHARACTERS = 43;
const MAX_PER_COMMAND = 500;
const MAX_EVENTS_PER_ENTRY = 64;

interface SignedSetOptions {
  readonly redis: RedisCommands;
  /** The key of the sorted set. */
  readonly name: string;
  /** The first one signs the texts, those of each are read; may throw while there is none. */
  readonly keys: () => readonly KeyObject[];
  /** Receives the texts that were added, as events. */
  readonly stream: string;
  readonly events: SealedEvents;
}

/** A set that {@linkcode signedSet} returns. */
export type SignedSet = ReturnType<typeof signedSet>;

/**
 * A set of texts in Redis, each until it ends, for the processes with a common key: each text is stored with its signature,
 * and others are not read. What is added is also sent through a stream.
 */
export function signedSet({ redis, name, keys, stream, events }: SignedSetOptions) {
  /** The members for a text, one for each key. */
  const signed = (text: string) =>
    keys().map((key) => createHmac("sha256", key).update(text).digest("base64url") + text);

  function opened(member: string | null): string | null {
    const text = member?.slice(SIGNATURE_CHARACTERS) ?? "";
    const claimed = Buffer.from(member ?? "");
    const isSigned = signed(text).map((member) => Buffer.from(member))
      .some((right) => claimed.length === right.length && timingSafeEqual(claimed, right));
    return isSigned ? text : null;
  }

  return {
    /** All texts. Whatever else is in the set takes no memory beyond a page of the reply. */
    async load(): Promise<string[]> {
      const texts = new Set<string>();
      let cursor = "0";
      do {
        const [next, members] = listOf(await redis.command("ZSCAN", name, cursor, "COUNT", MAX_PER_COMMAND));
        cursor = textOf(next) ?? "0";
        // Members and their scores in turn.
        for (const [n, member] of listOf(members).entries()) {
          const text = n % 2 === 0 ? opened(textOf(member)) : null;
          if (text !== null) texts.add(text);
        }
      } while (cursor !== "0");
      return [...texts];
    },

    /**
     * Adds texts before it removes others, and drops those that have ended by the server's clock.
     *
     * @param added each is stored until it ends, seconds since 1970
     */
    async write(
      added: readonly { readonly text: string; readonly expiresAt: number }[],
      removed: readonly string[],
    ): Promise<void> {
      const members = added.flatMap(({ text, expiresAt }) => [Math.ceil(expiresAt), signed(text)[0]]);
      for (const some of chunks(members, 2 * MAX_PER_COMMAND)) await redis.command("ZADD", name, ...some);
      const gone = removed.flatMap(signed);
      for (const some of chunks(gone, MAX_PER_COMMAND)) await redis.command("ZREM", name, ...some);
      const [seconds] = listOf(await redis.command("TIME"));
      // Sealed as they are sent: an entry with an earlier number than the last one would be ignored.
      const texts = added.map(({ text }) => text);
      const entries = chunks(texts, MAX_EVENTS_PER_ENTRY).map((some) => events.seal(some));
      await Promise.all([
        ...entries.map((entry) => appendEntry(redis, stream, entry)),
        redis.command("ZREMRANGEBYSCORE", name, "-inf", textOf(seconds) ?? "-inf"),
      ]);
    },
  };
}

function chunks<T>(values: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(values.length / size) }, (_, n) => values.slice(n * size, (n + 1) * size));
}
