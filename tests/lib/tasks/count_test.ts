import assert from "node:assert/strict";
import fc from "fast-check";
import { badGateway, HttpError } from "@/lib/http/errors.ts";
import { countKeys, type KeyCountState, NOTHING_COUNTED } from "@/lib/tasks/count.ts";
import { CALLER, ModelStore } from "./model_store.ts";

function count(
  store: ModelStore,
  {
    prefix = "",
    delimiter = "",
    from = NOTHING_COUNTED,
    slowPageMs = 0,
    onPage = (_: KeyCountState) => Promise.resolve(),
  } = {},
): Promise<KeyCountState> {
  const of = { s3: store.s3, caller: CALLER, bucket: "letters", prefix, delimiter, slowPageMs };
  return countKeys(from, { ...of, read: (work) => work(), onPage });
}

/** What one reader of the whole listing would count. */
function expected(store: ModelStore, prefix: string, delimiter: string) {
  const folders = new Set<string>();
  let [files, bytes] = [0, 0];
  for (const [key, size] of store.objects) {
    if (!key.startsWith(prefix)) continue;
    const cut = delimiter === "" ? -1 : key.indexOf(delimiter, prefix.length);
    if (cut >= 0) folders.add(key.slice(0, cut + delimiter.length));
    else {
      files++;
      bytes += size;
    }
  }
  return { files, folders: folders.size, bytes };
}

const totals = ({ files, folders, bytes }: KeyCountState) => ({ files, folders, bytes });

/** Keys with many slashes, with characters on both sides of the surrogates, and with those that XML cannot hold. */
const key = fc.array(fc.constantFrom("a", "b", "/", "/", "å", "\u{1f600}", "\ufb01", "\x01", "&", "<", ".", "+"), {
  minLength: 1,
  maxLength: 8,
}).map((parts) => parts.join(""));

Deno.test("count: ranges that are read concurrently add up to what one reader counts", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { maxLength: 120 }),
      fc.integer({ min: 1, max: 7 }),
      fc.constantFrom("", "a", "/", "a/", "å"),
      fc.constantFrom("", "", "/", "b"),
      async (keys, pageSize, prefix, delimiter) => {
        const store = new ModelStore(keys, (key) => key.length);
        store.pageSize = pageSize;
        assert.deepEqual(totals(await count(store, { prefix, delimiter })), expected(store, prefix, delimiter));
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("count: it goes on from any of its states to the same result", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(key, { minLength: 10, maxLength: 80 }),
      fc.constantFrom("", "/"),
      fc.nat(30),
      fc.boolean(),
      async (keys, delimiter, stopAt, hasTokens) => {
        const store = new ModelStore(keys, (key) => key.length);
        store.pageSize = 3;
        const states: KeyCountState[] = [];
        await count(store, { delimiter, onPage: (state) => Promise.resolve(void states.push(state)) });
        const state: KeyCountState = JSON.parse(JSON.stringify(states[Math.min(stopAt, states.length - 1)]));
        if (!hasTokens) {
          store.before = (_, query) => {
            const isOld = state.ranges.some(({ token }) => token !== null && token === query.get("continuation-token"));
            if (isOld) throw new HttpError(400, "The continuation token is not valid");
          };
        }
        assert.deepEqual(totals(await count(store, { delimiter, from: state })), expected(store, "", delimiter));
      },
    ),
    { numRuns: 200 },
  );
});

Deno.test("count: several folders are read at a time, and a large one is split below", async () => {
  const keys = Array.from({ length: 6000 }, (_, n) => `2026/${n % 9}/${n}`);
  const store = new ModelStore(keys);
  store.pageSize = 100;
  let [running, most] = [0, 0];
  store.before = async () => {
    most = Math.max(most, ++running);
    await new Promise((resolve) => setTimeout(resolve, 0));
    running--;
  };
  const { files } = await count(store);
  assert.equal(files, 6000);
  assert.ok(most >= 4, `${most} at a time`);
});

for (const quirk of ["other order", "no start-after"] as const) {
  Deno.test(`count: a store whose listing has ${quirk} is counted by one reader`, async () => {
    const store = new ModelStore(Array.from({ length: 300 }, (_, n) => `${n % 7}/${n}`));
    store.pageSize = 10;
    store.quirk = quirk;
    const { files, isSequential } = await count(store);
    assert.deepEqual([files, isSequential], [300, true]);
  });
}

Deno.test("count: a listing that does not advance is an error, and so is one that fails", async () => {
  const store = new ModelStore(["a", "b"]);
  store.pageSize = 1;
  const same = store.s3;
  const stuck = {
    ...same,
    upstream: {
      send: () =>
        Promise.resolve(
          new Response(
            "<ListBucketResult><IsTruncated>true</IsTruncated><NextContinuationToken>t</NextContinuationToken></ListBucketResult>",
          ),
        ),
    },
  };
  const options = { caller: CALLER, bucket: "b", prefix: "", delimiter: "", onPage: () => Promise.resolve() };
  const counting = countKeys(NOTHING_COUNTED, { ...options, read: (work) => work(), s3: stuck });
  await assert.rejects(counting, { status: 502 });
  store.before = () => {
    throw badGateway("S3 endpoint unreachable");
  };
  await assert.rejects(count(store), { status: 502 });
});

/** Keys of 2,000 objects by their numbers, the length of pages, and the most listings that they may cost. */
const COSTS: Record<
  string,
  readonly [key: (n: number) => string, pageSize: number, most: number, slowPageMs?: number]
> = {
  "a flat bucket costs one reader's pages and few more": [(n) => String(n).padStart(6, "0"), 100, 26],
  "many small folders do not cost a listing each": [(n) => `${String(n >> 2).padStart(5, "0")}/${n}`, 100, 50],
  "ranges are split in their middles": [(n) => `${String(n >> 3).padStart(4, "0")}/${n & 7}`, 20, 140],
  "a store that responds soon is read by one reader": [(n) => `${n}/0`, 20, 100, Infinity],
};

for (const [what, [key, pageSize, most, slowPageMs]] of Object.entries(COSTS)) {
  Deno.test(`count: ${what}`, async () => {
    const store = new ModelStore(Array.from({ length: 2000 }, (_, n) => key(n)));
    store.pageSize = pageSize;
    assert.equal((await count(store, { slowPageMs })).files, 2000);
    assert.ok(store.lists.length <= most, `${store.lists.length} listings`);
  });
}
