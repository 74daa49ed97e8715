import { Buffer } from "node:buffer";

/** Reads messages with their lengths in front, as a server of RFC 6587 does, until there are so many, or to the end. */
export async function readFrames(connection: Deno.Conn, received: string[], until: number): Promise<void> {
  let held = Buffer.alloc(0);
  const chunk = Buffer.alloc(65_536);
  while (received.length < until) {
    const count = await connection.read(chunk);
    if (count === null) return;
    held = Buffer.concat([held, chunk.subarray(0, count)]);
    for (;;) {
      const blank = held.indexOf(0x20);
      const length = Number(held.toString("ascii", 0, Math.max(0, blank)));
      if (blank < 0 || held.length < blank + 1 + length) break;
      received.push(held.toString("utf8", blank + 1, blank + 1 + length));
      held = held.subarray(blank + 1 + length);
    }
  }
}
