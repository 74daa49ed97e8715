import { RedisClient, type RedisReply } from "@/lib/tasks/redis/redis_client.ts";
import { RedisTaskStore } from "@/lib/tasks/redis/redis_task_store.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { type StoreUnderTest, testTaskStore } from "@/tests/lib/tasks/task_store_contract.ts";

interface RedisStoreUnderTest extends StoreUnderTest {
  /** Reads what is stored behind the store's back. */
  readonly client: RedisClient;
  /** The keys that have not expired. */
  keys(): Promise<string[]>;
  close(): Promise<void>;
}

/** A store on a server of its own, whose clock a test moves. */
async function open(): Promise<RedisStoreUnderTest> {
  const server = await RedisServer.start();
  const warn = () => {};
  const client = new RedisClient({ url: server.url, warn });
  let clockOffset = 0;
  const options = { warn, clockOffset: () => clockOffset };
  async function keys(): Promise<string[]> {
    const reply = await client.command("KEYS", "*") as readonly RedisReply[];
    return reply.map((key) => new TextDecoder().decode(key as Uint8Array)).sort();
  }
  return {
    store: new RedisTaskStore(new RedisClient({ url: server.url, warn }), options),
    client,
    keys,
    /** Moves the clock of the store, and the expiry of its keys as far. */
    async advance(ms) {
      clockOffset += ms;
      for (const key of await keys()) {
        const left = await client.command("PTTL", key) as number;
        if (left >= 0) await client.command("PEXPIRE", key, left - ms);
      }
    },
    async close() {
      await client.close();
      await server[Symbol.asyncDispose]();
    },
  };
}

testTaskStore("tasks in Redis", open, { ignore: REDIS_PROGRAM === null });
