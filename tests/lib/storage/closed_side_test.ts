import assert from "node:assert/strict";

import { closedSideCookie, notedClosedSide, rememberShown } from "@/lib/storage/closed_side.ts";

const noted = (cookie: string) =>
  notedClosedSide(new Request("http://here.example/", { headers: { Cookie: cookie.split(";", 1)[0] } }));

Deno.test("closed side: the note of a login is read as it was written, and anything else is none", () => {
  for (const reason of [401, 503, "tenant"] as const) {
    const closed = { side: "storage", reason, isShown: false } as const;
    assert.deepEqual(noted(closedSideCookie("http", closed)), closed);
  }
  for (const value of ["", "storage.401", "all.401.new", "storage.<b>.new", "storage.4010.new"]) {
    assert.equal(noted(`login_sides=${value}`), null, value);
  }
  assert.match(
    closedSideCookie("https", null),
    /^__Host-login_sides=; Max-Age=0; .*; HttpOnly; SameSite=Strict; Secure$/,
  );
});

Deno.test("closed side: a page that says it marks the note once", () => {
  const request = new Request("http://here.example/");
  const closed = { side: "campaigns", reason: 401, isShown: false } as const;
  const [cookie] = rememberShown(new Response(), request, closed).headers.getSetCookie();
  assert.deepEqual(noted(cookie), { ...closed, isShown: true });
  for (const other of [null, { ...closed, isShown: true }]) {
    assert.deepEqual(rememberShown(new Response(), request, other).headers.getSetCookie(), []);
  }
});
