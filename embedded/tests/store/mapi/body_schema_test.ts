import assert from "node:assert/strict";
import { z } from "zod";
import { MapiError } from "@/embedded/store/mapi/mapi_request.ts";
import {
  boolean,
  integer,
  list,
  listed,
  members,
  oneOf,
  parsed,
  text,
  wrapped,
} from "@/embedded/store/mapi/request_schema.ts";
import { archiveMapi } from "@/embedded/tests/store/mapi_fixture.ts";
import { mapiAuthorization, startStore } from "@/embedded/tests/store/store_fixture.ts";

function errorOf(schema: z.ZodType, value: unknown): string {
  try {
    return `accepted: ${JSON.stringify(parsed(schema, value))}`;
  } catch (error) {
    assert.ok(error instanceof MapiError);
    return `${error.status} ${error.message}`;
  }
}

Deno.test("bodies: null counts as left out, unknown and inherited members are dropped", () => {
  const schema = members({ softQuota: integer(0, 100), description: text(9) }, { name: text(9) });
  assert.deepEqual(parsed(schema, { name: "a", softQuota: "85", description: null, odd: 1 }), {
    name: "a",
    softQuota: 85,
  });
  const inherited = JSON.parse('{"name": "a", "__proto__": {"softQuota": 1}}');
  assert.deepEqual(Object.entries(parsed(schema, inherited)), [["name", "a"]]);
  assert.equal(errorOf(schema, Object.create({ name: "a" })), "400 name is required");
  for (const value of [[], "a", null, 7]) assert.equal(errorOf(schema, value), "400 The body must be an object");
});

Deno.test("bodies: the first member that does not fit is named by its path, with its rule", () => {
  const role = oneOf("READER", "WRITER");
  const schema = members({
    roles: wrapped("role", role),
    rules: listed("rule", members({}, { name: text(9, 1) }), 2),
  });
  assert.deepEqual(parsed(schema, { roles: { role: ["READER", "READER"] }, rules: { rule: [] } }), {
    roles: { role: ["READER"] },
    rules: [],
  });
  const of = (value: unknown) => errorOf(schema, value);
  assert.equal(of({ roles: { role: ["READER", "ODD"] } }), "400 roles[1] must be one of READER, WRITER");
  const wrapping = "400 roles must be an object with the list role, of at most 100 entries";
  for (const roles of [["READER"], {}, { role: null }, { role: Array(101).fill("READER") }, "READER"]) {
    assert.equal(of({ roles }), wrapping);
  }
  assert.equal(of({ rules: [{ name: "a" }, {}] }), "400 rules[1].name is required");
  assert.equal(of({ rules: { rule: [{ name: "" }] } }), "400 rules[0].name must have 1 to 9 printable characters");
  assert.equal(of({ rules: [{}, {}, {}] }), "400 rules must be a list of at most 2 entries");
});

Deno.test("bodies: no entry of a list that is too long is checked", () => {
  let looks = 0;
  const entry = z.custom(() => ++looks > 0);
  assert.match(errorOf(list(entry, 2), Array(3)), /^400 /);
  assert.equal(looks, 0);
});

Deno.test("bodies: a boolean is one of a few spellings, and never a list or an object", async () => {
  for (const [given, read] of [[true, true], ["t", true], [1, true], [false, false], ["0", false], [-0, false]]) {
    assert.equal(parsed(boolean, given), read);
  }
  await using store = await startStore();
  const path = "/namespaces/letters/protocols/http";
  for (
    const value of ["[true]", '{"toString": 1}', `${"[".repeat(50_000)}${"]".repeat(50_000)}`, '"TRUE"', "2", "1e400"]
  ) {
    const response = await fetch(`${store.mapi("archive")}/mapi/tenants/archive${path}`, {
      method: "POST",
      headers: mapiAuthorization("curator"),
      body: `{"hs3Enabled": ${value}}`,
    });
    const { message } = await response.json();
    assert.deepEqual([response.status, message], [400, "hs3Enabled must be true or false"], value.slice(0, 30));
  }
  assert.equal((await archiveMapi(store, "POST", path, { hs3Enabled: "f" })).status, 200);
  assert.equal((await archiveMapi(store, "GET", path)).json().hs3Enabled, false);
});
