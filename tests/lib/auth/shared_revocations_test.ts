import fc from "fast-check";
import assert from "node:assert/strict";
import { batchedLog, type RequestLog } from "@/lib/http/app.ts";
import {
  MAX_PER_ACCOUNT,
  RETRY_MS,
  type RevocableSession,
  RevokedSessions,
  type SharedTexts,
} from "@/lib/auth/revoked_sessions.ts";

const NOW = 1_000_000_000_000;
const START = NOW / 1000;
const silent = batchedLog(() => {});

/** A session of so many hours. */
function session(digest: string, account = "a", issuedAt: number | null = START, hours = 8): RevocableSession {
  return { digest, account, issuedAt, expiresAt: (issuedAt ?? START) + hours * 3600 };
}

/** What all replicas share: the texts, and those that each replica has not received yet. */
function sharedStore() {
  const texts = new Set<string>();
  const replicas: { readonly revoked: RevokedSessions; readonly inbox: string[][] }[] = [];
  const store = { texts, isDown: false, writes: 0, replica, deliver };

  function replica(log: RequestLog = silent, now = () => NOW, later?: (run: () => void, ms: number) => void) {
    const inbox: string[][] = [];
    const reachable = () => {
      if (store.isDown) throw new TypeError("redis://secret@host");
    };
    const shared: SharedTexts = {
      async load() {
        await Promise.resolve();
        reachable();
        return [...texts];
      },
      async write(added, removed) {
        store.writes++;
        await Promise.resolve();
        reachable();
        for (const { text } of added) texts.add(text);
        for (const text of removed) texts.delete(text);
        for (const other of replicas) if (other.inbox !== inbox) other.inbox.push(added.map(({ text }) => text));
      },
    };
    const revoked = new RevokedSessions(null, log, now, { later: later ?? (() => {}), shared });
    replicas.push({ revoked, inbox });
    return revoked;
  }

  /** Applies everything that was sent, what is sent meanwhile too. */
  async function deliver() {
    for (let turn = 0; turn < 20; turn++) {
      for (const { revoked, inbox } of replicas) inbox.splice(0).forEach((texts) => revoked.apply(texts));
      for (let n = 0; n < 10; n++) await Promise.resolve();
    }
  }
  return store;
}

Deno.test("shared revocations: the end of an account ends its sessions until then, on every replica", async () => {
  const store = sharedStore();
  const [one, other] = [store.replica(), store.replica()];
  const owned = (issuedAt: number, owner = "eva") => ({ ...session(`s${issuedAt}`, "keys", issuedAt), owner });
  await one.endAccount(["eva", "eva by another key"], START + 8 * 3600);
  await store.deliver();
  const late = store.replica();
  await late.synchronize();
  for (const revoked of [one, other, late]) {
    assert.deepEqual([owned(START - 1), owned(START), owned(START + 1)].map((one) => revoked.has(one)), [
      true,
      true,
      false,
    ]);
    assert.equal(revoked.has(owned(START - 1, "eva by another key")), true);
    assert.equal(revoked.has(owned(START - 1, "adam")), false);
    assert.equal(revoked.has(session("without a name", "keys")), false);
  }
});

Deno.test("shared revocations: a logout is written before it is confirmed, and every replica applies it", async () => {
  const store = sharedStore();
  const [one, other] = [store.replica(), store.replica()];
  await one.add([session("s"), session("t", "b")]);
  assert.equal(store.texts.size, 2);
  assert.equal(other.has(session("s")), false);
  await store.deliver();
  for (const digest of ["s", "t"]) assert.ok(other.has(session(digest)));
  assert.equal(other.has(session("u")), false);
  const { writes } = store;
  await other.add([session("s")]);
  await one.add([]);
  assert.equal(store.writes, writes, "nothing new is nothing to write");
  const late = store.replica();
  await late.synchronize();
  assert.ok(late.has(session("s")));
});

Deno.test("shared revocations: replicas that have exchanged their rows agree, whatever was lost or late meanwhile", async () => {
  const ended = fc.record({
    replica: fc.nat(2),
    account: fc.constantFrom("a", "a", "a", "b"),
    afterSeconds: fc.nat(600),
    hours: fc.constantFrom(1, 8, 24),
    tells: fc.constantFrom(true, true, true, false),
    event: fc.constantFrom("none", "none", "none", "deliver", "outage", "end of outage", "synchronize"),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(ended, { maxLength: 150 }), async (all) => {
      const store = sharedStore();
      const replicas = Array.from({ length: 3 }, () => store.replica());
      const revoked: RevocableSession[] = [];
      let issuedAt = START - 3600;
      for (const [n, { replica, account, afterSeconds, hours, tells, event }] of all.entries()) {
        issuedAt += afterSeconds;
        const one = { ...session(`s${n}`, account, issuedAt, hours), issuedAt: tells ? issuedAt : null };
        if (one.expiresAt <= START) continue;
        revoked.push(one);
        await replicas[replica].add([one]);
        if (event === "deliver") await store.deliver();
        if (event === "outage") store.isDown = true;
        if (event === "end of outage") store.isDown = false;
        if (event === "synchronize") await replicas[replica].synchronize();
      }
      store.isDown = false;
      for (const replica of replicas) await replica.synchronize();
      await store.deliver();
      for (const replica of replicas) await replica.synchronize();
      const late = store.replica();
      await late.synchronize();
      const others = revoked.flatMap((one) => [{ ...one, digest: "x" }, { ...one, digest: "y", account: "c" }]);
      for (const replica of [...replicas, late]) {
        for (const one of revoked) assert.ok(replica.has(one), JSON.stringify(one));
        for (const one of others) assert.equal(replica.has(one), replicas[0].has(one), JSON.stringify(one));
        assert.ok(replica.size <= 2 * (MAX_PER_ACCOUNT + 1));
      }
      assert.ok(store.texts.size <= 2 * (MAX_PER_ACCOUNT + 1), `${store.texts.size} texts are stored`);
    }),
    { numRuns: 60 },
  );
});

