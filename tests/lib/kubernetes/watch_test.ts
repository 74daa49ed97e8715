import assert from "node:assert/strict";
import { clusterConnection } from "@/lib/kubernetes/cluster_address.ts";
import { FollowedCollection, type FollowedKind, type FollowOptions } from "@/lib/kubernetes/watch.ts";
import { stringAt } from "@/lib/std/untrusted.ts";
import { type Fault, FaultyCluster, JOBS } from "./faulty_cluster.ts";

interface Thing {
  readonly name: string;
  readonly colour: string;
}

function thing(name: string, colour: string, labels: Readonly<Record<string, string>> = { app: "x" }) {
  return { metadata: { name, uid: `uid-${name}`, labels }, data: { colour } };
}

interface Following {
  readonly api: FaultyCluster;
  readonly things: FollowedCollection<Thing>;
  readonly pauses: number[];
  readonly changes: string[];
  /** The test's clock, ms. */
  readonly clock: { now: number };
  /** Waits until the collection shows something. */
  shows(text: string): Promise<void>;
}

async function following(
  use: (following: Following) => Promise<void>,
  options: {
    before?: (api: FaultyCluster) => void;
    kind?: Partial<FollowedKind<Thing>>;
    watch?: Partial<FollowOptions>;
  } = {},
): Promise<void> {
  const api = new FaultyCluster();
  options.before?.(api);
  const stop = new AbortController();
  const clock = { now: 1_000_000 };
  const pauses: number[] = [];
  const changes: string[] = [];
  const woken = new Set<() => void>();
  const connection = await clusterConnection({ url: api.url }, { now: () => clock.now });
  const things = new FollowedCollection<Thing>(connection, {
    path: JOBS,
    labelSelector: "app=x",
    pageSize: 2,
    trim: (object) => {
      const colour = stringAt(object, "data", "colour");
      return colour === null ? null : { name: stringAt(object, "metadata", "name") ?? "", colour };
    },
    changed: (before, after) => {
      changes.push(`${before?.colour ?? "-"}>${after?.colour ?? "-"}`);
      for (const wake of woken) wake();
    },
    ...options.kind,
  }, {
    now: () => clock.now,
    random: () => 0.5,
    sleep: (ms) => {
      pauses.push(ms);
      return new Promise((resolve) => setTimeout(resolve, 0));
    },
    signal: stop.signal,
    watchSeconds: 20,
    idleMs: 5_000,
    ...options.watch,
  });
  const running = things.follow(stop.signal);
  const shown = () => things.values().map(({ name, colour }) => `${name}:${colour}`).join(" ");
  try {
    await use({
      api,
      things,
      pauses,
      changes,
      clock,
      async shows(text) {
        while (shown() !== text) await new Promise<void>((resolve) => woken.add(resolve));
      },
    });
  } finally {
    stop.abort();
    await running;
    await api.stop();
  }
}

const THREE = (api: FaultyCluster) => {
  for (const name of ["c", "a", "b"]) api.put(JOBS, thing(name, "red"));
  api.put(JOBS, thing("other", "red", { app: "y" }));
};

/** Of three red objects that are listed and watched. */
function followingThree(use: Parameters<typeof following>[0]): Promise<void> {
  return following(async (followed) => {
    await followed.shows("a:red b:red c:red");
    await followed.api.until(() => followed.api.watches === 1);
    await use(followed);
  }, { before: THREE });
}

Deno.test("followed collection: all pages are listed, and what comes, changes, goes or no longer matches is followed", () =>
  followingThree(async ({ api, things, shows, changes }) => {
    const before = things.get("b");
    api.put(JOBS, thing("a", "blue"));
    api.put(JOBS, thing("d", "red"));
    api.remove(JOBS, "c");
    await shows("a:blue b:red d:red");
    api.put(JOBS, thing("a", "blue", {}));
    await shows("b:red d:red");
    assert.equal(things.get("b"), before);
    assert.deepEqual(changes.slice(3), ["red>blue", "->red", "red>-", "blue>-"]);
    assert.equal(api.requests.filter(({ isWatch }) => isWatch).length, 1);
  }));

