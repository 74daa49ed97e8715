import type { DigestAlgorithm } from "@/lib/std/digests.ts";
import { compareText } from "@/lib/std/text_order.ts";

/** A digest that the bytes of an object must have, by a manifest or an earlier check. */
export interface Expectation {
  readonly proof: "manifest" | "baseline";
  readonly algorithm: DigestAlgorithm;
  /** Hexadecimal in lower case. */
  readonly expected: string;
  /** Where it holds for an object with this ETag alone; null: for any. */
  readonly etag: string | null;
}

/** A key that is expected to be in the store. */
export interface ExpectedKey {
  readonly key: string;
  readonly expectations: readonly Expectation[];
}

/** Keys of several sources, each in the order of keys, in one order; what is expected of a key is put together. */
export async function* mergedKeys(sources: readonly AsyncIterator<ExpectedKey>[]): AsyncGenerator<ExpectedKey> {
  const heads = await Promise.all(sources.map((source) => source.next()));
  for (;;) {
    let first: string | null = null;
    for (const { done, value } of heads) {
      if (!done && (first === null || compareText(value.key, first) < 0)) first = value.key;
    }
    if (first === null) return;
    const expectations: Expectation[] = [];
    for (let at = 0; at < heads.length; at++) {
      const head = heads[at];
      if (head.done || head.value.key !== first) continue;
      expectations.push(...head.value.expectations);
      heads[at] = await sources[at].next();
    }
    yield { key: first, expectations };
  }
}
