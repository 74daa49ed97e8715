import assert from "node:assert/strict";
import { renderToString } from "preact-render-to-string";

import { SelectionBar } from "@/components/storage/selection_bar.tsx";
import type { StorageRow } from "@/lib/pages/storage/folder_listing.ts";
import { STORAGE_SENTENCES } from "@/lib/pages/storage/storage_sentences.ts";

const row = (key: string): StorageRow => ({ kind: "object", key, size: 1, changed: null });

function shown(rows: readonly StorageRow[], selected: readonly StorageRow[], isAllSelected: boolean): string {
  const given = {
    rows,
    selected,
    isAllSelected,
    hidden: 0,
    isMore: true,
    whole: null,
    onWhole: null,
    isOutdated: false,
  };
  return renderToString(<SelectionBar {...given} onRefresh={() => {}} onClear={() => {}} />);
}

Deno.test("selection bar: further rows are named where all that are listed are selected, not as many others", () => {
  const [a, b, c] = ["a", "b", "c"].map(row);
  assert(shown([a, b], [a, b, c], true).includes(STORAGE_SENTENCES.moreBelow));
  assert(!shown([b, c], [a, b], false).includes(STORAGE_SENTENCES.moreBelow));
});
