import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { HttpError } from "@/lib/http/errors.ts";
import { RedisClient, redisScript, type RedisSettings } from "@/lib/state/redis_client.ts";
import { REDIS_PROGRAM, RedisServer, type RedisServerOptions } from "@/tests/redis_server.ts";
import { TEST_CA, TEST_CERTIFICATE, TEST_KEY } from "@/tests/lib/http/certificates.ts";

const PASSWORD = "s3cret/pass:word@x";

/** A client with the lines that it wrote for the operator; each can be waited for. */
class ClientUnderTest implements AsyncDisposable {
  readonly lines: string[] = [];
  readonly client: RedisClient;
  #wake = () => {};

  constructor(settings: Omit<RedisSettings, "warn">) {
    const warn = (line: string) => {
      this.lines.push(line);
      this.#wake();
    };
    this.client = new RedisClient({ ...settings, warn });
  }

  async line(number: number): Promise<string> {
    while (this.lines.length < number) await new Promise<void>((resolve) => this.#wake = resolve);
    return this.lines[number - 1];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.client.close();
  }
}

function test(name: string, options: RedisServerOptions, run: (server: RedisServer) => Promise<void>): void {
  Deno.test(`Redis client: ${name}`, { ignore: REDIS_PROGRAM === null }, async () => {
    await using server = await RedisServer.start(options);
    await run(server);
  });
}

const isStatus = (status: number) => (error: unknown) => {
  assert.ok(error instanceof HttpError, String(error));
  assert.equal(error.status, status, error.message);
  assert.match(String(error.detail), /\(Redis\)/);
  if (status === 503) assert.ok(Number(error.headers["Retry-After"]) > 0);
  return true;
};

test("bytes are written and read back, and a missing value is null", {}, async ({ url }) => {
  await using under = new ClientUnderTest({ url });
  const bytes = new Uint8Array([0, 255, 13, 10, 128]);
  await under.client.command("SET", "stackroom:a", bytes);
  assert.deepEqual(await under.client.command("GET", "stackroom:a"), Buffer.from(bytes));
  assert.equal(await under.client.command("GET", "stackroom:b"), null);
  assert.equal(await under.client.isReachable(), true);
  assert.deepEqual(under.lines, []);
});

test("a script runs whether or not the server has it", {}, async ({ url }) => {
  await using under = new ClientUnderTest({ url });
  const script = redisScript("redis.call('SET', KEYS[1], ARGV[1]) return {1, ARGV[1], false}");
  for (let round = 0; round < 2; round++) {
    assert.deepEqual(await under.client.run(script, ["k"], ["å"]), [1, Buffer.from("å"), null]);
  }
  await under.client.command("SCRIPT", "FLUSH");
  assert.deepEqual(await under.client.run(script, ["k"], ["å"]), [1, Buffer.from("å"), null]);
});

test("user, password and database of the URL are used", { args: ["--requirepass", PASSWORD] }, async (server) => {
  const url = `redis://default:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}/3`;
  await using under = new ClientUnderTest({ url });
  assert.match(String(await under.client.command("CLIENT", "INFO")), / db=3 /);
});

test("a wrong password is 503 and shown in no line", { args: ["--requirepass", "another"] }, async (server) => {
  const url = `redis://:${encodeURIComponent(PASSWORD)}@127.0.0.1:${server.port}/3`;
  await using under = new ClientUnderTest({ url });
  await assert.rejects(under.client.command("GET", "a"), isStatus(503));
  assert.match(await under.line(1), /^Redis at 127\.0\.0\.1:\d+: .*(WRONGPASS|NOAUTH)/);
  assert.ok(!under.lines.join().includes("s3cret"));
  assert.equal(await under.client.isReachable(), false);
});

test(
  "a database that the server does not have is 503, so that nothing is written to another one",
  {},
  async (server) => {
    await using under = new ClientUnderTest({ url: `${server.url}/999` });
    assert.match(await under.line(1), /cannot be used .*DB index/);
    await assert.rejects(under.client.command("SET", "a", "b"), isStatus(503));
  },
);

test("rediss:// checks the server's certificate by the given authority", {
  tls: { cert: TEST_CERTIFICATE, key: TEST_KEY },
}, async ({ port }) => {
  for (const host of ["127.0.0.1", "localhost"]) {
    await using under = new ClientUnderTest({ url: `rediss://${host}:${port}`, caCerts: [TEST_CA] });
    assert.deepEqual(await under.client.command("PING"), Buffer.from("PONG"));
  }
  await using untrusting = new ClientUnderTest({ url: `rediss://127.0.0.1:${port}` });
  await assert.rejects(untrusting.client.command("PING"), isStatus(503));
  assert.match(await untrusting.line(1), /not reachable/);
});

test("a server that is gone is 503 at once, in one line, and works again when it is back", {}, async (server) => {
  await using under = new ClientUnderTest({ url: server.url });
  await under.client.command("SET", "a", "1");
  await server.kill();
  assert.match(await under.line(1), /the connection is lost/);
  for (let i = 0; i < 3; i++) await assert.rejects(under.client.command("GET", "a"), isStatus(503));
  assert.equal(await under.client.isReachable(), false);
  await server.start();
  assert.match(await under.line(2), /the connection is back/);
  assert.deepEqual(await under.client.command("GET", "a"), Buffer.from("1"));
  assert.equal(under.lines.length, 2);
});

test("an outage that another connection reports is not reported twice", {}, async (server) => {
  await using under = new ClientUnderTest({ url: server.url });
  await using quiet = new ClientUnderTest({ url: server.url, reportsOutages: false });
  for (const { client } of [under, quiet]) await client.command("PING");
  await server.kill();
  await server.start();
  await under.line(2);
  await quiet.client.command("PING").catch(() => {});
  assert.deepEqual(quiet.lines, []);
});

test("a server that does not reply is 503 after the timeout, and works again when it does", {}, async (server) => {
  await using under = new ClientUnderTest({ url: server.url, timeoutMs: 1500 });
  await under.client.command("SET", "a", "1");
  server.pause();
  assert.equal(await under.client.isReachable(), false);
  await Promise.all([1, 2, 3].map(() => assert.rejects(under.client.command("GET", "a"), isStatus(503))));
  await under.line(1);
  await assert.rejects(under.client.command("GET", "a"), isStatus(503));
  server.resume();
  assert.match(await under.line(2), /the connection is back/);
  assert.deepEqual(await under.client.command("GET", "a"), Buffer.from("1"));
});

test("a server that is not there at the start is 503, and used once it is", {}, async (server) => {
  await server.kill();
  await using under = new ClientUnderTest({ url: server.url });
  await assert.rejects(under.client.command("PING"), isStatus(503));
  assert.match(await under.line(1), /not reachable/);
  await server.start();
  await under.line(2);
  assert.deepEqual(await under.client.command("PING"), Buffer.from("PONG"));
});

test("full memory is 507, and an error reply 500 without the command's values", {}, async ({ url }) => {
  await using under = new ClientUnderTest({ url });
  const { client } = under;
  await client.command("SET", "a", "secret value");
  await assert.rejects(client.command("HGET", "a", "secret field"), (error) => {
    isStatus(500)(error);
    const shown = Deno.inspect(error, { depth: 10 });
    return !shown.includes("secret field");
  });
  await client.command("CONFIG", "SET", "maxmemory", "1");
  await assert.rejects(client.command("SET", "b", "x"), isStatus(507));
  await assert.rejects(client.run(redisScript("return redis.call('SET', KEYS[1], 'x')"), ["b"], []), isStatus(507));
});

test("a server that has become a replica is 503 and reported, and written to when it is none", {}, async (server) => {
  await using under = new ClientUnderTest({ url: server.url });
  const script = redisScript("return redis.call('SET', KEYS[1], 'x')");
  await under.client.command("REPLICAOF", "127.0.0.1", "1");
  await assert.rejects(under.client.run(script, ["a"], []), isStatus(503));
  assert.match(await under.line(1), /^Redis at 127\.0\.0\.1:\d+: commands are rejected \(READONLY /);
  assert.match(await under.line(3), /the connection is back/);
  await assert.rejects(under.client.run(script, ["a"], []), isStatus(503));
  await under.client.command("REPLICAOF", "NO", "ONE");
  assert.deepEqual(await under.client.run(script, ["a"], []), Buffer.from("OK"));
  assert.equal(under.lines.length, 3);
});

test("close ends the connection, while there is one and while there is none", {}, async (server) => {
  const first = new ClientUnderTest({ url: server.url });
  await first.client.command("PING");
  await first.client.close();
  await assert.rejects(first.client.command("PING"), isStatus(503));
  await server.kill();
  const second = new ClientUnderTest({ url: server.url });
  await second.line(1);
  await second.client.close();
  assert.deepEqual([first.lines.length, second.lines.length], [0, 1]);
});
