import { Buffer } from "node:buffer";
import { type KeyObject, randomBytes } from "node:crypto";
import { LRUCache } from "lru-cache";
import { z } from "zod";
import { derivedKeys, openWithOne, sealText } from "@/lib/std/sealed_text.ts";
import { parsedJson } from "@/lib/std/untrusted.ts";

const SENDER_BYTES = 12;
/** Processes whose last entry is remembered. */
const MAX_SENDERS = 1000;
/** Longer entries are not opened, characters. */
const MAX_ENTRY_CHARACTERS = 64 * 1024;

const ENTRY = z.object({ sender: z.string(), number: z.number(), events: z.array(z.unknown()) });

/**
 * Entries of a stream that the processes with a common key write and read: a list of events, sealed with the sender and a
 * number that grows. So no other process can read an entry, write one, or have one applied twice.
 */
export class SealedEvents {
  readonly #sender = randomBytes(SENDER_BYTES).toString("base64url");
  /** The number of the last entry of each sender. */
  readonly #last = new LRUCache<string, number>({ max: MAX_SENDERS });
  #number = 0;

  /**
   * @param stream its name; an entry opens in no other stream
   * @param keys the first one seals, each of them opens; may throw while there is none
   */
  constructor(private readonly stream: string, private readonly keys: () => readonly KeyObject[]) {}

  /** The next entry of this process. Entries must be written in the order in which they were sealed. */
  seal(events: readonly unknown[]): string {
    const entry: z.output<typeof ENTRY> = { sender: this.#sender, number: ++this.#number, events: [...events] };
    return sealText(JSON.stringify(entry), this.keys()[0], this.stream).toString("base64url");
  }

  /** The events of an entry: none for one of this process, one that was read before, and one that cannot be opened. */
  open(entry: string): readonly unknown[] {
    if (entry.length > MAX_ENTRY_CHARACTERS) return [];
    const opened = openWithOne(Buffer.from(entry, "base64url"), this.#readableKeys(), this.stream);
    const { data } = ENTRY.safeParse(opened === null ? undefined : parsedJson(opened.text));
    if (!data || data.sender === this.#sender || data.number <= (this.#last.get(data.sender) ?? 0)) return [];
    this.#last.set(data.sender, data.number);
    return data.events;
  }

  #readableKeys(): readonly KeyObject[] {
    try {
      return this.keys();
    } catch {
      return [];
    }
  }
}

/**
 * Returns the secrets that all replicas have in common, of which the first one seals and signs; none while they cannot
 * be read. They may be replaced; the list is the same object until then.
 */
export type CommonSecrets = () => readonly KeyObject[];

/**
 * The keys for one purpose, derived from secrets in the same order.
 *
 * @returns a function that throws while the secrets cannot be read
 */
export function commonKeys(secrets: CommonSecrets, purpose: string): () => readonly KeyObject[] {
  const derived = derivedKeys(secrets, purpose);
  return () => {
    const keys = derived();
    if (keys.length === 0) throw new Error("the secret cannot be read");
    return keys;
  };
}
