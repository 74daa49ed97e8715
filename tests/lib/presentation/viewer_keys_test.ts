import assert from "node:assert/strict";

import { commandOf } from "@/lib/presentation/shortcuts.ts";
import { VIEWER_SHORTCUTS } from "@/lib/presentation/viewer_keys.ts";

const PRESS = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false };

Deno.test("viewer keys: a key is one command, whatever the case, and none together with Ctrl, Alt or Meta", () => {
  assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "ArrowRight" }, true), "next");
  assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "ArrowRight", shiftKey: true }, true), "panRight");
  assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "R", shiftKey: true }, true), "rotate");
  assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "?", shiftKey: true }, true), "help");
  assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "x" }, true), null);
  for (const held of ["ctrlKey", "altKey", "metaKey"]) {
    assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "r", [held]: true }, true), null, held);
  }
});

Deno.test("viewer keys: single characters do nothing once the reader has switched them off", () => {
  for (const key of ["r", "f", "t", "m", "+", "-", "0", "?"]) {
    assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key }, false), null, key);
  }
  assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "ArrowLeft" }, false), "previous");
});
