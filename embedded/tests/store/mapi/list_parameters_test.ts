import fc from "fast-check";
import assert from "node:assert/strict";
import { pageByName, selected } from "@/embedded/store/mapi/request_schema.ts";
import { folded } from "@/embedded/store/names.ts";
import { Accounts } from "@/embedded/store/stored_accounts.ts";
import { writtenStore } from "@/embedded/tests/store/changes_fixture.ts";

Deno.test("lists: a page by name matches filtering, sorting and cutting the whole list", () => {
  using store = writtenStore([]);
  const { statements } = store;
  const name = fc.stringMatching(/^[aAbBåÅ_%*-]{1,4}$/);
  fc.assert(
    fc.property(
      fc.uniqueArray(name, { maxLength: 20, selector: folded }),
      fc.record({
        filterString: fc.stringMatching(/^[aAbBåÅ_%*]{0,2}$/),
        sortOrder: fc.constantFrom("ascending", "descending"),
        offset: fc.integer({ min: 0, max: 25 }).map(String),
        count: fc.integer({ min: 0, max: 25 }).map(String),
      }, { requiredKeys: [] }),
      (names, given) => {
        statements.run("DELETE FROM users");
        for (const [i, name] of names.entries()) {
          const row = { tenant: 1, name, folded: folded(name), guid: String(i), password_md5: "", record: "{}" };
          statements.insert("users", row);
        }
        const query = new URLSearchParams(Object.entries(given));
        const page = pageByName(query, "username");
        assert.ok(page);
        const paged = new Accounts(statements).usersPage(1, page).map((user) => user.name);
        const whole = selected(names.map((username) => ({ username })), query, "username");
        assert.deepEqual(paged, whole.map(({ username }) => username));
      },
    ),
  );
});

Deno.test("lists: an offset or a count may be larger than any list", () => {
  const records = ["a", "b", "c"].map((name) => ({ name }));
  const cut = (query: string) => selected(records, new URLSearchParams(query), "name").map(({ name }) => name).join("");
  for (const many of ["9007199254740991", "9".repeat(30)]) {
    assert.equal(cut(`count=${many}&offset=1`), "bc");
    assert.equal(cut(`offset=${many}&count=${many}`), "");
    const page = pageByName(new URLSearchParams(`offset=${many}&count=${many}`), "name");
    assert.deepEqual([page?.offset, page?.count], [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
  }
});
