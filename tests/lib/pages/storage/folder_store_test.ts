import assert from "node:assert/strict";

import { FolderStore } from "@/lib/pages/storage/folder_store_client.ts";

/** A store of a folder whose pages hold two names; `next` begins the page behind them. */
function opened(keys: string[]) {
  const page = (prefix: string, first: number) => {
    const found = keys.filter((key) => key.startsWith(prefix));
    return {
      objects: found.slice(first, first + 2).map((Key) => ({ Key, Size: 1 })),
      common_prefixes: [],
      is_truncated: first + 2 < found.length,
      next_continuation_token: first + 2 < found.length ? String(first + 2) : null,
    };
  };
  return new FolderStore(
    { account: "t/u", bucket: "b", prefix: "" },
    { rows: [], next: "0" },
    (_operation, _account, { prefix, continuation_token }) => {
      const json = page(String(prefix), Number(continuation_token ?? 0));
      return Promise.resolve({ status: 200, json: json as never, headers: new Headers() });
    },
  );
}

const keysOf = (store: FolderStore) => store.rows.peek().map(({ key }) => key);

Deno.test("folder: a change is shown at once on the first page, and waits for the reader who has read on", async () => {
  const keys = ["a", "b", "c", "d"];
  const store = opened(keys);
  await store.changed();
  assert.deepEqual([keysOf(store), store.isOutdated.peek()], [["a", "b"], false]);
  await store.readMore();
  keys.unshift("Z");
  await store.changed();
  assert.deepEqual([keysOf(store), store.isOutdated.peek()], [["a", "b", "c", "d"], true]);
  await store.refresh();
  assert.deepEqual([keysOf(store), store.isOutdated.peek()], [["Z", "a"], false]);
});

Deno.test("folder: read again, it unselects names that are gone, and keeps those that may be further on", async () => {
  const keys = ["a", "b", "c", "d"];
  const store = opened(keys);
  await store.refresh();
  await store.readMore();
  for (const key of ["a", "b", "d"]) store.select(key, false);
  keys.splice(1, 1);
  await store.refresh();
  assert.deepEqual([...store.selection.peek().rows.keys()], ["a", "d"]);
});

Deno.test("folder: names before the first one that is shown count as hidden, and stay selected", async () => {
  const store = opened(["a", "b", "c", "d"]);
  await store.refresh();
  store.selectAll();
  await store.show({ from: "c" });
  assert.deepEqual([[...store.selection.peek().rows.keys()], store.hidden.peek()], [["a", "b"], 2]);
  await store.refresh();
  assert.deepEqual([...store.selection.peek().rows.keys()], ["a", "b"]);
  await store.show({ from: "" });
  assert.equal(store.hidden.peek(), 0);
});

Deno.test("folder: all is selected where every shown row is, not where as many others are", async () => {
  const store = opened(["a1", "a2", "b1", "b2"]);
  await store.show({ find: "a" });
  store.selectAll();
  assert.equal(store.isAllSelected.peek(), true);
  await store.show({ find: "b" });
  assert.equal(store.isAllSelected.peek(), false);
  store.selectAll();
  assert.deepEqual([store.isAllSelected.peek(), store.selection.peek().rows.size], [true, 4]);
});
