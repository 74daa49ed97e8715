import { listOf, type RedisCommands, textOf } from "./redis_commands.ts";

/** Entries of a stream; older ones are dropped, give or take some hundreds. */
const MAX_ENTRIES = 20_000;
/** How far back a process reads that starts or has lost its connection, ms. A stream without a new entry is gone then. */
const HISTORY_MS = 600_000;
const FIELD = "e";

/** An entry of one of several streams. */
interface StreamEntry {
  readonly stream: string;
  readonly id: string;
  readonly text: string | null;
}

/** Adds an entry. */
export async function appendEntry(redis: RedisCommands, stream: string, entry: string): Promise<void> {
  await Promise.all([
    redis.command("XADD", stream, "MAXLEN", "~", MAX_ENTRIES, "*", FIELD, entry),
    redis.command("PEXPIRE", stream, HISTORY_MS),
  ]);
}

/** The position before all entries that a process reads first. */
export async function firstPosition(redis: RedisCommands): Promise<string> {
  const [seconds] = listOf(await redis.command("TIME"));
  return `${Math.max(0, Number(textOf(seconds)) * 1000 - HISTORY_MS)}-0`;
}

/**
 * The entries after these positions, in their order.
 *
 * @param positions by stream
 * @param blockMs how long to wait for the first one; null: not at all
 */
export async function entriesAfter(
  redis: RedisCommands,
  positions: ReadonlyMap<string, string>,
  { max, blockMs }: { readonly max: number; readonly blockMs: number | null },
): Promise<StreamEntry[]> {
  const where = [...positions.keys(), ...positions.values()];
  const block = blockMs === null ? [] : ["BLOCK", blockMs];
  const streams = listOf(await redis.command("XREAD", "COUNT", max, ...block, "STREAMS", ...where));
  return streams.flatMap((one) => {
    const [name, entries] = listOf(one);
    const stream = textOf(name) ?? "";
    return listOf(entries).map((entry) => {
      const [id, fields] = listOf(entry);
      return { stream, id: textOf(id) ?? "", text: textOf(listOf(fields)[1]) };
    });
  });
}
