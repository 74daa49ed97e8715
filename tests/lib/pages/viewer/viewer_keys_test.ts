import assert from "node:assert/strict";

import { commandOf } from "@/lib/pages/shortcuts.ts";
import { VIEWER_SHORTCUTS } from "@/lib/pages/viewer/viewer_keys.ts";

const PRESS = { shiftKey: false, ctrlKey: false, altKey: false, metaKey: false };

Deno.test("viewer keys: a key is one command, whatever the case, and none together with Ctrl, Alt or Meta", () => {
  assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "ArrowRight", shiftKey: true }, true), "panRight");
  assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "R", shiftKey: true }, true), "rotate");
  for (const held of ["ctrlKey", "altKey", "metaKey"]) {
    assert.equal(commandOf(VIEWER_SHORTCUTS, { ...PRESS, key: "r", [held]: true }, true), null, held);
  }
});
