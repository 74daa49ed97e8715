import assert from "node:assert/strict";
import { requestMarks } from "@/lib/std/store_addresses.ts";

const key = (byte: number) => new Uint8Array(32).fill(byte);

Deno.test("request marks: are read as they were written, also without an address and of a task", () => {
  const marks = requestMarks(key(1));
  for (const address of ["192.0.2.7", "2001:db8::1", null]) {
    for (const isByTask of [false, true]) {
      const request = { id: "a.b-c_1", address, isByTask };
      assert.deepEqual(marks.read(marks.write(request)), request);
    }
  }
  const unsaid = { id: "r1", address: null };
  assert.deepEqual(marks.read(marks.write(unsaid)), { ...unsaid, isByTask: false });
});

Deno.test("request marks: of another key, changed or shortened ones say nothing", () => {
  const marks = requestMarks(key(1));
  const mark = marks.write({ id: "r1", address: "192.0.2.7" });
  const forged = [
    requestMarks(key(2)).write({ id: "r1", address: "192.0.2.7" }),
    mark.replace("request", "task"),
    mark.replace("r1", "r2"),
    mark.replace("192.0.2.7", "192.0.2.8"),
    mark.replace("192.0.2.7", "-"),
    mark.slice(0, -1),
    `${mark} `,
    `request r1 192.0.2.7 ${"0".repeat(64)}`,
    "",
    null,
  ];
  for (const one of forged) assert.equal(marks.read(one), null, String(one));
});