Deno.test("followed collection: a watch requests bookmarks and its own end, metadata alone where that is enough", async () => {
  await following(async ({ api, shows }) => {
    await shows("a: b: c:");
    await api.until(() => api.watches === 1);
    const [list] = api.requests;
    const watch = api.requests.find(({ isWatch }) => isWatch);
    assert.match(list.headers.get("accept") ?? "", /as=PartialObjectMetadataList;/);
    assert.match(watch?.headers.get("accept") ?? "", /as=PartialObjectMetadata;/);
    assert.deepEqual(Object.fromEntries(watch?.query ?? []), {
      labelSelector: "app=x",
      watch: "1",
      allowWatchBookmarks: "true",
      timeoutSeconds: "20",
      resourceVersion: String(api.store.version),
    });
  }, {
    before: THREE,
    kind: {
      metadataOnly: true,
      trim: (object) => ({ name: stringAt(object, "metadata", "name") ?? "", colour: "" }),
    },
  });
});

for (const how of ["clean", "reset"] as const) {
  Deno.test(`followed collection: after a ${how} end it continues from its version, without a list`, () =>
    followingThree(async ({ api, clock, shows, pauses }) => {
      const listed = api.store.version;
      api.bookmark();
      await new Promise<void>((resolve) => {
        api.put(JOBS, thing("a", "blue"));
        shows("a:blue b:red c:red").then(resolve);
      });
      clock.now += 20_000;
      api.end(how);
      await api.until(() => api.watches === 1);
      const [first, second] = api.requests.filter(({ isWatch }) => isWatch);
      assert.equal(first.query.get("resourceVersion"), String(listed));
      assert.equal(second.query.get("resourceVersion"), String(listed + 1));
      assert.equal(second.query.get("timeoutSeconds"), how === "clean" ? "20" : "10");
      assert.equal(api.requests.filter(({ isWatch }) => !isWatch).length, 2);
      assert.deepEqual(pauses, how === "clean" ? [] : [187.5]);
      api.put(JOBS, thing("b", "blue"));
      await shows("a:blue b:blue c:red");
    }));
}

Deno.test("followed collection: a version that is no longer stored leads to a list, and unchanged objects keep their identity", () =>
  followingThree(async ({ api, things, shows, changes }) => {
    const before = things.get("b");
    const stopped = Promise.withResolvers<Fault>();
    api.fault = () => stopped.promise;
    api.end("reset");
    const asked = api.requests.length;
    await api.until(() => api.requests.length > asked);
    api.fault = null;
    api.put(JOBS, thing("a", "blue"));
    api.remove(JOBS, "c");
    api.forget();
    stopped.resolve(410);
    await shows("a:blue b:red");
    await api.until(() => api.watches === 1);
    assert.equal(things.get("b"), before);
    assert.deepEqual(changes.slice(3), ["red>blue", "red>-"]);
    // No longer stored while it is under way, reported by an event.
    api.put(JOBS, thing("b", "green"));
    await shows("a:blue b:green");
    api.send('{"type":"ERROR","object":{"kind":"Status","code":410}}\n');
    const lists = api.requests.length;
    await api.until(() => api.requests.slice(lists).some(({ isWatch }) => !isWatch));
  }));

Deno.test("followed collection: half a line, a line that is no JSON and members of other kinds do no harm", () =>
  followingThree(async ({ api, shows }) => {
    const line = JSON.stringify({ type: "ADDED", object: thing("å", "grön ") }) + "\n";
    const bytes = new TextEncoder().encode(line);
    // Cut inside of a letter.
    const cut = bytes.indexOf(0xc3) + 1;
    api.send('\n{"type":"SOMETHING","object":null}\n{"type":"ADDED","object":[]}\nnull\n{"type":1}\n');
    api.send(bytes.subarray(0, cut));
    api.send(bytes.subarray(cut));
    await shows("a:red b:red c:red å:grön ");
    api.send("<html>\n");
    await api.until(() => api.requests.filter(({ isWatch }) => isWatch).length === 2);
    api.put(JOBS, thing("b", "blue"));
    await shows("a:red b:blue c:red å:grön ");
  }));