Deno.test("shared revocations: two replicas that fold the list of an account at once leave one text", async () => {
  const store = sharedStore();
  const replicas = [store.replica(), store.replica()];
  for (let n = 0; n < MAX_PER_ACCOUNT; n++) await replicas[n % 2].add([session(`s${n}`, "a", START + n)]);
  await replicas[0].add([session("last", "a", START + 100)]);
  await store.deliver();
  assert.equal(store.texts.size, 1);
  for (const replica of replicas) {
    assert.deepEqual([replica.size, replica.has(session("last", "a", START + 100))], [1, true]);
  }
});

Deno.test("shared revocations: a logout that fails while others are written is written after them", async () => {
  const timers: (() => void)[] = [];
  const writing = Promise.withResolvers<void>();
  const written = Promise.withResolvers<void>();
  let isDown = true;
  const shared: SharedTexts = {
    async load() {
      await Promise.resolve();
      if (isDown) throw new Error("down");
      return [];
    },
    async write() {
      if (isDown) throw new Error("down");
      writing.resolve();
      await written.promise;
    },
  };
  const revoked = new RevokedSessions(null, silent, () => NOW, { later: (run) => void timers.push(run), shared });
  await revoked.add([session("first")]);
  isDown = false;
  timers[0]();
  await writing.promise;
  isDown = true;
  await revoked.add([session("second")]);
  written.resolve();
  await new Promise((resolve) => setTimeout(resolve));
  isDown = false;
  let writes = 0;
  shared.write = (added) => {
    writes += added.length;
    return Promise.resolve();
  };
  timers.at(-1)!();
  await new Promise((resolve) => setTimeout(resolve));
  assert.deepEqual([timers.length, writes], [2, 2]);
});

Deno.test("shared revocations: without the store a logout holds here, is logged once and written later", async () => {
  const lines: string[] = [];
  const timers: { run: () => void; ms: number }[] = [];
  const log: RequestLog = { write: (entry) => void lines.push(JSON.stringify(entry)), flush() {} };
  const store = sharedStore();
  store.isDown = true;
  const one = store.replica(log, () => NOW, (run, ms) => void timers.push({ run, ms }));
  const other = store.replica();
  await one.add([session("s")]);
  await one.add([session("t")]);
  assert.ok(one.has(session("s")) && one.has(session("t")));
  assert.equal(lines.length, 1);
  assert.match(lines[0], /"error".*TypeError.*each replica knows/);
  assert.ok(!lines[0].includes("secret"));
  const settle = () => new Promise((resolve) => setTimeout(resolve));
  timers[0].run();
  await settle();
  assert.deepEqual(timers.map(({ ms }) => ms), [RETRY_MS, 2 * RETRY_MS]);
  store.isDown = false;
  timers[1].run();
  await settle();
  await store.deliver();
  assert.ok(other.has(session("s")) && other.has(session("t")));
  assert.match(lines[1], /"info".*again/);
  assert.deepEqual([lines.length, timers.length], [2, 2]);
});

Deno.test("shared revocations: a store that lost its content receives it again", async () => {
  const store = sharedStore();
  const [one, other] = [store.replica(), store.replica()];
  await one.add([session("s")]);
  await store.deliver();
  store.texts.clear();
  await other.synchronize();
  const late = store.replica();
  await late.synchronize();
  assert.ok(late.has(session("s")));
});

Deno.test("shared revocations: a logout waits for a store that does not respond a second at most", async () => {
  const never = new Promise<never>(() => {});
  const revoked = new RevokedSessions(null, silent, () => NOW, {
    later: () => {},
    shared: { load: () => never, write: () => never },
  });
  await revoked.add([session("s")]);
  assert.ok(revoked.has(session("s")));
});

Deno.test("shared revocations: a session that outlives the bound of its account stays revoked", async () => {
  const clock = { now: NOW };
  const revoked = new RevokedSessions(null, silent, () => clock.now);
  const long = session("long", "a", START - 10, 24);
  for (let n = 0; n <= MAX_PER_ACCOUNT; n++) await revoked.add([session(`s${n}`, "a", START + n, 1)]);
  await revoked.add([long]);
  clock.now += 7_200_000;
  await revoked.add([session("other", "b", START + 7200)]);
  assert.ok(revoked.has(long));
});

Deno.test("shared revocations: rows of another version are ignored and left in the store, ended ones too", async () => {
  const store = sharedStore();
  const one = store.replica();
  const texts = ["", "{", "null", "{}", '["a"]', '["d","a",1,2,3]', '["d","a","1",2]', '["a","1",2]', "[1,2,3]"];
  one.apply(texts);
  assert.equal(one.size, 0);
  const ended = JSON.stringify(["d", "a", START - 1, START - 10]);
  for (const text of [...texts, ended]) store.texts.add(text);
  await one.synchronize();
  assert.deepEqual([one.size, store.texts.size], [0, texts.length + 1]);
});
