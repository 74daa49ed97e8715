import { compareText } from "@/lib/std/text_order.ts";
import type { Entry } from "./check_object.ts";
import type { ExpectedKey } from "./expected.ts";
import type { ListedEntry } from "./listed_entries.ts";

interface EntrySources {
  /** In the order of keys. */
  readonly listed: AsyncIterator<ListedEntry>;
  /** In the order of keys; null: nothing is expected. */
  readonly expected: AsyncIterator<ExpectedKey> | null;
  /** Whether a manifest should name a key. */
  readonly mustBeNamed: (key: string) => boolean;
}

/** What a check looks at, in the order of keys: the objects that are listed, and those that are expected to be there. */
export async function* checkedEntries({ listed, expected, mustBeNamed }: EntrySources): AsyncGenerator<Entry> {
  let awaited = await expected?.next();
  const isAwaited = (key: string | null) => {
    return awaited !== undefined && !awaited.done && (key === null || compareText(awaited.value.key, key) < 0);
  };
  const next = async (): Promise<ExpectedKey> => {
    const { value } = awaited as IteratorYieldResult<ExpectedKey>;
    awaited = await expected?.next();
    return value;
  };
  for (let head = await listed.next(); !head.done; head = await listed.next()) {
    const { key, versionId, etag } = head.value;
    while (isAwaited(key)) yield absent(await next());
    const isExpected = awaited !== undefined && !awaited.done && awaited.value.key === key;
    const expectations = isExpected ? (await next()).expectations : [];
    const isNamed = expectations.some(({ proof }) => proof === "manifest");
    yield { key, versionId, isListed: true, etag, expectations, isUnnamed: !isNamed && mustBeNamed(key) };
  }
  while (isAwaited(null)) yield absent(await next());
}

function absent({ key, expectations }: ExpectedKey): Entry {
  return { key, versionId: null, isListed: false, etag: null, expectations, isUnnamed: false };
}
