import { Buffer } from "node:buffer";

/** A connection to Redis or Valkey. */
export interface RedisCommands {
  /**
   * Sends a command. Commands are sent in the order of the calls.
   *
   * @returns the reply: texts as bytes, a missing value as null
   * @throws while there is no connection, and when the reply takes too long
   */
  command(name: string, ...args: readonly (string | number)[]): Promise<unknown>;
}

/** A text of a reply; null for anything else. */
export function textOf(reply: unknown): string | null {
  return reply instanceof Uint8Array
    ? Buffer.from(reply.buffer, reply.byteOffset, reply.length).toString("utf8")
    : null;
}

/** The elements of a list in a reply; none for anything else. */
export function listOf(reply: unknown): readonly unknown[] {
  return Array.isArray(reply) ? reply : [];
}
