import { z } from "zod";
import { listOf, type RedisCommands, textOf } from "@/lib/shared_state/redis_commands.ts";
import { type NotificationEvent, readEvent } from "./event.ts";
import {
  type Added,
  type Claim,
  type Delivery,
  deliveryKey,
  type Destination,
  KNOWN_MS,
  LEASE_MS,
  MAX_WAITING,
  type NotificationStore,
} from "./notification_store.ts";

/** How long a queue without senders stays, ms: more than deliveries are tried. */
const QUEUE_TTL_MS = 3 * 86_400_000;
const NOTE_TTL_MS = KNOWN_MS;
const ADDED = z.enum(["added", "known", "full"]);

/** Reads the server's clock, ms. */
const NOW = `
local time = redis.call("TIME")
local now = time[1] * 1000 + math.floor(time[2] / 1000)
`;

/** KEYS: known, events, attempts, a queue for each destination. ARGV: id, event, then channel and delay of each. */
const ADD = `${NOW}
local count = #KEYS - 3
if redis.call("EXISTS", KEYS[1]) == 1 then return "known" end
if redis.call("HLEN", KEYS[2]) + count > ${MAX_WAITING} then return "full" end
redis.call("SET", KEYS[1], "1", "PX", ${KNOWN_MS})
for n = 1, count do
  local name = ARGV[1] .. " " .. ARGV[1 + 2 * n]
  redis.call("HSET", KEYS[2], name, ARGV[2])
  redis.call("ZADD", KEYS[3 + n], now + ARGV[2 + 2 * n], name)
  redis.call("PEXPIRE", KEYS[3 + n], ${QUEUE_TTL_MS})
end
redis.call("PEXPIRE", KEYS[2], ${QUEUE_TTL_MS})
return "added"`;

/** KEYS: queue, events, attempts. ARGV: limit, time ahead. */
const CLAIM = `${NOW}
if #redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", now, "LIMIT", 0, 1) == 0 then return {} end
local names = redis.call("ZRANGEBYSCORE", KEYS[1], "-inf", now + ARGV[2], "LIMIT", 0, ARGV[1])
local found = {}
for _, name in ipairs(names) do
  redis.call("ZADD", KEYS[1], now + ${LEASE_MS}, name)
  table.insert(found, {name, redis.call("HGET", KEYS[2], name) or "", redis.call("HGET", KEYS[3], name) or "0"})
end
return found`;

/** KEYS: queue, attempts, events. ARGV: name, delay, attempts to add. */
const DELAY = `${NOW}
if redis.call("ZADD", KEYS[1], "XX", "CH", now + ARGV[2], ARGV[1]) == 0 then return 0 end
redis.call("HINCRBY", KEYS[2], ARGV[1], ARGV[3])
for n = 1, 3 do redis.call("PEXPIRE", KEYS[n], ${QUEUE_TTL_MS}) end
return 1`;

/** KEYS: queue, events, attempts. ARGV: name. */
const REMOVE = `
redis.call("ZREM", KEYS[1], ARGV[1])
for n = 2, 3 do redis.call("HDEL", KEYS[n], ARGV[1]) end
return 1`;

interface RedisNotificationStoreOptions {
  readonly redis: RedisCommands & { close(): Promise<void> };
  /** What all its keys begin with. */
  readonly prefix: string;
  /** Processes with another one have other notifications. */
  readonly deployment: string;
}

/**
 * The notifications of several processes with the same receivers, in Redis or Valkey: of an event that each of them
 * reports, one is queued, and one of them sends it. Times are by the server's clock.
 */
export class RedisNotificationStore implements NotificationStore {
  readonly #redis: RedisNotificationStoreOptions["redis"];
  /** Its keys are in one slot of a cluster. */
  readonly #prefix: string;

  /** @param options the connection is closed with the store */
  constructor({ redis, prefix, deployment }: RedisNotificationStoreOptions) {
    this.#redis = redis;
    this.#prefix = `${prefix}{notifications-${deployment}}:`;
  }

  async add(event: NotificationEvent, destinations: readonly Destination[]): Promise<Added> {
    const queues = destinations.map(({ channel }) => this.#queue(channel));
    const words = destinations.flatMap(({ channel, delayMs }) => [channel, delayMs]);
    const keys = [this.#key(`known:${event.id}`), this.#events, this.#attempts, ...queues];
    return ADDED.parse(textOf(await this.#run(ADD, keys, event.id, JSON.stringify(event), ...words)));
  }

  async claim({ channel, limit, aheadMs }: Claim): Promise<Delivery[]> {
    const keys = [this.#queue(channel), this.#events, this.#attempts];
    const found: Delivery[] = [];
    for (const entry of listOf(await this.#run(CLAIM, keys, limit, aheadMs))) {
      const [key, text, attempts] = listOf(entry).map(textOf);
      if (!key) continue;
      const event = readEvent(text ?? "");
      if (event === null || key !== deliveryKey(event, channel)) await this.#run(REMOVE, keys, key);
      else found.push({ key, event, attempts: Number(attempts) || 0 });
    }
    return found;
  }

  async putOff(key: string, delayMs: number): Promise<void> {
    await this.#run(DELAY, [this.#queueOf(key), this.#attempts, this.#events], key, Math.round(delayMs), 1);
  }

  async release(key: string): Promise<void> {
    await this.#run(DELAY, [this.#queueOf(key), this.#attempts, this.#events], key, 0, 0);
  }

  async remove(key: string): Promise<void> {
    await this.#run(REMOVE, [this.#queueOf(key), this.#events, this.#attempts], key);
  }

  async read(name: string): Promise<string | null> {
    return textOf(await this.#redis.command("GET", this.#key(`note:${name}`)));
  }

  async write(name: string, text: string): Promise<void> {
    await this.#redis.command("SET", this.#key(`note:${name}`), text, "PX", NOTE_TTL_MS);
  }

  close(): Promise<void> {
    return this.#redis.close();
  }

  get #events(): string {
    return this.#key("events");
  }

  get #attempts(): string {
    return this.#key("attempts");
  }

  #queue(channel: string): string {
    return this.#key(`queue:${channel}`);
  }

  #queueOf(key: string): string {
    return this.#queue(key.slice(key.indexOf(" ") + 1));
  }

  #key(name: string): string {
    return this.#prefix + name;
  }

  #run(script: string, keys: readonly string[], ...words: readonly (string | number)[]): Promise<unknown> {
    return this.#redis.command("EVAL", script, keys.length, ...keys, ...words);
  }
}
