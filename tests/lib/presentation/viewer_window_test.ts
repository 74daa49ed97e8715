import assert from "node:assert/strict";

import { listWindow, scrollToMiddle } from "@/lib/presentation/viewer_window.ts";

Deno.test("list window: the visible entries and two beyond on either side, within the list", () => {
  assert.deepEqual(listWindow(2000, 0, 700, 100), { first: 0, end: 9 });
  assert.deepEqual(listWindow(2000, 100_050, 700, 100), { first: 998, end: 1010 });
  assert.deepEqual(listWindow(2000, 199_300, 700, 100), { first: 1991, end: 2000 });
  assert.deepEqual(listWindow(3, 0, 700, 100), { first: 0, end: 3 });
  assert.deepEqual(listWindow(3, 9_000, 700, 100), { first: 0, end: 3 });
});

Deno.test("list window: an entry is scrolled to the middle as far as the list reaches", () => {
  assert.equal(scrollToMiddle(1000, 2000, 700, 100), 99_700);
  assert.equal(scrollToMiddle(0, 2000, 700, 100), 0);
  assert.equal(scrollToMiddle(1999, 2000, 700, 100), 199_300);
  assert.equal(scrollToMiddle(2, 3, 700, 100), 0);
});
