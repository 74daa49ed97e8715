import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { randomBytes } from "node:crypto";
import { replication } from "@/compose/replication.ts";
import { revokedSessions } from "@/compose/results.ts";
import { type Blocked, GuessLimits, MAX_WRONG_PER_ACCOUNT } from "@/lib/auth/credential_memory.ts";
import { diskFiles, readConfig } from "@/lib/config/mod.ts";
import { batchedLog } from "@/lib/http/app.ts";
import type { RevocableSession, RevokedSessions } from "@/lib/auth/revoked_sessions.ts";
import { RedisClient } from "@/lib/state/redis_client.ts";
import { REDIS_PROGRAM, RedisServer } from "@/tests/redis_server.ts";
import { until as untilFound } from "@/tests/until.ts";

const SECRET = "a secret that only this test knows, long enough";
const ADDRESS = "192.0.2.77";

let digests = 0;

/** A process with both roles, as far as it shares something. */
class Replica implements AsyncDisposable {
  readonly guesses: GuessLimits;
  readonly revoked: RevokedSessions;
  readonly #state: ReturnType<typeof replication>;
  #lines = "";

  private constructor(url: string, sessionKeyFile: string, secret: string, roles: string) {
    const log = batchedLog((text) => this.#lines += text);
    const settings = {
      EMBEDDED: "off",
      ROLES: roles,
      API_SECRET_KEY: secret,
      HCP_DOMAIN: "store.example.org",
      RESULTS_S3_ENDPOINT: "https://archive.store.example.org",
      RESULTS_S3_BUCKET: "results",
      RESULTS_SESSION_KEY_FILE: sessionKeyFile,
      ...(roles.includes("web") && { CAMPAIGN_WEB_SITE_ONLY: "1" }),
      ...(roles === "web" && { GATEWAY_URL: "http://gateway.example" }),
      REDIS_URL: url,
    };
    const config = readConfig(settings, diskFiles);
    assert.equal(config.redisUrl, url);
    this.#state = replication(config, url, null, log);
    this.guesses = new GuessLimits(Date.now, this.#state.share);
    this.revoked = revokedSessions(null, log, this.#state.revocations);
    this.flush = () => log.flush();
  }

  readonly flush: () => void;

  static async start(
    { url, keyFile, secret = SECRET, roles = "gateway,results" }: {
      readonly url: string;
      readonly keyFile: string;
      readonly secret?: string;
      readonly roles?: string;
    },
  ): Promise<Replica> {
    const replica = new Replica(url, keyFile, secret, roles);
    await replica.#state.start(replica.guesses, replica.revoked);
    return replica;
  }

  /** What it has logged so far. */
  get lines(): string {
    this.flush();
    return this.#lines;
  }

  guess(verdict: "wrong" | "right", account = "archive/curator"): void {
    const attempt = this.guesses.start({ address: ADDRESS, account, digest: `d${digests++}`, by: "gateway" });
    assert.ok(!("limit" in attempt), "was blocked");
    attempt[verdict]();
    attempt.end();
  }

  blocked(account = "archive/curator"): Blocked["limit"] | null {
    const attempt = this.guesses.start({ address: ADDRESS, account, digest: `d${digests++}`, by: "gateway" });
    if ("limit" in attempt) return attempt.limit;
    attempt.end();
    return null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#state.close();
    this.flush();
  }
}

function session(digest: string, account = "a"): RevocableSession {
  const issuedAt = Date.now() / 1000;
  return { digest, account, issuedAt, expiresAt: issuedAt + 3600 };
}

/** Waits until something is true of the replicas. */
async function until(what: string, isTrue: () => boolean): Promise<void> {
  await untilFound(what, () => isTrue() || null);
}

interface Surroundings {
  readonly server: RedisServer;
  readonly url: string;
  readonly keyFile: string;
}

function test(name: string, run: (surroundings: Surroundings) => Promise<void>): void {
  Deno.test(`replication: ${name}`, { ignore: REDIS_PROGRAM === null }, async () => {
    await using server = await RedisServer.start();
    const keyFile = `${server.folder}/session-key`;
    replaceKey(keyFile);
    await run({ server, url: server.url, keyFile });
  });
}

function replaceKey(file: string): void {
  Deno.writeTextFileSync(`${file}.new`, randomBytes(32).toString("base64"));
  Deno.renameSync(`${file}.new`, file);
}

test("wrong passwords at two replicas count together, and a right one clears them at both", async (deps) => {
  await using one = await Replica.start(deps);
  await using other = await Replica.start(deps);
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) (n % 2 ? one : other).guess("wrong");
  for (const replica of [one, other]) await until("both block", () => replica.blocked() === "account");
  assert.equal(one.blocked("archive/other"), null);
  await using late = await Replica.start(deps);
  assert.equal(late.blocked(), "account", "one that starts knows of the last minutes");

  for (let n = 1; n < MAX_WRONG_PER_ACCOUNT; n++) one.guess("wrong", "archive/reader");
  one.guess("wrong", "archive/last");
  // What one replica shares arrives in its order.
  await until("all have arrived", () => other.guesses.size.accounts === one.guesses.size.accounts);
  other.guess("right", "archive/reader");
  await until("it is cleared", () => one.guesses.size.accounts === 2);
});

test("a logout is known to every replica, and to those that start later", async (deps) => {
  const [first, second] = [session("first"), session("second", "b")];
  await using one = await Replica.start(deps);
  await using other = await Replica.start(deps);
  await one.revoked.add([first]);
  const redis = new RedisClient({ url: deps.url, warn: () => {} });
  await redis.command("DEL", "stackroom:revocations");
  await redis.close();
  await using late = await Replica.start(deps);
  assert.ok(late.revoked.has(first), "it was written before the logout was confirmed, and not only sent");
  await late.revoked.add([second]);
  for (const replica of [one, other, late]) {
    await until("every replica knows both", () => replica.revoked.has(first) && replica.revoked.has(second));
    assert.equal(replica.revoked.has(session("third", "a")), false);
    assert.equal(replica.lines, "");
  }
});

test("what happened while Redis was away is shared when it is back, even if it lost everything", async (deps) => {
  const [before, meanwhile] = [session("before"), session("meanwhile")];
  await using one = await Replica.start(deps);
  await using other = await Replica.start(deps);
  await one.revoked.add([before]);
  await until("the other knows it", () => other.revoked.has(before));
  await deps.server.kill();
  for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) one.guess("wrong");
  await one.revoked.add([meanwhile]);
  assert.ok(one.revoked.has(meanwhile));
  assert.equal(one.blocked(), "account");
  assert.equal(other.revoked.has(meanwhile), false);
  Deno.removeSync(`${deps.server.folder}/appendonlydir`, { recursive: true });
  await deps.server.start();
  await until("the other knows both", () => other.revoked.has(meanwhile) && other.blocked() === "account");
  await until("the outage is over in the log", () => /shared with all replicas again/.test(one.lines));
  assert.match(one.lines, /"error".*cannot be shared with the other replicas/);
  assert.match(other.lines, /"error".*are not received/);
  await using late = await Replica.start(deps);
  assert.ok(late.revoked.has(before) && late.revoked.has(meanwhile));
  assert.equal(late.blocked(), "account");
});

test("a replica starts without Redis, and joins when it is there", async (deps) => {
  await using one = await Replica.start(deps);
  await one.revoked.add([session("s")]);
  await deps.server.kill();
  await using other = await Replica.start(deps);
  assert.equal(other.revoked.has(session("s")), false);
  await other.revoked.add([session("t")]);
  await deps.server.start();
  await until(
    "both know both",
    () => [one, other].every(({ revoked }) => revoked.has(session("s")) && revoked.has(session("t"))),
  );
});

test("Redis holds no address, no account and no session that can be read", async (deps) => {
  await using one = await Replica.start(deps);
  one.guess("wrong");
  one.guess("right");
  await one.revoked.add([session("s")]);
  const redis = new RedisClient({ url: deps.url, warn: () => {} });
  try {
    let entries = 0;
    await until("the verdicts are there", () => {
      redis.command("XLEN", "stackroom:verdicts").then((length) => entries = Number(length));
      return entries === 1;
    });
    for (const key of await redis.command("KEYS", "*") as Uint8Array[]) {
      const isStream = /verdicts|revocations/.test(Buffer.from(key).toString());
      const reply = await (isStream ? redis.command("XRANGE", key, "-", "+") : redis.command("ZRANGE", key, "0", "-1"));
      const text = JSON.stringify(
        reply,
        (_, value) => value?.type === "Buffer" ? Buffer.from(value.data).toString("latin1") : value,
      );
      for (const word of [ADDRESS, "curator", "archive", "wrong", "right"]) assert.ok(!text.includes(word), text);
    }
    assert.ok(Number(await redis.command("PTTL", "stackroom:verdicts")) > 0, "they do not stay");
  } finally {
    await redis.close();
  }
});

test("what others write into Redis is not applied", async (deps) => {
  await using one = await Replica.start(deps);
  await using stranger = await Replica.start({ ...deps, secret: `${SECRET} or not` });
  const redis = new RedisClient({ url: deps.url, warn: () => {} });
  try {
    const row = JSON.stringify(["s", "a", Date.now() / 1000 + 3600, 1]);
    const verdict = JSON.stringify({ sender: "x", number: 1, events: [{ verdict: "wrong", address: ADDRESS }] });
    for (const text of ["", "x", row, verdict, "A".repeat(100_000)]) {
      await redis.command("XADD", "stackroom:verdicts", "*", "e", text);
      await redis.command("XADD", "stackroom:revocations", "*", "e", text);
      await redis.command("XADD", "stackroom:revocations", "*", "f", text, "e", text);
      await redis.command("ZADD", "stackroom:revoked-sessions", Date.now(), text);
      await redis.command("ZADD", "stackroom:revoked-sessions", Date.now(), "A".repeat(43) + text);
    }
    for (let n = 0; n < MAX_WRONG_PER_ACCOUNT; n++) stranger.guess("wrong");
    // What a replica shares is applied, and the last of all.
    await using other = await Replica.start(deps);
    await other.revoked.add([session("genuine")]);
    await until("it has read everything", () => one.revoked.has(session("genuine")));
    other.guess("wrong", "archive/genuine");
    await until("it has read everything", () => one.guesses.size.accounts > 0);
    assert.deepEqual(one.guesses.size, { addresses: 1, accounts: 1 });
    for (const replica of [one, other]) {
      assert.equal(replica.revoked.size, 1);
      assert.equal(replica.blocked(), null);
    }
  } finally {
    await redis.close();
  }
});

test("while the session key is replaced, replicas before and after the change share what ends", async (deps) => {
  const [old, next] = [0, 1].map(() => randomBytes(32).toString("base64"));
  const file = (name: string, ...keys: string[]) => {
    const path = `${deps.keyFile}-${name}`;
    Deno.writeTextFileSync(path, keys.join("\n"));
    return path;
  };
  await using before = await Replica.start({ ...deps, keyFile: file("before", old, next) });
  await using after = await Replica.start({ ...deps, keyFile: file("after", next, old) });
  await before.revoked.add([session("of-before")]);
  await after.revoked.add([session("of-after")]);
  await until("before knows", () => before.revoked.has(session("of-after")));
  await until("after knows", () => after.revoked.has(session("of-before")));
  await using later = await Replica.start({ ...deps, keyFile: file("later", next, old) });
  for (const name of ["of-before", "of-after"]) assert.ok(later.revoked.has(session(name)), name);
});

test("storage logins that a web role revoked are known to other web roles and to the results role", async (deps) => {
  await using one = await Replica.start({ ...deps, roles: "web" });
  await using other = await Replica.start({ ...deps, roles: "web" });
  await using results = await Replica.start({ ...deps, roles: "results" });
  await one.revoked.add([session("storage")]);
  for (const replica of [other, results]) await until("it is known", () => replica.revoked.has(session("storage")));
  await using pages = await Replica.start({ ...deps, roles: "gateway,web" });
  assert.ok(pages.revoked.has(session("storage")), "with the same session key");
});