Deno.test("followed collection: a line beyond the limit is not requested again, the collection is listed", () =>
  followingThree(async ({ api, shows }) => {
    const lists = () => api.requests.filter(({ isWatch }) => !isWatch).length;
    const before = lists();
    const piece = "x".repeat(1024 * 1024);
    for (let i = 0; i < 17; i++) api.send(piece);
    await api.until(() => lists() > before);
    await api.until(() => api.watches === 1);
    api.put(JOBS, thing("b", "blue"));
    await shows("a:red b:blue c:red");
  }));

Deno.test("followed collection: a server that returns 500 or ends at once is retried more and more rarely, then listed", async () => {
  for (const answer of [500, 200, "reset"] as const) {
    await followingThree(async ({ api, things, pauses, clock, shows }) => {
      const listedAt = clock.now;
      clock.now += 5_000;
      api.fault = ({ isWatch }) => isWatch ? answer : null;
      api.end("reset");
      const lists = () => api.requests.filter(({ isWatch }) => !isWatch).length;
      await api.until(() => lists() > 2);
      assert.deepEqual(pauses.slice(0, 3), [187.5, 375, 750]);
      await api.until(() => lists() > 12);
      assert.equal(pauses.at(-1), 3_000);
      assert.ok((things.currentAt ?? 0) > listedAt);
      api.fault = null;
      await api.until(() => api.watches === 1);
      api.put(JOBS, thing("b", "blue"));
      await shows("a:red b:blue c:red");
    });
  }
});

Deno.test("followed collection: an idle connection, or one that drips without a line, is cancelled at the client's deadline", async () => {
  for (const drip of [false, true]) {
    await following(async ({ api, shows }) => {
      await shows("a:red b:red c:red");
      await api.until(() => api.watches === 1);
      api.put(JOBS, thing("b", "blue"));
      await shows("a:red b:blue c:red");
      const dripping = setInterval(() => drip && api.send(" "), 200);
      // The server does not end the watch after its time.
      await api.until(() => api.requests.filter(({ isWatch }) => isWatch).length === 2);
      clearInterval(dripping);
      const second = api.requests.filter(({ isWatch }) => isWatch)[1];
      assert.equal(second.query.get("resourceVersion"), String(api.store.version));
    }, {
      before(api) {
        THREE(api);
        api.keepsWatches = true;
      },
      watch: { watchSeconds: 3, idleMs: 100 },
    });
  }
});

Deno.test("followed collection: a server that is killed and comes back is followed again, changes in between included", () =>
  followingThree(async ({ api, pauses, shows }) => {
    await api.stop();
    api.put(JOBS, thing("c", "blue"));
    while (pauses.length < 2) await new Promise((resolve) => setTimeout(resolve, 1));
    api.restart();
    await shows("a:red b:red c:blue");
  }));

Deno.test("followed collection: it is current since the list, an event, a bookmark or the requested end", () =>
  following(async ({ api, things, clock, shows }) => {
    assert.equal(things.currentAt, null);
    await shows("a:red b:red c:red");
    await api.until(() => api.watches === 1);
    const listedAt = clock.now;
    assert.equal(things.currentAt, listedAt);
    clock.now += 3_000;
    assert.equal(things.currentAt, listedAt);
    api.put(JOBS, thing("b", "blue"));
    await shows("a:red b:blue c:red");
    assert.equal(things.currentAt, listedAt + 3_000);
    clock.now += 20_000;
    api.end();
    await api.until(() => api.watches === 1);
    assert.equal(things.currentAt, listedAt + 23_000);
    // A watch that ends at once proves nothing.
    clock.now += 1_000;
    api.end();
    await api.until(() => api.watches === 1);
    assert.equal(things.currentAt, listedAt + 23_000);
  }, { before: THREE }));

Deno.test("followed collection: an object created again under its name is another, though nothing else changed", () =>
  followingThree(async ({ api, things, changes }) => {
    const before = things.get("a");
    api.send(
      `${
        JSON.stringify({ type: "MODIFIED", object: { ...thing("a", "red"), metadata: { name: "a", uid: "new" } } })
      }\n`,
    );
    while (changes.length < 4) await new Promise((resolve) => setTimeout(resolve, 1));
    assert.notEqual(things.get("a"), before);
  }));
